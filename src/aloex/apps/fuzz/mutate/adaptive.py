"""A mutator that learns from what its mutants cover.

Three choices make a mutant: the law of its bytes, how many edits it has, and an operator that
changes it as a whole, or its numbers. Each is a bandit with Bernoulli arms, pulled by Thompson
sampling: a mutant wins if it has a new edge, and

    rate of an arm ~ Beta(1 + mutants of it that won, 1 + those that did not).

The laws are those without a model, and those of a model at some levels and temperatures. They are
computed for the inputs at hand, so what was found is what the model then looks at.

Mutants start from an input x, a seed or one that had a new edge, with probability

    p(x) ~ (sum over the edges e of x of 1 / n_e)^2,   n_e: how many inputs so far had e,

so most often from one that goes where few went.

The model may be learned again (`relearn.py`) after the first 1,000, 3,000, 10,000, ... mutants,
from the seeds and what had new edges until then.

All that is known is the sum of the notes on batches (`observe`, `learn`). Mutant i is a function of
that, of the seed and of i.
"""

import base64
import copy
import zlib
from collections.abc import Callable, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float, Int, UInt8

from aloex.apps.fuzz.execute.executor import Inputs, Outcomes, Status
from aloex.apps.fuzz.mutate.mutators import (
    EDITS,
    Edits,
    Mutants,
    Repair,
    byte_of_another,
    check_options,
    count_edits,
    generator,
    other_byte,
    repaired,
)
from aloex.apps.fuzz.mutate.numbers import Where, anywhere, change_numbers
from aloex.apps.fuzz.mutate.operators import OPERATORS
from aloex.base.errors import require

BATCH = 100  # mutants from one lesson to the next
MAX_PLACES = 512  # that a model looks at in each input, to find numbers
EXPLORE = 0.1  # share of choices that are uniform: what pays changes as coverage grows
LEVELS, TEMPERATURES = (0.0, 0.5, 1.0), (1.0, 3.0)
BLIND = {"uniform": other_byte, "other-seed": byte_of_another}

POINTS = tuple(k * 10**e for e in range(3, 9) for k in (1, 3))  # mutants, to learn again after

Note = dict[str, Any]  # plain JSON values


@runtime_checkable
class Laws(Protocol):
    """What is asked of a model: `LearnedByte`, which is not named here as JAX loads slowly."""

    model: Any
    pairs: list[tuple[float, float]]  # levels and temperatures

    def draw(self, edits: Edits, pair: Int[np.ndarray, " edits"]) -> UInt8[np.ndarray, " edits"]:
        """Values by the laws of the pairs given."""
        ...


Relearn = Callable[[Any, Sequence[bytes]], Any]  # a model after some inputs


class Bandit:
    """Arms that win or not, and how often they did."""

    def __init__(self, num_arms: int):
        self.won, self.tried = np.zeros((2, num_arms))

    def choose(self, rng: np.random.Generator) -> int:
        """An arm, by a draw of each arm's rate; sometimes any arm."""
        if rng.random() < EXPLORE:
            return int(rng.integers(len(self.won)))
        return int(rng.beta(1 + self.won, 1 + self.tried - self.won).argmax())


