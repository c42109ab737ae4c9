"""Numbers of a format, such as sizes and counts, changed as numbers.

00 00 01 00 may be the width of an image. A part of the mutants, half of them by default, have some
numbers of 1, 2 or 4 bytes shifted a little, multiplied or divided by a power of two, or set to a
boundary value. Half of the time all equal numbers nearby change in the same way, because a file may
say the same thing twice. Numbers may be anywhere, or at positions that a model suggests
(`certainty.py`). Bytes change but never move, so a mutant still follows from its edits.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from studies.fuzz.mutators.edits import (
    Mutants,
    RandomEdits,
    generator,
    other_byte,
)

SHARE = 0.5  # of the mutants that have numbers changed
MAX_NUMBERS = 3
MAX_SHIFT = 35  # of a number, up or down
BOUNDARY_VALUES = (0, 1, 16, 32, 64, 100, 127)
NEARBY = 256  # bytes to either side, in which equal numbers change too
STREAM = 1 << 62  # of generators, other than those of the edits

Edit = tuple[int, int]  # a position and the value there


class Positions(NamedTuple):
    """Some positions in a seed, and the cumulative sums of their weights."""

    position: NDArray[np.integer]
    cumulative: NDArray[np.floating]

    def draw(self, rng: np.random.Generator) -> int:
        """Draw a position with probability proportional to its weight."""
        i = np.searchsorted(self.cumulative, rng.random() * self.cumulative[-1], side="right")
        return int(self.position[min(i, len(self.position) - 1)])


def anywhere(seed: bytes, keep: int) -> Positions:
    """All positions of a seed, each as likely."""
    position = np.arange(keep, len(seed))
    return Positions(position, 1.0 + np.arange(len(position)))


ChoosePositions = Callable[[bytes, int], Positions]  # of a seed and the number of bytes to keep


@dataclass(frozen=True)
class EditsAndNumbers(RandomEdits):
    """`RandomEdits`, and then changed numbers in a part of the mutants.

    Args:
        positions: where numbers may be.
        share: the part of the mutants that have numbers changed.
    """

    positions: ChoosePositions = anywhere
    share: float = SHARE

    def mutate(self, seeds: Sequence[bytes], start: int, n: int) -> Mutants:
        """Mutants start..start + n - 1."""
        made = RandomEdits(self.choose, self.seed, self.edits, self.keep).mutate(seeds, start, n)
        data, bounds = made.inputs
        written: list[Edit] = []
        owner: list[int] = []
        for i in range(n):
            rng = generator(self.seed, STREAM + start + i)
            if rng.random() < self.share:
                positions = self.positions(seeds[made.origin[i]], self.keep)
                new = change_numbers(data[bounds[i] : bounds[i + 1]], positions, self.keep, rng)
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
            first=np.concatenate([[0], np.cumsum(np.bincount(of, minlength=n))]),
            positions=both[0],
            values=both[1].astype(np.uint8),
        )


Numbers = partial(EditsAndNumbers, other_byte)


def change_numbers(
    x: NDArray[np.uint8], positions: Positions, keep: int, rng: np.random.Generator
) -> list[Edit]:
    """Change some numbers of x, in place. Returns the edits, in their order."""
    written: list[Edit] = []
    for _ in range(1 + rng.integers(MAX_NUMBERS)):
        width = min(int(rng.choice((1, 2, 4))), len(x) - keep)
        i = min(positions.draw(rng), len(x) - width)
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
    match int(rng.integers(3)):
        case 0:
            number += int(rng.integers(-MAX_SHIFT, MAX_SHIFT + 1))
        case 1 if rng.random() < 0.7:
            number <<= int(rng.integers(1, 7))
        case 1:
            number >>= int(rng.integers(1, 4))
        case _:
            number = int(rng.choice((*BOUNDARY_VALUES, top - 1, top // 2, top // 2 - 1)))
    return (number % top).to_bytes(len(old), order)


def _equal(x: NDArray[np.uint8], old: bytes, begin: int, end: int) -> list[int]:
    """The positions in x[begin:end] at which these bytes are."""
    text, at, found = x[begin:end].tobytes(), 0, []
    while (at := text.find(old, at)) >= 0:
        found.append(begin + at)
        at += len(old)
    return found
