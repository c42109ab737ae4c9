"""Models of bytes by the method that they are learned by: fresh ones, and those in files."""

import os
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jaxtyping import Array, Key

from aloex.apps.fuzz.model.block_energy import ByteEnergy
from aloex.apps.fuzz.model.byte_lstm import ByteLSTM
from aloex.apps.fuzz.model.byte_model import VERSION, ByteModel, ModelSettings
from aloex.apps.fuzz.model.byte_predictor import BytePredictor
from aloex.apps.fuzz.model.contexts import WINDOW
from aloex.apps.fuzz.model.window_energy import ByteWindow
from aloex.base.errors import CheckpointError, require
from aloex.runs import model_file

KINDS: dict[str, Callable[..., ByteModel]] = {  # by method
    "masked": BytePredictor,
    "aloe": ByteEnergy,
    "cd": ByteEnergy,
    "ade": ByteEnergy,
    "aloe-window": ByteWindow,
    "learn-and-fuzz": ByteLSTM,
    "rnn-ebm": ByteLSTM,
}


def build_model(settings: ModelSettings, *, key: Key[Array, ""]) -> ByteModel:
    """A model with fresh weights."""
    known = ", ".join(KINDS)
    require(settings.method in KINDS, f"method must be one of {known}, got {settings.method!r}")
    return KINDS[settings.method](settings, key=key)


def load_model(path: str | os.PathLike[str]) -> ByteModel:
    """Read the file that `ByteModel.save` wrote."""

    def like(recorded: dict[str, Any]) -> ByteModel:
        require("bytes" in recorded, "it is no model of bytes; make one: aloex fuzz learn CORPUS")
        for name, ours in (("window", WINDOW), ("version", VERSION)):
            found = recorded["bytes"].get(name)
            if found != ours:
                raise CheckpointError(
                    f"{path} was learned with {name}={found}, but this version of Aloex has "
                    f"{name}={ours}; learn it again: aloex fuzz learn CORPUS --out {path}"
                )
        return build_model(ModelSettings(**recorded["bytes"]), key=jax.random.key(0))

    model = model_file.read(path, like)[0]
    if not all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(model)):
        raise CheckpointError(
            f"{path} has weights that are not finite (NaN or inf), so it predicts nothing; learn "
            f"it again: aloex fuzz learn CORPUS --out {path}"
        )
    return model
