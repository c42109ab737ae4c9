"""The record of a campaign: the sum of the lines of its journal.

A line describes one epoch. The first ones are portions of the seeds, which have negative numbers;
mutants have numbers from 0.

    stop        number of mutants run so far
    num_seeds   seeds run; the lines of the seeds alone have it, see `seed_queue.py`
    seconds     time spent so far
    found       inputs with new coverage, and all seeds that ended well: number, input (its hash),
                new_edges, new_features; of a mutant also from (its parent's hash), operators (a bit
                for each that took part), and stack (which number of them)
    failed      inputs that did not end well: number, site (where, see `aloex.apps.fuzz.bugs`)
    target_seconds  of them in the target, on all workers together
    num_cut     mutants that were cut short, for they cost much more than others
    num_slow    mutants that seemed to hang, and were run once more to find out
    cost        of the mutants, about
    is_partial  if it is there: a bound on the campaign came before the end of the epoch, or the
                line is the last one, of what was still to be run with sanitizers
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

FREE_SLOW, SLOW_SHARE = 4, 0.05  # of mutants that seem to hang: so many, and so much of the time
COST_OF_HANG = 1 << 28  # as in native/worker/worker.c


class CurvePoint(NamedTuple):
    """The coverage after a number of mutants."""

    inputs: int
    seconds: float
    edges: int
    features: int


@dataclass
class Record:
    """What the lines so far say."""

    num_seeds: int
    num_rows: int = 0
    num_seeds_run: int = 0  # more than there are if zeros took their place
    num_run: int = 0  # mutants
    num_cut: int = 0  # of them: cut short
    num_slow: int = 0  # of them: seemed to hang
    cost: int = 0  # of them
    seconds: float = 0.0
    target_seconds: float = 0.0  # on all workers together, in epochs
    recent_speed: float = 0.0  # mutants per second in the last epoch
    is_partial: bool = False  # the last epoch
    found: list[dict[str, Any]] = field(default_factory=list)  # with new coverage
    failed: list[dict[str, Any]] = field(default_factory=list)
    last_find: float = 0.0  # seconds
    curve: list[CurvePoint] = field(default_factory=list)  # after the seeds and each epoch

    @property
    def now(self) -> CurvePoint:
        """The coverage now."""
        return self.curve[-1] if self.curve else CurvePoint(0, 0.0, 0, 0)

    @property
    def skips_slow(self) -> bool:
        """Whether it has taken enough of the time to look into mutants that seem to hang."""
        cost = self.num_slow * COST_OF_HANG
        return self.num_slow > FREE_SLOW and cost > SLOW_SHARE * self.cost

    def add(self, row: dict[str, Any]) -> None:
        """Add a line."""
        new = [found for found in row["found"] if found["new_features"]]
        self.found += new
        self.failed += row["failed"]
        if row["stop"] > self.num_run:
            took = max(row["seconds"] - self.seconds, 1e-6)
            self.recent_speed = (row["stop"] - self.num_run) / took
        self.num_cut += row.get("num_cut", 0)
        self.num_slow += row.get("num_slow", 0)
        self.cost += row.get("cost", 0)
        self.target_seconds += row.get("target_seconds", 0.0)
        self.num_run, self.seconds = row["stop"], row["seconds"]
        self.num_rows += 1
        self.num_seeds_run += row.get("num_seeds", 0)
        self.is_partial = row.get("is_partial", False)
        if new:
            self.last_find = self.seconds
        _, _, edges, features = self.now
        edges += sum(found["new_edges"] for found in new)
        features += sum(found["new_features"] for found in new)
        point = CurvePoint(self.num_run, self.seconds, edges, features)
        if len(self.curve) > 1 and self.curve[-1][2:] == self.curve[-2][2:] == point[2:]:
            self.curve.pop()  # a plain has two ends
        self.curve.append(point)

    def edges_after(self, inputs: int) -> int:
        """Edges covered by the seeds and so many mutants, at the ends of epochs."""
        return max((point.edges for point in self.curve if point.inputs <= inputs), default=0)
