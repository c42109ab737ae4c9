"""The law of a byte: what mutation asks of a model, of whatever kind it is."""

import dataclasses
import os
from abc import abstractmethod
from dataclasses import dataclass

import equinox as eqx
from jaxtyping import Array, Float, Int, Key

from aloex.apps.fuzz.model.contexts import WINDOW, hide
from aloex.runs import model_file

VERSION = 1  # of what a context is, and of the network


@dataclass(frozen=True)
class Settings:
    """What a model file must know: how to rebuild its network, and how well it was learned."""

    hidden: int = 384
    embed_dim: int = 16
    method: str = "masked"  # that it was learned by
    window: int = WINDOW
    version: int = VERSION
    held_out: float | None = None  # log p of a byte not learned from, at the level that is best
    seconds: float | None = None  # that it took to learn


class ByteLaw(eqx.Module):
    """What mutation asks of a model: log p of a byte, given its place and what is believed."""

    settings: eqx.AbstractVar[Settings]

    @abstractmethod
    def __call__(
        self, x: Int[Array, " window"], offset: Int[Array, ""], after: Int[Array, ""]
    ) -> Float[Array, " values"]:
        """log p of the values 0..255 of the byte with `after` bytes after it; x may have holes."""

    def log_prob(
        self, key: Key[Array, ""], example: Int[Array, " example"], level: Float[Array, ""]
    ) -> Float[Array, ""]:
        """log p of an example's byte, its context believed at a level."""
        x, (byte, offset, after) = example[:WINDOW], example[WINDOW:]
        return self(hide(key, x, level), offset, after)[byte]

    def save(self, path: str | os.PathLike, **learned: float) -> None:
        """Write a safetensors file, with the settings as JSON in its metadata.

        Args:
            learned: `held_out` and `seconds` of the settings, known when all is learned.
        """
        settings = dataclasses.replace(self.settings, **learned)
        model_file.write(path, self, {"bytes": dataclasses.asdict(settings)})
