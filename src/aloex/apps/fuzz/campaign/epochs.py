"""How a campaign is cut into epochs, and an epoch into lanes.

Mutants are numbered. An epoch is a range of numbers; all its mutants are made with what was known
at its beginning. It is cut into lanes, which may run in any order and anywhere. Both depend on
nothing but the number of the first mutant. So does a campaign: the number of workers, or where it
was stopped and resumed, change nothing.

An epoch is a sixteenth of what was run before it: finds are soon built on while there are many, and
later little time goes into what is done between epochs. A lane runs in a process of its own, so it
is so long that to start the process takes little of its time.
"""

from itertools import pairwise
from typing import NamedTuple

MIN_EPOCH, MAX_EPOCH, SHARE = 64, 1 << 17, 16  # mutants; 1 / share of those before
MAX_LANES = 32
MIN_LANE, MAX_LANE = 16, 1024  # what `lane_size` is between
LANE = 64  # where it is not known what a mutant costs
COST_OF_LANE = 1 << 23  # about ten times what it takes to start a process


class Epoch(NamedTuple):
    """Mutants first..stop - 1."""

    first: int
    stop: int

    def lanes(self, size: int) -> list[tuple[int, int]]:
        """The lanes, of `size` mutants or more: first..stop - 1 of each."""
        num = self.stop - self.first
        count = max(1, min(MAX_LANES, num // size))
        cuts = [self.first + num * i // count for i in range(count + 1)]
        return list(pairwise(cuts)) if num else []

    def lanes_before(self, stop: int, size: int) -> list[tuple[int, int]]:
        """The part of the lanes before a number; each mutant is what it would be in the whole."""
        return [(first, min(end, stop)) for first, end in self.lanes(size) if first < stop]


def epoch_at(first: int) -> Epoch:
    """The epoch that begins with a mutant."""
    return Epoch(first, first + max(MIN_EPOCH, min(MAX_EPOCH, first // SHARE)))


def lane_size(usual_cost: int | None) -> int:
    """Mutants of a lane, at least, given what they usually cost, if that is known."""
    if usual_cost is None:
        return LANE
    return max(MIN_LANE, min(MAX_LANE, COST_OF_LANE // usual_cost))
