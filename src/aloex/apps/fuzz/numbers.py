"""Numbers of a format, such as sizes and counts: changed as numbers, where the model expects them.

To a model of bytes 00 00 01 00 are four bytes, to a decoder the width of an image. A mutant has
some numbers of 1, 2 or 4 bytes shifted a little, multiplied or divided by a power of two, or set to
a value at which programs change their mind. Half of the time all equal numbers nearby change alike:
what a file says twice stays true. Places are drawn where the model is sure of the byte,

    p(place) ~ (1 - entropy of the byte there / log 256)^4,

for there is structure, not content. This changes bytes but never moves them, so a mutant is still
told by its edits.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, UInt8

from aloex.apps.fuzz.byte_law import ByteLaw
from aloex.apps.fuzz.contexts import context, hide
from aloex.apps.fuzz.mutators import Mutants, RandomEdits, generator, repaired
from aloex.apps.fuzz.operators import BORDERS, MAX_SHIFT

SHARE = 0.5  # of the mutants have numbers changed
MAX_NUMBERS = 3
NEARBY = 256  # bytes to either side
LEVEL, POWER = 0.5, 4
MAX_PLACES, BATCH = 4096, 1024  # of a seed that are looked at, and at once
STREAM = 1 << 62  # in which random numbers do not meet those of the edits


class Places(NamedTuple):
    """Some places of a seed, and sums of their weights."""

    position: Int[np.ndarray, " places"]
    up_to: Float[np.ndarray, " places"]

    def draw(self, rng: np.random.Generator) -> int:
        """One of them."""
        i = np.searchsorted(self.up_to, rng.random() * self.up_to[-1], side="right")
        return int(self.position[min(i, len(self.position) - 1)])


class Sure:
    """Places of seeds where a model is sure; computed when first asked for, and kept."""

    def __init__(self, model: ByteLaw):
        self.model = model
        self._places: dict[tuple[bytes, int], Places] = {}

    def __call__(self, seed: bytes, keep: int) -> Places:
        if (seed, keep) not in self._places:
            self._places[seed, keep] = self._look(seed, keep)
        return self._places[seed, keep]

    def _look(self, seed: bytes, keep: int) -> Places:
        room = len(seed) - keep
        some = generator(0, room).choice(room, min(room, MAX_PLACES), replace=False)
        position, data = keep + np.sort(some), np.frombuffer(seed, np.uint8)
        weights = []
        for i in range(0, len(position), BATCH):
            at = position[np.minimum(np.arange(i, i + BATCH), len(position) - 1)].astype(np.int32)
            x = context(data, 0 * at, 0 * at + len(seed), at).astype(np.int32)
            after = (len(seed) - 1 - at).astype(np.int32)
            weights.append(np.asarray(_certainty(self.model, x, at, after))[: len(position) - i])
        return Places(position, np.cumsum(np.concatenate(weights) + 1e-9))


@eqx.filter_jit
def _certainty(model: ByteLaw, x, offset, after) -> Float[Array, " n"]:
    """The weight of each place, with half of what is around it believed."""

    def one(x, offset, after):
        key = jax.random.fold_in(jax.random.key(0), offset)
        log_p = model(hide(key, x, jnp.asarray(LEVEL)), offset, after)
        entropy = -jnp.sum(jnp.exp(log_p) * log_p)
        return jnp.clip(1 - entropy / jnp.log(256.0), 0, 1) ** POWER

    return jax.vmap(one)(x, offset, after)


@dataclass(frozen=True)
class EditsAndNumbers(RandomEdits):
    """`RandomEdits`, after which half of the mutants have numbers changed where `sure` says."""

    sure: Sure | None = None

    def mutate(self, seeds: Sequence[bytes], start: int, n: int) -> Mutants:
        """Mutants start..start + n - 1."""
        made = RandomEdits(self.choose, self.seed, self.edits, self.keep).mutate(seeds, start, n)
        data, bounds = made.inputs
        written: list[Written] = []
        owner: list[int] = []
        for i in range(n):
            rng = generator(self.seed, STREAM + start + i)
            if self.sure is not None and rng.random() < SHARE:
                places = self.sure(seeds[made.origin[i]], self.keep)
                new = change_numbers(data[bounds[i] : bounds[i + 1]], places, self.keep, rng)
                written += new
                owner += [i] * len(new)
        by_numbers = np.array(written, np.int64).reshape(-1, 2).T
        by_edits = made.positions, made.values
        of = np.concatenate([np.repeat(np.arange(n), np.diff(made.first)), owner]).astype(np.int64)
        order = np.argsort(of, kind="stable")
        both = [
            np.concatenate(columns)[order] for columns in zip(by_edits, by_numbers, strict=True)
        ]
        return made._replace(
            inputs=repaired(made.inputs, self.repair),
            first=np.concatenate([[0], np.cumsum(np.bincount(of, minlength=n))]),
            positions=both[0],
            values=both[1].astype(np.uint8),
        )


Written = tuple[int, int]  # a position and the value there


def change_numbers(
    x: UInt8[np.ndarray, " bytes"], places: Places, keep: int, rng: np.random.Generator
) -> list[Written]:
    """Change some numbers of x, in place; what was written, in this order."""
    written: list[Written] = []
    for _ in range(1 + rng.integers(MAX_NUMBERS)):
        width = min(int(rng.choice((1, 2, 4))), len(x) - keep)
        i = min(places.draw(rng), len(x) - width)
        old = x[i : i + width].tobytes()
        new = new_number(old, rng)
        alike = any(old) and rng.random() < 0.5
        for j in _equal(x, old, max(keep, i - NEARBY), i + NEARBY) if alike else [i]:
            x[j : j + width] = np.frombuffer(new, np.uint8)
            written += zip(range(j, j + width), new, strict=True)
    return written


def new_number(old: bytes, rng: np.random.Generator) -> bytes:
    """Another number of the same width."""
    order = "big" if rng.random() < 0.7 else "little"
    number, top = int.from_bytes(old, order), 1 << 8 * len(old)
    match rng.integers(3):
        case 0:
            number += int(rng.integers(-MAX_SHIFT, MAX_SHIFT + 1))
        case 1 if rng.random() < 0.7:
            number <<= int(rng.integers(1, 7))
        case 1:
            number >>= int(rng.integers(1, 4))
        case _:
            number = int(rng.choice((*BORDERS, top - 1, top // 2, top // 2 - 1)))
    return (number % top).to_bytes(len(old), order)


def _equal(x: UInt8[np.ndarray, " bytes"], old: bytes, begin: int, end: int) -> list[int]:
    """Where x has these bytes."""
    text, at, found = x[begin:end].tobytes(), 0, []
    while (at := text.find(old, at)) >= 0:
        found.append(begin + at)
        at += len(old)
    return found