class Adaptive:
    """See the top of this file; it learns best after every `batch` mutants.

    Args:
        model: chooses bytes, beside `uniform` and `other-seed`; none if None.
        places: of an input, where its numbers may be.
        relearn: how the model is learned again; never if None.
        seed: of all randomness.
        edits: numbers of edits, or shares of the input below 1, an arm each.
        keep: bytes at the beginning that stay as they are.
        repair: what is done to a mutant at last.
        max_len: bytes that a mutant may have.
    """

    batch = BATCH

    def __init__(
        self,
        model: Laws | None = None,
        *,
        places: Where = anywhere,
        relearn: Relearn | None = None,
        seed: int = 0,
        edits: tuple[int | float, ...] = EDITS,
        keep: int = 0,
        repair: Repair | None = None,
        max_len: int = 1 << 20,
    ):
        check_options(seed, edits, keep)
        self.first_model, self.relearn, self.seed, self.edits = model, relearn, seed, edits
        self.keep, self.repair, self.max_len, self.places = keep, repair, max_len, places
        self.forget()

    @property
    def arms(self) -> dict[str, list[str]]:
        """The names of all arms."""
        pairs = [] if self.first_model is None else self.first_model.pairs
        laws = [*BLIND, *(f"level {level}, temperature {t}" for level, t in pairs)]
        operators = [*(operator.__name__ for operator in OPERATORS), "numbers"]
        return {"law": laws, "edits": list(map(str, self.edits)), "operator": operators}

    def forget(self) -> None:
        """Begin anew."""
        self.bandits = [Bandit(len(names)) for names in self.arms.values()]
        self._edges: list[Int[np.ndarray, " edges"]] = []  # of each input to start from
        self._hits = np.zeros(0, np.int64)  # how many inputs had each edge
        self.model = self.first_model
        self._num_tried = 0
        self._until = self._relearned = 0  # how many inputs there were to learn again from, and did

    def observe(self, outcomes: Outcomes, added: Sequence[int], mutants: Mutants | None) -> Note:
        """What is to be learned from a batch, of which the inputs `added` may be started from."""
        had = np.repeat(outcomes.status == Status.OK, np.diff(outcomes.first))
        note = {"hits": pack(np.bincount(outcomes.features[had] // 8))}
        if mutants is None or mutants.arms is None:  # the seeds
            return {**note, "edges": [pack(outcomes.edges_of(i)) for i in added]}
        won, none = outcomes.new_edges > 0, np.zeros(0)
        count = lambda arms: [
            np.bincount(column, minlength=len(bandit.won)).tolist()
            for column, bandit in zip(arms.T, self.bandits, strict=True)
        ]
        edges = [pack(outcomes.edges_of(i) if won[i] else none) for i in added]
        return {
            **note,
            "edges": edges,
            "won": count(mutants.arms[won]),
            "tried": count(mutants.arms),
        }

    def learn(self, note: Note) -> None:
        """Take in a note."""
        if "tried" in note:
            for bandit, won, tried in zip(self.bandits, note["won"], note["tried"], strict=True):
                bandit.won += won
                bandit.tried += tried
        self._edges += map(unpack, note["edges"])
        before, self._num_tried = self._num_tried, self._num_tried + sum(note.get("tried", [[]])[0])
        self._pass_points(before)
        hits = unpack(note["hits"])
        size = max(len(hits), len(self._hits))
        self._hits = np.pad(self._hits, (0, size - len(self._hits)))
        self._hits[: len(hits)] += hits

    def _pass_points(self, before: int) -> None:
        passed = [p for p in POINTS if before < p <= self._num_tried]
        if self.relearn is None or not passed:
            return
        require(
            passed == [self._num_tried],  # else what was found until then depends on the batches
            f"to learn again after {passed[0]} mutants, batches must end there; choose another "
            "--batch, such as 100",
        )
        self._until = len(self._edges)

    def _learn_again(self, seeds: Sequence[bytes]) -> None:
        if self._until == self._relearned or self.first_model is None or self.relearn is None:
            return
        pairs = zip(seeds, self._edges[: self._until], strict=False)
        inputs = [x for x, edges in pairs if len(edges)]
        self.model = copy.copy(self.first_model)  # which may serve others
        self.model.model = self.relearn(self.first_model.model, inputs)
        self._relearned = self._until

    def mutate(self, seeds: Sequence[bytes], start: int, n: int) -> Mutants:
        """Mutants start..start + n - 1, by what is known."""
        self._learn_again(seeds)
        up_to = np.cumsum(self._starts(seeds))
        rngs = [generator(self.seed, i) for i in range(start, start + n)]
        choices = [bandit.choose(rng) for rng in rngs for bandit in self.bandits]
        arms = np.array(choices, np.int64).reshape(n, len(self.bandits))
        origin = np.searchsorted(up_to / up_to[-1], [rng.random() for rng in rngs], side="right")
        size = np.array([len(seeds[i]) for i in origin], np.int64)
        num_edits = count_edits(np.array(self.edits)[arms[:, 1]], size - self.keep)
        chances = [rng.random((2, k)) for rng, k in zip(rngs, num_edits, strict=True)]
        where, which = np.concatenate([np.zeros((2, 0)), *chances], axis=1)

        bounds = np.concatenate([[0], np.cumsum(size)])
        data = np.frombuffer(bytearray().join([seeds[i] for i in origin]), np.uint8)
        repeat = lambda of_mutants: np.repeat(of_mutants, num_edits)
        positions = self.keep + (repeat(size - self.keep) * where).astype(np.int64)
        places = repeat(bounds[:-1]) + positions
        edits = Edits(seeds, repeat(origin), positions, data[places], which)
        values = self._values(edits, repeat(arms[:, 0]))
        data[places] = values  # where a place occurs twice, numpy leaves the last value
        whole = [
            self._operate(arm, data[bounds[i] : bounds[i + 1]], seeds[origin[i]], seeds, rng)
            for i, (arm, rng) in enumerate(zip(arms[:, 2].tolist(), rngs, strict=True))
        ]
        joined = Inputs(np.frombuffer(b"".join(whole), np.uint8), np.cumsum([0, *map(len, whole)]))
        first = np.concatenate([[0], np.cumsum(num_edits)])
        return Mutants(repaired(joined, self.repair), origin, first, positions, values, arms=arms)

    def _starts(self, seeds: Sequence[bytes]) -> Float[np.ndarray, " seeds"]:
        """How much each is to be started from; all the same if nothing is known."""
        usable = np.array([len(x) > self.keep for x in seeds])
        require(
            bool(usable.any()),
            f"mutants need a seed longer than the {self.keep} bytes to keep; none of the "
            f"{len(seeds)} seeds is",
        )
        known = rarity(self._edges[: len(seeds)], self._hits) if self._edges else 1.0
        weights = np.where(usable, known, 0.0)
        return weights if weights.any() else usable.astype(float)

    def _values(self, edits: Edits, law: Int[np.ndarray, " edits"]) -> UInt8[np.ndarray, " edits"]:
        values = np.empty(len(law), np.uint8)
        for i, choose in enumerate(BLIND.values()):
            rows = law == i
            if rows.any():
                values[rows] = choose(edits.only(rows))
        rows = law >= len(BLIND)
        if self.model is not None and rows.any():
            values[rows] = self.model.draw(edits.only(rows), law[rows] - len(BLIND))
        return values

    def _operate(
        self,
        arm: int,
        data: UInt8[np.ndarray, " bytes"],
        start: bytes,
        seeds: Sequence[bytes],
        rng: np.random.Generator,
    ) -> bytes:
        """Change an input as a whole, beyond what is to be kept."""
        if arm == len(OPERATORS):
            change_numbers(data, self.places(start, self.keep), self.keep, rng)
            return data.tobytes()
        x = data.tobytes()
        other = seeds[int(rng.integers(len(seeds)))][self.keep :]
        head, rest = x[: self.keep], x[self.keep :]
        if min(len(rest), len(other)) < 2:
            return x
        return head + OPERATORS[arm](rest, other, rng)[: self.max_len - self.keep]


def rarity(
    edges: Sequence[Int[np.ndarray, " _"]], hits: Int[np.ndarray, " all"]
) -> Float[np.ndarray, " inputs"]:
    """(sum over the edges of an input of 1 / how many inputs had it)^2."""
    owner, joined = np.repeat(np.arange(len(edges)), [*map(len, edges)]), np.concatenate(edges)
    return np.bincount(owner, 1 / hits[joined], minlength=len(edges)) ** 2


def pack(numbers: np.ndarray) -> str:
    """Whole numbers as text."""
    return base64.b64encode(zlib.compress(numbers.astype("<u4").tobytes())).decode()


def unpack(text: str) -> Int[np.ndarray, " n"]:
    """What `pack` packed."""
    return np.frombuffer(zlib.decompress(base64.b64decode(text)), "<u4").astype(np.int64)
