"""Learn a model of data in one call."""

import os
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax

from aloex.base.errors import require
from aloex.base.seeds import check_seed
from aloex.learning.build import build_learner, first_state
from aloex.learning.config import Q0, Config, OptimizerName, ProposalName
from aloex.learning.data import sources
from aloex.learning.fit import fit
from aloex.learning.model import Model, settings_of
from aloex.runs import devices

SETTINGS = [field.name for field in fields(Config) if field.name not in ("dim", "cond_dim")]
RUN = [
    "num_steps",
    "seed",
    "folder",
    "resume",
    "progress",
    "checkpoint_every",
    "log_every",
    "on_log",
]
INIT = 2**32 - 1  # folded into the seed for the initial weights, as `fit` folds in its steps

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from pandas import DataFrame

    Batches = Iterator[sources.Batch]
    Data = ArrayLike | DataFrame | Callable[[jax.Array, int], Any] | Batches
else:
    ArrayLike = Data = Any


def learn(
    x: "Data",
    z: "ArrayLike | None" = None,
    *,
    num_steps: int = 5000,
    seed: int = 0,
    folder: str | os.PathLike[str] | None = None,
    resume: bool = False,
    progress: bool = True,
    checkpoint_every: int = 1000,
    log_every: int = 50,
    on_log: Callable[[dict[str, Any]], None] | None = None,
    num_values: int | tuple[int, ...] | None = None,
    f_hidden: tuple[int, ...] = (256, 256),
    q0: Q0 = "factorized",
    q0_hidden: tuple[int, ...] = (256,),
    q0_head: int = 256,
    lookahead: int = 1,
    bfloat16: bool = False,
    q_hidden: tuple[int, ...] = (256, 256),
    max_edits: int | None = None,
    max_stop_prob: float = 0.95,
    proposal: ProposalName = "inverse",
    walk_stop_prob: float = 0.5,
    repeats: bool = True,
    num_trajectories: int = 10,
    num_power_steps: int = 1,
    num_f_steps: int = 1,
    num_data: int = 1,
    num_sweeps: int = 1,
    persistence: int = 1,
    resample: bool = False,
    optimizer_f: OptimizerName = "adam",
    learning_rate_f: float = 1e-3,
    learning_rate_q: float = 1e-3,
    decay_steps: int | None = None,
    ema_decay: float = 0.999,
    batch_size: int = 128,
) -> Model:
    """Learn a model of x, or of x given conditions z; settings not named here are in `Config`.

    Args:
        x: integers [n, d]; a memory-mapped table (np.memmap), which may be larger than memory; a
            pandas DataFrame, whose columns may be of text, numbers or booleans with missing values;
            a function (key, n) -> batch that JAX can compile; or an iterator of NumPy tables.
            Streams may give pairs (x, z).
        z: conditions, numbers [n, c] or [n].
        folder: where to keep the run. It can be resumed, and ends with its model.safetensors.
        resume: go on with the run in `folder`. A run on an iterator goes on with its next batches.
        on_log: called with every row of metrics.
        num_values: values of a site, or one number for each site; left out, the data tell it.
        max_edits: left out, it is 16 or d, whichever is less (d for proposal="edit_distance").

    Returns:
        The model. `fit` and `Config` say what is raised.

    Example:
        >>> import aloex
        >>> small = dict(f_hidden=(8,), q_hidden=(8,), num_trajectories=2, batch_size=8)
        >>> model = aloex.learn([[0, 0, 1], [1, 1, 0]] * 20, num_steps=2, progress=False, **small)
        >>> model.sample(4).shape
        (4, 3)
    """
    given = locals()
    source = sources.read(x, z)
    config = _config(source, {name: given[name] for name in SETTINGS})
    model = _fit(source, config, {name: given[name] for name in RUN})
    if folder is not None and devices.is_main():
        model.save(Path(folder) / "model.safetensors")
    return model


def _config(source: sources.Source, settings: dict[str, Any]) -> Config:
    """The settings, with what the data say of the space."""
    settings["num_values"] = _num_values(source, settings["num_values"])
    if settings["max_edits"] is None:
        settings["max_edits"] = _max_edits(source.dim, settings["proposal"])
    return Config(dim=source.dim, cond_dim=source.cond_dim, **settings)


def _fit(source: sources.Source, config: Config, run: dict[str, Any]) -> Model:
    key = jax.random.fold_in(jax.random.key(check_seed(run["seed"])), INIT)
    state = fit(
        build_learner(config),
        first_state(config, key, source.example_conditions(config)),
        source.for_fit(config),
        source.z,
        batch_size=config.batch_size * config.num_data,
        config=settings_of(config, source.columns),
        **run,
    )
    return Model(config, state.ema_f, state.q, source.columns)


def _num_values(
    source: sources.Source, given: int | tuple[int, ...] | None
) -> int | tuple[int, ...]:
    """As given, or as the data show."""
    if given is not None:
        return given
    require(
        source.num_values is not None,
        "a stream does not tell how many values a site has: give num_values (2 for bits)",
    )
    assert source.num_values is not None
    return source.num_values


def _max_edits(dim: int, proposal: ProposalName) -> int:
    return dim if proposal == "edit_distance" else min(16, dim)
