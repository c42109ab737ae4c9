"""Numbers of a format, such as sizes and counts, changed as numbers.

To a law of bytes 00 00 01 00 are four bytes, to a decoder the width of an image. Half of the
mutants, or another share, have some numbers of 1, 2 or 4 bytes shifted a little, multiplied or
divided by a power of two, or set to a value at which programs change their mind. Half of the time
all equal numbers nearby change alike: what a file says twice stays true. Where numbers are is for a
model to say (`sure.py`), or they may be anywhere. Bytes change but never move, so a mutant is still
told by its edits.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int, UInt8

from aloex.apps.fuzz.mutate.mutators import (
    Mutants,
    Posmarg,
    RandomEdits,
    Uniform,
    generator,
    other_byte,
    repaired,
)

SHARE = 0.5  # of the mutants have numbers changed
MAX_NUMBERS = 3
MAX_SHIFT = 35  # up or down
BORDERS = (0, 1, 16, 32, 64, 100, 127)  # numbers at which programs change their mind
NEARBY = 256  # bytes to either side
STREAM = 1 << 62  # in which random numbers do not meet those of the edits


Written = tuple[int, int]  # a position and the value there


class Places(NamedTuple):
    """Some places of a seed, and sums of their weights."""

    position: Int[np.ndarray, " places"]
    up_to: Float[np.ndarray, " places"]

    def draw(self, rng: np.random.Generator) -> int:
        """One of them."""
        i = np.searchsorted(self.up_to, rng.random() * self.up_to[-1], side="right")
        return int(self.position[min(i, len(self.position) - 1)])


def anywhere(seed: bytes, keep: int) -> Places:
    """All places of a seed, each as likely."""
    position = np.arange(keep, len(seed))
    return Places(position, 1.0 + np.arange(len(position)))


Where = Callable[[bytes, int], Places]  # of a seed, after some bytes to keep


@dataclass(frozen=True)
class EditsAndNumbers(RandomEdits):
    """`RandomEdits`, after which a share of the mutants have numbers changed at such places."""

    places: Where = anywhere
    share: float = SHARE

    def mutate(self, seeds: Sequence[bytes], start: int, n: int) -> Mutants:
        """Mutants start..start + n - 1."""
        made = RandomEdits(self.choose, self.seed, self.edits, self.keep).mutate(seeds, start, n)
        data, bounds = made.inputs
        written: list[Written] = []
        owner: list[int] = []
        for i in range(n):
            rng = generator(self.seed, STREAM + start + i)
            if rng.random() < self.share:
                places = self.places(seeds[made.origin[i]], self.keep)
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


Numbers = partial(EditsAndNumbers, other_byte)
MUTATORS = {"uniform": Uniform, "other-seed": Posmarg, "numbers": Numbers}  # all without a model


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
