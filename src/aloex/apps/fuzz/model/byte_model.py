"""A model of bytes, p(byte | position, visible neighbours): the interface of all kinds."""

import dataclasses
import os
from abc import abstractmethod
from dataclasses import dataclass

import equinox as eqx
from jaxtyping import Array, Float, Int, Key

from aloex.apps.fuzz.model.contexts import WINDOW, mask
from aloex.runs import model_file

VERSION = 1  # of what a context is, and of the network


@dataclass(frozen=True)
class ModelSettings:
    """What a model file records: how to rebuild the network, and how well it was learned."""

    hidden: int = 384
    embed_dim: int = 16
    method: str = "masked"  # it was learned by
    window: int = WINDOW
    version: int = VERSION
    held_out: float | None = None  # log p of a byte held out, at the best visible fraction
    seconds: float | None = None  # of training


class ByteModel(eqx.Module):
    """log p(byte | position, visible neighbours). It never sees the byte that it predicts."""

    settings: eqx.AbstractVar[ModelSettings]

    @abstractmethod
    def __call__(
        self, x: Int[Array, " window"], offset: Int[Array, ""], after: Int[Array, ""]
    ) -> Float[Array, " values"]:
        """log p of the values 0..255 of a byte.

        Args:
            x: its context, which may be masked in part.
            offset: the number of bytes before it in its file.
            after: the number of bytes after it.
        """

    def log_prob(
        self,
        key: Key[Array, ""],
        example: Int[Array, " example"],
        visible_fraction: Float[Array, ""],
    ) -> Float[Array, ""]:
        """log p of an example's byte, with a random part of its context masked."""
        x, (byte, offset, after) = example[:WINDOW], example[WINDOW:]
        return self(mask(key, x, visible_fraction), offset, after)[byte]

    def save(self, path: str | os.PathLike[str], **learned: float) -> None:
        """Write a safetensors file, with the settings as JSON in its metadata.

        Args:
            learned: `held_out` and `seconds` of the settings, which are known after training.
        """
        settings = dataclasses.replace(self.settings, **learned)
        model_file.write(path, self, {"bytes": dataclasses.asdict(settings)})
