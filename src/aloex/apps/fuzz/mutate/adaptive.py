"""A mutator that learns from what its mutants cover.

Three choices make a mutant: the sampler that draws its bytes, the number of edits, and an operator
that changes the whole input or its numbers. Each choice is a bandit with Bernoulli arms and
Thompson sampling: a mutant wins if it has a new edge, and

    rate of an arm ~ Beta(1 + mutants of the arm that won, 1 + mutants of the arm that did not).

There are samplers without a model, and those of a model, one for each pair of a visible fraction
and a temperature. The model looks at the input that a mutant starts from.

Mutants start from an input x, a seed or one that had a new edge, with probability

    p(x) ~ (sum over the edges e of x of 1 / n_e)^2,   n_e: number of inputs so far that had e,

so most often from an input with rare edges.

The model may be trained further after the first 1,000, 3,000, 10,000, ... mutants, on the seeds and
on the inputs that had new edges until then.

What the mutator knows is the sum of the notes on the batches (`observe`, `learn`). Mutant i is a
function of that, of the seed, and of i.
"""

import base64
import copy
import zlib
from collections.abc import Callable, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from aloex.apps.fuzz.inputs import ExitStatus, Inputs, Outcomes
from aloex.apps.fuzz.mutate.mutators import (
    EDITS,
    Edits,
    Mutants,
    Repair,
    byte_of_other_seed,
    check_options,
    count_edits,
    generator,
    other_byte,
    repaired,
)
from aloex.apps.fuzz.mutate.numbers import ChoosePositions, anywhere, change_numbers
from aloex.apps.fuzz.mutate.operators import OPERATORS
from aloex.base.errors import require

BATCH = 100  # mutants between two notes
EXPLORE = 0.1  # share of choices that are uniform: what pays changes as coverage grows
WITHOUT_MODEL = {"uniform": other_byte, "other-seed": byte_of_other_seed}
RELEARN_AFTER = tuple(k * 10**e for e in range(3, 9) for k in (1, 3))  # mutants

Note = dict[str, Any]  # plain JSON values


@runtime_checkable
class ByteSampler(Protocol):
    """Draws bytes from a model: `with_model.ModelSampler`, which needs JAX."""

    model: Any
    pairs: list[tuple[float, float]]  # visible fractions and temperatures

    def draw(self, edits: Edits, pair: NDArray[np.integer]) -> NDArray[np.uint8]:
        """Draw a value for each edit, with the visible fraction and temperature of its pair."""
        ...


Relearn = Callable[[Any, Sequence[bytes]], Any]  # trains a model further on some inputs


class Bandit:
    """Counts how often each arm was tried and won."""

    def __init__(self, num_arms: int):
        self.won, self.tried = np.zeros((2, num_arms))

    def choose(self, rng: np.random.Generator) -> int:
        """Draw a rate for each arm and choose the highest; sometimes choose any arm."""
        if rng.random() < EXPLORE:
            return int(rng.integers(len(self.won)))
        return int(rng.beta(1 + self.won, 1 + self.tried - self.won).argmax())


