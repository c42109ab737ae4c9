"""A model of bytes: the 256 probabilities of one from its place and what is believed around it.

It never sees the byte that it predicts. It is learned with a random share of the context hidden, so
it answers for the full context, for the place alone, and for all that lies between.
"""

import dataclasses
import os
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
from jaxtyping import Array, Float, Int, Key

from aloex.apps.fuzz.contexts import HOLE, PLACE, WINDOW, hide, place
from aloex.errors import CheckpointError, require
from aloex.learning import model_file
from aloex.nets import Dense, Features
from aloex.spaces import Categorical

VERSION = 1  # of what a context is, and of the network


@dataclass(frozen=True)
class Settings:
    """What a model file must know to rebuild its network."""

    hidden: int = 384
    embed_dim: int = 16
    window: int = WINDOW
    version: int = VERSION


class ByteModel(eqx.Module):
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
        """log p of the values 0..255 of the byte with `after` bytes after it."""
        return jax.nn.log_softmax(self.net(self.features(x, place(offset, after), self.net.dtype)))

    def log_prob(
        self, key: Key[Array, ""], example: Int[Array, " example"], level: Float[Array, ""]
    ) -> Float[Array, ""]:
        """log p of an example's byte, its context believed at a level."""
        x, (byte, offset, after) = example[:WINDOW], example[WINDOW:]
        return self(hide(key, x, level), offset, after)[byte]

    def save(self, path: str | os.PathLike) -> None:
        """Write a safetensors file, with the settings as JSON in its metadata."""
        model_file.write(path, self, {"bytes": dataclasses.asdict(self.settings)})


def load(path: str | os.PathLike) -> ByteModel:
    """The model that `ByteModel.save` wrote."""

    def build(recorded: dict[str, Any]) -> ByteModel:
        require("bytes" in recorded, "it is no model of bytes; make one: aloex fuzz learn CORPUS")
        for name, ours in (("window", WINDOW), ("version", VERSION)):
            found = recorded["bytes"].get(name)
            if found != ours:
                raise CheckpointError(
                    f"{path} was learned with {name}={found}, but this version of Aloex has "
                    f"{name}={ours}; learn it again: aloex fuzz learn CORPUS --out {path}"
                )
        return ByteModel(Settings(**recorded["bytes"]), key=jax.random.key(0))

    return model_file.read(path, build)[0]
