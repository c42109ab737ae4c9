"""Mutants by edits at random positions; no model. A model has to beat them.

Mutant i of a run is a function of the run's seed, of i, and of the seeds that it may start from. It
does not depend on the batch in which it is asked for:

    origin    uniform among the seeds that have a byte to change
    edits     one of the numbers given, each as likely; below 1 it is a fraction of the seed's bytes
    position  uniform after the first `keep` bytes, drawn for each edit
    value     drawn by `choose`: `other_byte`, `any_byte` or `byte_of_other_seed`

A position may be drawn twice. Both edits are told the byte of the seed, and the later one counts.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from aloex.apps.fuzz.inputs import Inputs
from aloex.base.errors import require

BLOCK = 1024  # mutants whose random numbers are drawn together
EDITS = (1, 3, 10, 30, 100)  # no single number is best for all targets


class Mutants(NamedTuple):
    """n inputs, and how each was made.

    Mutant i is seeds[origin[i]] with positions[first[i] : first[i + 1]] set to the values there, in
    this order.
    """

    inputs: Inputs
    origin: NDArray[np.integer]  # [n]
    first: NDArray[np.integer]  # [n + 1]
    positions: NDArray[np.integer]  # [edits]
    values: NDArray[np.uint8]  # [edits]

    def input(self, i: int) -> bytes:
        """Mutant i."""
        return self.inputs.data[self.inputs.bounds[i] : self.inputs.bounds[i + 1]].tobytes()

    def edits(self, i: int) -> list[tuple[int, int]]:
        """The position and the value of each edit of mutant i."""
        part = slice(self.first[i], self.first[i + 1])
        return list(zip(self.positions[part].tolist(), self.values[part].tolist(), strict=True))


@runtime_checkable
class Mutator(Protocol):
    """Makes mutants."""

    def mutate(self, seeds: Sequence[bytes], start: int, n: int) -> Mutants:
        """Mutants start..start + n - 1."""
        ...


class Edits(NamedTuple):
    """Edits without their values, a row each: a seed and a position in it."""

    seeds: Sequence[bytes]
    origin: NDArray[np.integer]  # the seed
    position: NDArray[np.integer]
    current: NDArray[np.uint8]  # the byte of the seed there
    chance: NDArray[np.floating]  # uniform in [0, 1), to draw the value with

    def only(self, rows: NDArray[np.bool_]) -> "Edits":
        """The edits of some rows."""
        return Edits(
            self.seeds,
            self.origin[rows],
            self.position[rows],
            self.current[rows],
            self.chance[rows],
        )


def any_byte(edits: Edits) -> NDArray[np.uint8]:
    """A value, uniform among all 256."""
    return (256 * edits.chance).astype(np.uint8)


def other_byte(edits: Edits) -> NDArray[np.uint8]:
    """A value, uniform among the 255 that the seed does not have there."""
    return edits.current + np.uint8(1) + (255 * edits.chance).astype(np.uint8)


def byte_of_other_seed(edits: Edits) -> NDArray[np.uint8]:
    """The byte of another seed at this position; `other_byte` if no other seed is long enough."""
    sizes = np.array([len(x) for x in edits.seeds])
    start = np.cumsum(sizes) - sizes
    longest_first = np.argsort(-sizes, kind="stable")
    rank = np.argsort(longest_first)
    # Seeds that are long enough come first in this order; the origin is skipped.
    num_long = np.searchsorted(-sizes[longest_first], -edits.position, side="left")
    others = num_long - 1
    drawn = (others * edits.chance).astype(np.int64)
    drawn += drawn >= rank[edits.origin]
    drawn = longest_first[np.where(others > 0, drawn, rank[edits.origin])]
    data = np.frombuffer(b"".join(edits.seeds), np.uint8)
    return np.where(others > 0, data[start[drawn] + edits.position], other_byte(edits))


@dataclass(frozen=True)
class RandomEdits:
    """Edits at random positions, with values drawn by `choose`; see the top of this file."""

    choose: Callable[[Edits], NDArray[np.uint8]] = other_byte
    seed: int = 0
    edits: tuple[int | float, ...] = EDITS
    keep: int = 0

    def __post_init__(self):
        check_options(self.seed, self.edits, self.keep)

    def mutate(self, seeds: Sequence[bytes], start: int, n: int) -> Mutants:
        """Mutants start..start + n - 1."""
        room = np.array([len(x) - self.keep for x in seeds])
        chances = self.chances(seeds, start, n)
        origin = chances.origin
        data = np.frombuffer(bytearray().join([seeds[i] for i in origin]), np.uint8)
        bounds = np.concatenate([[0], np.cumsum((room + self.keep)[origin])])

        origins = np.repeat(origin, chances.num_edits)
        positions = self.keep + (room[origins] * chances.position).astype(np.int64)
        at = np.repeat(bounds[:-1], chances.num_edits) + positions
        values = self.choose(Edits(seeds, origins, positions, data[at], chances.value))
        data[at] = values  # where a position occurs twice, numpy leaves the last value
        first = np.concatenate([[0], np.cumsum(chances.num_edits)])
        return Mutants(Inputs(data, bounds), origin, first, positions, values)

    def chances(self, seeds: Sequence[bytes], start: int, n: int) -> "Chances":
        """The random numbers of mutants start..start + n - 1."""
        room = np.array([len(x) - self.keep for x in seeds])
        usable = np.flatnonzero(room > 0)
        why = f"longer than the {self.keep} bytes to keep" if self.keep else "with a byte to change"
        require(len(usable) > 0, f"mutants need a seed {why}; none of the {len(seeds)} seeds is")
        blocks = range(start // BLOCK, -(-(start + n) // BLOCK))
        draw = partial(draw_block, self.seed, self.edits, usable, room)
        parts = [draw(block, start, start + n) for block in blocks] or [draw(0, 0, 0)]
        return Chances(*map(np.concatenate, zip(*parts, strict=True)))


Uniform = partial(RandomEdits, other_byte)
ByteOfOtherSeed = partial(RandomEdits, byte_of_other_seed)


class Chances(NamedTuple):
    """Random choices of n mutants: origin, number of edits; and numbers in [0, 1) for the edits."""

    origin: NDArray[np.integer]  # [n]
    num_edits: NDArray[np.integer]  # [n]
    position: NDArray[np.floating]  # [edits]
    value: NDArray[np.floating]  # [edits]


def draw_block(
    seed: int,
    edits: Sequence[int | float],
    usable: NDArray[np.integer],
    room: NDArray[np.integer],
    block: int,
    start: int,
    stop: int,
) -> Chances:
    """The choices of one block, of mutants start..stop - 1 only."""
    rng = generator(seed, block)
    origin = usable[(len(usable) * rng.random(BLOCK)).astype(np.int64)]
    asked = np.array(edits)[(len(edits) * rng.random(BLOCK)).astype(np.int64)]
    num_edits = count_edits(asked, room[origin])
    first = np.concatenate([[0], np.cumsum(num_edits)])
    position, value = rng.random((2, first[-1]))
    of = np.clip([start - block * BLOCK, stop - block * BLOCK], 0, BLOCK)
    mutants, rows = slice(*of), slice(*first[of])
    return Chances(origin[mutants], num_edits[mutants], position[rows], value[rows])


def count_edits(
    asked: NDArray[np.floating] | NDArray[np.integer], room: NDArray[np.integer]
) -> NDArray[np.integer]:
    """The numbers asked for; one below 1 is a fraction of the room, and means at least one edit."""
    share = np.maximum(1, np.round(asked * room))
    return np.where(asked < 1, share, asked).astype(np.int64)


def generator(seed: int, number: int) -> np.random.Generator:
    """A generator of its own for each number, which is the high word of Philox's counter."""
    return np.random.Generator(np.random.Philox(key=seed, counter=[0, 0, 0, number]))


def check_options(seed: int, edits: Sequence[int | float], keep: int) -> None:
    """Check the options that all mutators have."""
    require(seed >= 0, f"the seed must not be negative, got {seed}")
    good = len(edits) > 0 and all(0 < k < 1 or (k >= 1 and float(k).is_integer()) for k in edits)
    require(good, f"edits must be whole numbers from 1, or fractions below 1, got {edits}")
    require(keep >= 0, f"the number of bytes to keep must be at least 0, got {keep}")
