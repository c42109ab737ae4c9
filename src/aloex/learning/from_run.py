"""A model from the checkpoint of a run that has not ended."""

import dataclasses
import os
from typing import Any

import equinox as eqx
import jax

from aloex.base.errors import CheckpointError
from aloex.learning import Columns, Config, Model, build_networks
from aloex.runs.run_folder import RunFolder


def load_checkpoint(folder: str | os.PathLike[str]) -> tuple[Model, int]:
    """The model in the newest checkpoint of a run that `learn` began, and its step.

    Args:
        folder: that `learn` was given.

    Returns:
        The model as it would be if training ended at that step, and the step.

    Raises:
        CheckpointError: there is no such run, or it has no checkpoint yet.
    """
    run = RunFolder(folder)
    config = _config(run)
    step = run.checkpoints.latest()
    if step is None:
        raise CheckpointError(
            f"the run in {run.path} has neither a model nor a checkpoint yet; go on with it: "
            "aloex learn ... --resume"
        )
    f, q = eqx.filter_eval_shape(build_networks, config, jax.random.key(0))
    found = run.checkpoints.restore({"ema_f": f, "q": q}, step, whole=False)
    columns = run.config().get("columns")
    named = None if columns is None else Columns.from_dict(columns)
    return Model(config, found["ema_f"], found["q"], named), step


def _config(run: RunFolder) -> Config:
    """The settings of the model, as `learn` had them."""
    recorded: dict[str, Any] = run.config()
    names = [field.name for field in dataclasses.fields(Config)]
    try:
        settings = {name: recorded[name] for name in names}
        settings["batch_size"] //= settings["num_data"]  # the run's is that of the data
        return Config.from_dict(settings)
    except (KeyError, TypeError, ValueError) as error:
        raise CheckpointError(
            f"{run.path / 'config.json'} is not that of a run of `aloex learn` ({error})"
        ) from None
