"""A model of bytes: the 256 probabilities of one from its place and what is believed around it.

It never sees the byte that it predicts. It is learned with a random share of the context hidden, so
it answers for the full context, for the place alone, and for all that lies between.
"""

import os
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
from jaxtyping import Array, Float, Int, Key

from aloex.apps.fuzz.model.block_energy import ByteEnergy
from aloex.apps.fuzz.model.byte_law import VERSION, ByteLaw, Settings
from aloex.apps.fuzz.model.byte_lstm import ByteLSTM
from aloex.apps.fuzz.model.contexts import HOLE, PLACE, WINDOW, place
from aloex.apps.fuzz.model.window_energy import ByteWindow
from aloex.base.errors import CheckpointError, require
from aloex.nets import Dense, Features
from aloex.runs import model_file
from aloex.spaces import Categorical


class ByteModel(ByteLaw):
    """log p(byte | context, place), by a network with one hidden layer."""

    features: Features
    net: Dense
    settings: Settings = eqx.field(static=True)

    def __init__(self, settings: Settings | None = None, *, key: Key[Array, ""]):
        self.settings = settings = settings or Settings()
        key_features, key_net = jax.random.split(key)
        symbols = Categorical(WINDOW, HOLE + 1)
        embed_dim = settings.embed_dim
        self.features = Features(symbols, cond_dim=PLACE, embed_dim=embed_dim, key=key_features)
        self.net = Dense((self.features.size, settings.hidden, 256), key=key_net)

    def __call__(
        self, x: Int[Array, " window"], offset: Int[Array, ""], after: Int[Array, ""]
    ) -> Float[Array, " values"]:
        return jax.nn.log_softmax(self.net(self.features(x, place(offset, after), self.net.dtype)))


KINDS: dict[str, Callable[..., ByteLaw]] = {  # by the method that they are learned by
    **{"masked": ByteModel, "aloe": ByteEnergy, "cd": ByteEnergy, "ade": ByteEnergy},
    "aloe-window": ByteWindow,
    **{"learn-and-fuzz": ByteLSTM, "rnn-ebm": ByteLSTM},
}


def build(settings: Settings, *, key: Key[Array, ""]) -> ByteLaw:
    """A model with fresh weights."""
    known = ", ".join(KINDS)
    require(settings.method in KINDS, f"method must be one of {known}, got {settings.method!r}")
    return KINDS[settings.method](settings, key=key)


def load(path: str | os.PathLike) -> ByteLaw:
    """The model that `ByteLaw.save` wrote."""

    def like(recorded: dict[str, Any]) -> ByteLaw:
        require("bytes" in recorded, "it is no model of bytes; make one: aloex fuzz learn CORPUS")
        for name, ours in (("window", WINDOW), ("version", VERSION)):
            found = recorded["bytes"].get(name)
            if found != ours:
                raise CheckpointError(
                    f"{path} was learned with {name}={found}, but this version of Aloex has "
                    f"{name}={ours}; learn it again: aloex fuzz learn CORPUS --out {path}"
                )
        return build(Settings(**recorded["bytes"]), key=jax.random.key(0))

    return model_file.read(path, like)[0]
