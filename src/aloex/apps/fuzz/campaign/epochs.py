"""How a campaign is cut into epochs, and an epoch into lanes.

Mutants are numbered. An epoch is a range of numbers; all its mutants are made with what was known
at its beginning. It is cut into lanes, which may run in any order and anywhere. Both depend on
nothing but the number of the first mutant. So does a campaign: the number of workers, or where it
was stopped and resumed, change nothing.

An epoch is a sixteenth of what was run before it: finds are soon built on while there are many, and
later little time goes into what is done between epochs.
"""

from itertools import pairwise
from typing import NamedTuple

MIN_EPOCH, MAX_EPOCH, SHARE = 64, 1 << 17, 16  # mutants; 1 / share of those before
MAX_LANES, MIN_LANE = 16, 64


class Epoch(NamedTuple):
    """Mutants first..stop - 1."""

    first: int
    stop: int

    @property
    def lanes(self) -> list[tuple[int, int]]:
        """The lanes: mutants first..stop - 1 of each."""
        size = self.stop - self.first
        count = max(1, min(MAX_LANES, size // MIN_LANE))
        cuts = [self.first + size * i // count for i in range(count + 1)]
        return list(pairwise(cuts))

    def lanes_before(self, stop: int) -> list[tuple[int, int]]:
        """The part of the lanes before a number; each mutant is what it would be in the whole."""
        return [(first, min(end, stop)) for first, end in self.lanes if first < stop]


def epoch_at(first: int) -> Epoch:
    """The epoch that begins with a mutant."""
    return Epoch(first, first + max(MIN_EPOCH, min(MAX_EPOCH, first // SHARE)))
