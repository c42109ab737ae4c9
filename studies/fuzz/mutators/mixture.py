"""A mixture: several mutators take turns, each with its weight.

The weights divide [0, 1) into parts. Mutant i is made by the mutator in whose part the fraction of
i times the golden ratio falls, so the weights hold in any range of mutants, about. Turns repeat
after `CYCLE` mutants. As with any mutator, a mutant does not depend on the batch that it is in.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from aloex.apps.fuzz.inputs import Inputs
from studies.fuzz.mutators.edits import Mutants, RandomEdits, check_options, generator

CYCLE = 1000
GOLDEN = (5**0.5 - 1) / 2


@dataclass(frozen=True)
class Mixture:
    """Mutators and their weights. Each mutator gets a seed of its own that follows from `seed`."""

    mutators: tuple[RandomEdits, ...]
    weights: tuple[float, ...]
    seed: int = 0

    def __post_init__(self):
        check_options(self.seed, self.edits, keep=0)

    @property
    def edits(self) -> tuple[int | float, ...]:
        """The numbers of edits of all mutators."""
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

    def turns(self) -> NDArray[np.integer]:
        """The number of the mutator that makes mutant i, for a whole cycle."""
        share = np.cumsum(self.weights) / np.sum(self.weights)
        last = len(self.weights) - 1
        drawn = np.searchsorted(share, np.arange(CYCLE) * GOLDEN % 1, side="right")
        return np.minimum(drawn, last)


def _by_turns(parts: Sequence[Mutants], turns: NDArray[np.integer]) -> Mutants:
    """Join the mutants of several mutators in the order of their turns."""
    rows = np.empty(len(turns), np.int64)
    rows[np.argsort(turns, kind="stable")] = np.arange(len(turns))
    data, bounds = _joined([(part.inputs.data, part.inputs.bounds) for part in parts], rows)
    positions, first = _joined([(part.positions, part.first) for part in parts], rows)
    values, _ = _joined([(part.values, part.first) for part in parts], rows)
    origin = np.concatenate([part.origin for part in parts])[rows]
    return Mutants(Inputs(data, bounds), origin, first, positions, values)


def _joined(
    parts: Sequence[tuple[np.ndarray, np.ndarray]], rows: NDArray[np.integer]
) -> tuple[np.ndarray, NDArray[np.integer]]:
    """Reorder the pieces of arrays that are cut at bounds. Returns one array, and its bounds."""
    lengths = np.concatenate([np.diff(bounds) for _, bounds in parts])
    begin, lengths = (np.cumsum(lengths) - lengths)[rows], lengths[rows]
    bounds = np.concatenate([[0], np.cumsum(lengths)])
    where = np.arange(bounds[-1]) + np.repeat(begin - bounds[:-1], lengths)
    return np.concatenate([data for data, _ in parts])[where], bounds
