"""Mutators: from seeds to new inputs. Here are those without a model, which any model has to beat.

Mutant i of a run is a function of the run's seed, of i and of the seeds it may start from. It does
not matter in which batches the mutants are asked for:

    origin    uniform among the seeds that have a byte to change
    edits     one of the numbers given, each as likely; below 1 a share of the seed's bytes
    position  uniform after the first `keep` bytes, drawn anew for each edit
    value     by the mutator: `other_byte`, `any_byte`, `byte_of_another` seed

A position may be drawn twice. The later edit then counts; both look at the byte of the seed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Bool, Float, Int, UInt8

from aloex.apps.fuzz.execute.executor import Inputs, Outcomes
from aloex.base.errors import require

BLOCK = 1024  # mutants whose random numbers are drawn together
EDITS = (1, 3, 10, 30, 100)  # no single number is best for all targets

Repair = Callable[[bytes], bytes]


class Mutants(NamedTuple):
    """n inputs and where they come from.

    Mutant i is seeds[origin[i]] with positions[first[i] : first[i + 1]] set to the values there, in
    this order, and repaired if the mutator does that. One that adapts (`adaptive.py`) has the arms
    that it chose, the last of which changes the input as a whole after the edits.
    """

    inputs: Inputs
    origin: Int[np.ndarray, " n"]
    first: Int[np.ndarray, " n_plus_1"]
    positions: Int[np.ndarray, " edits"]
    values: UInt8[np.ndarray, " edits"]
    arms: Int[np.ndarray, "n choices"] | None = None

    def input(self, i: int) -> bytes:
        """Mutant i."""
        return self.inputs.data[self.inputs.bounds[i] : self.inputs.bounds[i + 1]].tobytes()

    def edits(self, i: int) -> list[tuple[int, int]]:
        """Position and value of each edit of mutant i."""
        part = slice(self.first[i], self.first[i + 1])
        return list(zip(self.positions[part].tolist(), self.values[part].tolist(), strict=True))

    def about(self, i: int) -> dict[str, list]:
        """How mutant i was made, in plain JSON values."""
        arms = {} if self.arms is None else {"arms": self.arms[i].tolist()}
        return {"edits": self.edits(i), **arms}


@runtime_checkable
class Mutator(Protocol):
    """What a campaign asks for mutants."""

    def mutate(self, seeds: Sequence[bytes], start: int, n: int) -> Mutants:
        """Mutants start..start + n - 1."""
        ...


@runtime_checkable
class Learner(Mutator, Protocol):
    """A mutator that learns from what its mutants cover; what it knows is the sum of notes."""

    def forget(self) -> None:
        """Begin anew."""
        ...

    def observe(
        self, outcomes: Outcomes, added: Sequence[int], mutants: Mutants | None
    ) -> dict[str, Any]:
        """A note on a batch, in plain JSON values.

        Args:
            outcomes: of the batch, with all features.
            added: its inputs that mutants may start from, from now on.
            mutants: the batch; None: the seeds.
        """
        ...

    def learn(self, note: dict[str, Any]) -> None:
        """Take in a note."""
        ...


class Edits(NamedTuple):
    """Places to edit, a row each, and a number in [0, 1) to choose the value by."""

    seeds: Sequence[bytes]
    origin: Int[np.ndarray, " edits"]
    position: Int[np.ndarray, " edits"]
    current: UInt8[np.ndarray, " edits"]
    chance: Float[np.ndarray, " edits"]

    def only(self, rows: Bool[np.ndarray, " edits"]) -> "Edits":
        """Some of them."""
        return Edits(self.seeds, *(column[rows] for column in self[1:]))


def any_byte(edits: Edits) -> UInt8[np.ndarray, " edits"]:
    """Uniform among all 256 values."""
    return (256 * edits.chance).astype(np.uint8)


def other_byte(edits: Edits) -> UInt8[np.ndarray, " edits"]:
    """Uniform among the 255 values that the seed does not have there."""
    return edits.current + np.uint8(1) + (255 * edits.chance).astype(np.uint8)


def byte_of_another(edits: Edits) -> UInt8[np.ndarray, " edits"]:
    """The byte there of another seed, uniform among those long enough; `other_byte` if none is."""
    sizes = np.array([len(x) for x in edits.seeds])
    start = np.cumsum(sizes) - sizes
    longest_first = np.argsort(-sizes, kind="stable")
    rank = np.argsort(longest_first)
    # Seeds that reach the position come first in this order; leave out the origin.
    num_long = np.searchsorted(-sizes[longest_first], -edits.position, side="left")
    others = num_long - 1
    drawn = (others * edits.chance).astype(np.int64)
    drawn += drawn >= rank[edits.origin]
    drawn = longest_first[np.where(others > 0, drawn, rank[edits.origin])]
    data = np.frombuffer(b"".join(edits.seeds), np.uint8)
    return np.where(others > 0, data[start[drawn] + edits.position], other_byte(edits))


@dataclass(frozen=True)
class RandomEdits:
    """Bytes at random places, with values chosen by `choose`; see the top of this file."""

    choose: Callable[[Edits], UInt8[np.ndarray, " edits"]] = other_byte
    seed: int = 0
    edits: tuple[int | float, ...] = EDITS
    keep: int = 0
    repair: Repair | None = None

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
        places = np.repeat(bounds[:-1], chances.num_edits) + positions
        values = self.choose(Edits(seeds, origins, positions, data[places], chances.value))
        data[places] = values  # where a place occurs twice, numpy leaves the last value
        inputs = repaired(Inputs(data, bounds), self.repair)
        first = np.concatenate([[0], np.cumsum(chances.num_edits)])
        return Mutants(inputs, origin, first, positions, values)

    def chances(self, seeds: Sequence[bytes], start: int, n: int) -> "Chances":
        """What is drawn for mutants start..start + n - 1 before any value is chosen."""
        room = np.array([len(x) - self.keep for x in seeds])
        usable = np.flatnonzero(room > 0)
        why = f"longer than the {self.keep} bytes to keep" if self.keep else "with a byte to change"
        require(len(usable) > 0, f"mutants need a seed {why}; none of the {len(seeds)} seeds is")
        blocks = range(start // BLOCK, -(-(start + n) // BLOCK))
        draw = partial(draw_block, self.seed, self.edits, usable, room)
        parts = [draw(block, start, start + n) for block in blocks] or [draw(0, 0, 0)]
        return Chances(*map(np.concatenate, zip(*parts, strict=True)))


Uniform = partial(RandomEdits, other_byte)
Posmarg = partial(RandomEdits, byte_of_another)


class Chances(NamedTuple):
    """Whose mutants n are and how many edits they have; of the edits, numbers in [0, 1)."""

    origin: Int[np.ndarray, " n"]
    num_edits: Int[np.ndarray, " n"]
    position: Float[np.ndarray, " edits"]
    value: Float[np.ndarray, " edits"]


def draw_block(
    seed: int,
    edits: Sequence[int | float],
    usable: Int[np.ndarray, " usable"],
    room: Int[np.ndarray, " seeds"],
    block: int,
    start: int,
    stop: int,
) -> Chances:
    """Those of one block that are also among mutants start..stop - 1."""
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
    asked: Float[np.ndarray, " n"] | Int[np.ndarray, " n"], room: Int[np.ndarray, " n"]
) -> Int[np.ndarray, " n"]:
    """The numbers as they are; those below 1 are a share of the room, but at least one edit."""
    share = np.maximum(1, np.round(asked * room))
    return np.where(asked < 1, share, asked).astype(np.int64)


def generator(seed: int, number: int) -> np.random.Generator:
    """Random numbers; the number is the high word of a counter: streams that never meet."""
    return np.random.Generator(np.random.Philox(key=seed, counter=[0, 0, 0, number]))


def check_options(seed: int, edits: Sequence[int | float], keep: int) -> None:
    """What all mutators ask of their options."""
    require(seed >= 0, f"the seed must not be negative, got {seed}")
    good = len(edits) > 0 and all(0 < k < 1 or (k >= 1 and float(k).is_integer()) for k in edits)
    require(good, f"edits must be whole numbers from 1, or shares of a seed below 1, got {edits}")
    require(keep >= 0, f"the number of bytes to keep must be at least 0, got {keep}")


def repaired(inputs: Inputs, repair: Repair | None) -> Inputs:
    """Each input after the repair."""
    if repair is None:
        return inputs
    pieces = np.split(inputs.data, inputs.bounds[1:-1]) if len(inputs.bounds) > 1 else []
    whole = [repair(piece.tobytes()) for piece in pieces]
    data = np.frombuffer(b"".join(whole), np.uint8)
    return Inputs(data, np.cumsum([0, *map(len, whole)]))