class Adaptive:
    """See the top of this file. It expects a note after every `batch` mutants.

    Args:
        sampler: draws bytes from a model; None if there is no model.
        positions: where the numbers of an input may be.
        relearn: trains the model further; None: never.
        seed: of all randomness.
        edits: numbers of edits, or fractions of the input below 1, an arm each.
        keep: number of bytes at the beginning that stay as they are.
        repair: applied to each mutant at the end.
        max_len: number of bytes that a mutant may have.
    """

    batch = BATCH

    def __init__(
        self,
        sampler: ByteSampler | None = None,
        *,
        positions: ChoosePositions = anywhere,
        relearn: Relearn | None = None,
        seed: int = 0,
        edits: tuple[int | float, ...] = EDITS,
        keep: int = 0,
        repair: Repair | None = None,
        max_len: int = 1 << 20,
    ):
        check_options(seed, edits, keep)
        self.first_sampler, self.relearn, self.seed, self.edits = sampler, relearn, seed, edits
        self.keep, self.repair, self.max_len, self.positions = keep, repair, max_len, positions
        self.forget()

    @property
    def arms(self) -> dict[str, list[str]]:
        """The names of all arms."""
        pairs = [] if self.first_sampler is None else self.first_sampler.pairs
        of_model = [f"visible {fraction}, temperature {t}" for fraction, t in pairs]
        operators = [*(operator.__name__ for operator in OPERATORS), "numbers"]
        return {
            "sampler": [*WITHOUT_MODEL, *of_model],
            "edits": list(map(str, self.edits)),
            "operator": operators,
        }

    def forget(self) -> None:
        """Return to the state before the first note."""
        self.bandits = [Bandit(len(names)) for names in self.arms.values()]
        self._edges: list[NDArray[np.integer]] = []  # of each input that mutants may start from
        self._hits = np.zeros(0, np.int64)  # number of inputs that had each edge
        self.sampler = self.first_sampler
        self._num_tried = 0
        self._num_known = 0  # inputs to train the model further on
        self._num_relearned = 0  # inputs that it was trained on

    def observe(self, outcomes: Outcomes, added: Sequence[int], mutants: Mutants | None) -> Note:
        """Make the note on a batch; mutants may start from its inputs `added`."""
        had = np.repeat(outcomes.status == ExitStatus.OK, np.diff(outcomes.first))
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
        """Learn from a note."""
        if "tried" in note:
            for bandit, won, tried in zip(self.bandits, note["won"], note["tried"], strict=True):
                bandit.won += won
                bandit.tried += tried
        self._edges += map(unpack, note["edges"])
        before, self._num_tried = self._num_tried, self._num_tried + sum(note.get("tried", [[]])[0])
        self._note_inputs(before)
        hits = unpack(note["hits"])
        size = max(len(hits), len(self._hits))
        self._hits = np.pad(self._hits, (0, size - len(self._hits)))
        self._hits[: len(hits)] += hits

    def _note_inputs(self, before: int) -> None:
        """Where the model is to be trained further, note the inputs that there are."""
        passed = [p for p in RELEARN_AFTER if before < p <= self._num_tried]
        if self.relearn is None or not passed:
            return
        require(
            passed == [self._num_tried],  # else the inputs known then depend on the batches
            f"the model is trained further after {passed[0]} mutants, so a batch must end there; "
            "choose another --batch, such as 100",
        )
        self._num_known = len(self._edges)

    def _train_further(self, seeds: Sequence[bytes]) -> None:
        if (
            self._num_known == self._num_relearned
            or self.first_sampler is None
            or self.relearn is None
        ):
            return
        pairs = zip(seeds, self._edges[: self._num_known], strict=False)
        inputs = [x for x, edges in pairs if len(edges)]
        self.sampler = copy.copy(self.first_sampler)  # which may serve others
        self.sampler.model = self.relearn(self.first_sampler.model, inputs)
        self._num_relearned = self._num_known

    def mutate(self, seeds: Sequence[bytes], start: int, n: int) -> Mutants:
        """Mutants start..start + n - 1, given what is known."""
        self._train_further(seeds)
        cumulative = np.cumsum(self._start_weights(seeds))
        rngs = [generator(self.seed, i) for i in range(start, start + n)]
        choices = [bandit.choose(rng) for rng in rngs for bandit in self.bandits]
        arms = np.array(choices, np.int64).reshape(n, len(self.bandits))
        starts = [rng.random() for rng in rngs]
        origin = np.searchsorted(cumulative / cumulative[-1], starts, side="right")
        size = np.array([len(seeds[i]) for i in origin], np.int64)
        num_edits = count_edits(np.array(self.edits)[arms[:, 1]], size - self.keep)
        chances = [rng.random((2, k)) for rng, k in zip(rngs, num_edits, strict=True)]
        where, which = np.concatenate([np.zeros((2, 0)), *chances], axis=1)

        bounds = np.concatenate([[0], np.cumsum(size)])
        data = np.frombuffer(bytearray().join([seeds[i] for i in origin]), np.uint8)
        repeat = lambda of_mutants: np.repeat(of_mutants, num_edits)
        positions = self.keep + (repeat(size - self.keep) * where).astype(np.int64)
        at = repeat(bounds[:-1]) + positions
        edits = Edits(seeds, repeat(origin), positions, data[at], which)
        values = self._values(edits, repeat(arms[:, 0]))
        data[at] = values  # where a position occurs twice, numpy leaves the last value
        whole = [
            self._operate(arm, data[bounds[i] : bounds[i + 1]], seeds[origin[i]], seeds, rng)
            for i, (arm, rng) in enumerate(zip(arms[:, 2].tolist(), rngs, strict=True))
        ]
        joined = Inputs(np.frombuffer(b"".join(whole), np.uint8), np.cumsum([0, *map(len, whole)]))
        first = np.concatenate([[0], np.cumsum(num_edits)])
        return Mutants(repaired(joined, self.repair), origin, first, positions, values, arms=arms)

    def _start_weights(self, seeds: Sequence[bytes]) -> NDArray[np.floating]:
        """The weight of each input to start from; all the same if nothing is known."""
        usable = np.array([len(x) > self.keep for x in seeds])
        require(
            bool(usable.any()),
            f"mutants need a seed longer than the {self.keep} bytes to keep; none of the "
            f"{len(seeds)} seeds is",
        )
        known = rarity(self._edges[: len(seeds)], self._hits) if self._edges else 1.0
        weights = np.where(usable, known, 0.0)
        return weights if weights.any() else usable.astype(float)

    def _values(self, edits: Edits, arm: NDArray[np.integer]) -> NDArray[np.uint8]:
        """Draw a value for each edit by the sampler of its arm."""
        values = np.empty(len(arm), np.uint8)
        for i, choose in enumerate(WITHOUT_MODEL.values()):
            rows = arm == i
            if rows.any():
                values[rows] = choose(edits.only(rows))
        rows = arm >= len(WITHOUT_MODEL)
        if self.sampler is not None and rows.any():
            values[rows] = self.sampler.draw(edits.only(rows), arm[rows] - len(WITHOUT_MODEL))
        return values

    def _operate(
        self,
        arm: int,
        data: NDArray[np.uint8],
        start: bytes,
        seeds: Sequence[bytes],
        rng: np.random.Generator,
    ) -> bytes:
        """Change an input as a whole, but for the bytes to keep."""
        if arm == len(OPERATORS):
            change_numbers(data, self.positions(start, self.keep), self.keep, rng)
            return data.tobytes()
        x = data.tobytes()
        other = seeds[int(rng.integers(len(seeds)))][self.keep :]
        head, rest = x[: self.keep], x[self.keep :]
        if min(len(rest), len(other)) < 2:
            return x
        return head + OPERATORS[arm](rest, other, rng)[: self.max_len - self.keep]


def rarity(edges: Sequence[NDArray[np.integer]], hits: NDArray[np.integer]) -> NDArray[np.floating]:
    """(sum over the edges of an input of 1 / number of inputs that had the edge)^2."""
    owner, joined = np.repeat(np.arange(len(edges)), [*map(len, edges)]), np.concatenate(edges)
    return np.bincount(owner, 1 / hits[joined], minlength=len(edges)).astype(float) ** 2


def pack(numbers: np.ndarray) -> str:
    """Integers as text, for a journal."""
    return base64.b64encode(zlib.compress(numbers.astype("<u4").tobytes())).decode()


def unpack(text: str) -> NDArray[np.integer]:
    """The inverse of `pack`."""
    return np.frombuffer(zlib.decompress(base64.b64decode(text)), "<u4").astype(np.int64)
