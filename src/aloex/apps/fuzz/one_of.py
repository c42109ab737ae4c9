"""Several mutators by turns, each with its share of the mutants.

Mutant i is by the one in whose share the fraction of i times the golden ratio falls, so that in any
stretch each has about as many as it should. Turns repeat after `CYCLE` mutants. As with any mutator
it does not matter in which batches they are asked for.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Int

from aloex.apps.fuzz.executor import Inputs
from aloex.apps.fuzz.mutators import Mutants, RandomEdits, generator
from aloex.errors import require

CYCLE = 1000
GOLDEN = (5**0.5 - 1) / 2


@dataclass(frozen=True)
class OneOf:
    """Mutators and their weights; each has a seed of its own that follows from `seed`."""

    mutators: tuple[RandomEdits, ...]
    weights: tuple[float, ...]
    seed: int = 0

    def __post_init__(self):
        require(self.seed >= 0, f"the seed must not be negative, got {self.seed}")

    @property
    def edits(self) -> tuple[int | float, ...]:
        """Of all of them."""
        return tuple(dict.fromkeys(k for mutator in self.mutators for k in mutator.edits))

    def mutate(self, seeds: Sequence[bytes], start: int, n: int) -> Mutants:
        """Mutants start..start + n - 1."""
        turns, parts = self.turns(), []
        for number, mutator in enumerate(self.mutators):
            before = np.concatenate([[0], np.cumsum(turns == number)])
            own = lambda i, before=before: int(i // CYCLE * before[-1] + before[i % CYCLE])
            own_seed = int(generator(self.seed, number).integers(1 << 62))
            part = replace(mutator, seed=own_seed)
            parts.append(part.mutate(seeds, own(start), own(start + n) - own(start)))
        return _by_turns(parts, turns[np.arange(start, start + n) % CYCLE])

    def turns(self) -> Int[np.ndarray, " cycle"]:
        """Whose turn it is."""
        share = np.cumsum(self.weights) / np.sum(self.weights)
        last = len(self.weights) - 1
        drawn = np.searchsorted(share, np.arange(CYCLE) * GOLDEN % 1, side="right")
        return np.minimum(drawn, last)


def _by_turns(parts: Sequence[Mutants], turns: Int[np.ndarray, " n"]) -> Mutants:
    """Mutants of several, in the order in which they have turns."""
    rows = np.empty(len(turns), np.int64)
    rows[np.argsort(turns, kind="stable")] = np.arange(len(turns))
    join = lambda columns: np.concatenate(columns)
    bounds = _ends([np.diff(part.inputs.bounds) for part in parts])
    edits = _ends([np.diff(part.first) for part in parts])
    data, new_bounds = _ragged(join([part.inputs.data for part in parts]), bounds, rows)
    positions, first = _ragged(join([part.positions for part in parts]), edits, rows)
    values, _ = _ragged(join([part.values for part in parts]), edits, rows)
    origin = join([part.origin for part in parts])[rows]
    return Mutants(Inputs(data, new_bounds), origin, first, positions, values)


def _ends(lengths: Sequence[np.ndarray]) -> Int[np.ndarray, " n_plus_1"]:
    return np.concatenate([[0], np.cumsum(np.concatenate(lengths))])


def _ragged(
    data: np.ndarray, bounds: Int[np.ndarray, " n_plus_1"], rows: Int[np.ndarray, " n"]
) -> tuple[np.ndarray, Int[np.ndarray, " n_plus_1"]]:
    """Pieces of data in another order, and their bounds."""
    lengths = np.diff(bounds)[rows]
    new = _ends([lengths])
    where = np.arange(new[-1]) + np.repeat(bounds[:-1][rows] - new[:-1], lengths)
    return data[where], new
