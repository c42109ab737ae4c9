"""The record of a campaign: the sum of the lines of its journal.

A line describes one batch. The first batch are the seeds, with numbers from -n to -1; mutants have
numbers from 0.

    stop      number of mutants run so far
    seconds   time spent so far
    found     inputs with new coverage: number, input (its hash), from (its parent's hash), edits,
              new_edges, features (the new ones)
    failed    inputs that did not end well: number, site, bug; more on the first inputs of a site
    note      what an adaptive mutator learns from the batch
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NamedTuple


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
    num_run: int = 0  # mutants
    seconds: float = 0.0
    found: list[dict[str, Any]] = field(default_factory=list)
    failing_seeds: set[int] = field(default_factory=set)
    bugs: Counter[str] = field(default_factory=Counter)  # number of inputs of each
    crash_sites: dict[str, tuple[str, int]] = field(default_factory=dict)  # bug, number of inputs
    crashes: dict[str, dict[str, Any]] = field(default_factory=dict)  # the first of each bug
    notes: list[tuple[int, dict[str, Any]]] = field(default_factory=list)  # stop, note
    curve: list[CurvePoint] = field(default_factory=list)  # after the seeds and each finding

    @property
    def now(self) -> CurvePoint:
        """The coverage now."""
        last = self.curve[-1] if self.curve else CurvePoint(0, 0.0, 0, 0)
        return last._replace(inputs=self.num_run, seconds=self.seconds)

    def add(self, row: dict[str, Any]) -> None:
        """Add a line."""
        self._add_found(row)
        for failed in row["failed"]:
            self.bugs[failed["bug"]] += 1
            bug, count = self.crash_sites.get(failed["site"], (failed["bug"], 0))
            self.crash_sites[failed["site"]] = bug, count + 1
            self.crashes.setdefault(failed["bug"], failed)
            if failed["number"] < 0:
                self.failing_seeds.add(self.num_seeds + failed["number"])
        if "note" in row:
            self.notes.append((row["stop"], row["note"]))
        self.num_run, self.seconds = row["stop"], row["seconds"]
        self.num_rows += 1

    def _add_found(self, row: dict[str, Any]) -> None:
        _, _, edges, features = self.now
        speed = (row["seconds"] - self.seconds) / max(row["stop"] - self.num_run, 1)
        for found in row["found"]:
            self.found.append({**found, "features": len(found["features"])})
            edges += found["new_edges"]
            features += len(found["features"])
            if found["number"] >= 0:  # its own time is not known: all of a batch count the same
                inputs = found["number"] + 1
                seconds = self.seconds + speed * (inputs - self.num_run)
                self.curve.append(CurvePoint(inputs, round(seconds, 4), edges, features))
        if row["stop"] == 0:
            self.curve.append(CurvePoint(0, row["seconds"], edges, features))

    def edges_after(self, inputs: int) -> int:
        """Edges covered by the seeds and so many mutants."""
        return max((point.edges for point in self.curve if point.inputs <= inputs), default=0)
