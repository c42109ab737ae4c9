"""The lanes of an epoch, merged in their order: what was found, what failed, what paid."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from aloex.apps.fuzz.campaign.pool import Candidate
from aloex.apps.fuzz.campaign.sanitize import Failed
from aloex.apps.fuzz.execute import Lane, RunRecord, failure_of
from aloex.apps.fuzz.inputs import ExitStatus
from aloex.apps.fuzz.native import MAX_OPERATORS, Counts, Engine


@dataclass(frozen=True)
class Merged:
    """What came of an epoch."""

    new: list[Candidate]  # those that had new features in their lane
    failed: list[Failed]
    counts: Counts
    seconds: float  # in the target
    num_cut: int  # of those that were cut short for what they cost
    num_slow: int  # of those that seemed to hang
    hits: NDArray[np.uint32]
    chosen: NDArray[np.uint32]


def merge(engine: Engine, lanes: Sequence[Lane]) -> Merged:
    """Join the lanes; the engine must be as it was when they ran."""
    new, failed = [], []
    for record in (record for lane in lanes for record in lane.records):
        data, recipe = engine.mutate(record.number)
        if record.status == ExitStatus.OK:
            names = "operators", "stack", "origin", "parent"
            how = {name: getattr(recipe, name) for name in names}
            new.append(Candidate(record.number, data, record.features, record._replace(**how)))
        else:
            failed.append(Failed(record.number, data, failure_of(record, 0)))
    counts = Counts()
    for lane in lanes:
        counts.num_mutants += lane.counts.num_mutants
        for name in ("tried", "stack_tried", "origin_tried"):
            numbers(counts, name)[:] += numbers(lane.counts, name)
        counts.num_unlimited += lane.counts.num_unlimited
        counts.cost += lane.counts.cost
        counts.costly += lane.counts.costly
    return Merged(
        new=new,
        failed=failed,
        counts=counts,
        seconds=sum(lane.seconds for lane in lanes),
        num_cut=sum(lane.num_cut for lane in lanes),
        num_slow=sum(lane.num_slow for lane in lanes),
        hits=np.stack([lane.hits for lane in lanes]).sum(axis=0, dtype=np.uint32),
        chosen=np.stack([lane.chosen for lane in lanes]).sum(axis=0, dtype=np.uint32),
    )


def numbers(counts: Counts, name: str) -> NDArray[np.uint64]:
    """An array of the counts."""
    return np.frombuffer(getattr(counts, name), np.uint64)


def count_win(counts: Counts, record: RunRecord) -> None:
    """Count a mutant with a new edge: its operators and their number have won."""
    bits = [i for i in range(MAX_OPERATORS) if record.operators >> i & 1]
    numbers(counts, "won")[bits] += np.uint64(1)
    numbers(counts, "stack_won")[record.stack] += np.uint64(1)
    numbers(counts, "origin_won")[record.origin] += np.uint64(1)
