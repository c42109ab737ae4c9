"""Where the time of a campaign goes, and what a second worker adds.

*Outside the target.* A campaign runs on one core, without sanitizers. Now and then mutants of a
lane are replayed: run once more as given inputs, with their coverage looked at in the same way, but
neither made nor learned from. A replay takes somewhat longer than the target's function in it.
That factor, times the seconds in the target's function of all mutants, is the time that the target
needs; the rest of the campaign's is outside of it. (A few mutants take most of the time, so the
mean of those that are replayed says little of all; the factor is much the same for all.)

*Costly.* At the end of that campaign, what share of its mutants is costly, as the engine sees it,
and what share of the time in the target they take if they are not cut short.

*Workers.* The same campaign, with sanitizers, by one worker and by two, in turns.
"""

import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from aloex.apps.fuzz.campaign import Campaign, CampaignSettings, open_campaign
from aloex.apps.fuzz.execute import Executor, Lane, Task
from aloex.apps.fuzz.execute.records import read_records
from aloex.apps.fuzz.execute.worker import Worker, ready
from aloex.apps.fuzz.inputs import ExitStatus
from aloex.apps.fuzz.target import Target
from studies.fuzz.jobs import Row

KEYS = ("case", "target", "trial")
MIN_SAMPLE, MAX_SAMPLE = 100, 5000  # mutants of a lane that are replayed
SECONDS = 0.1  # about as long as a replay may take
NUM_TIMED = 2000  # mutants that are run one by one, to see which are costly
SHARE = 0.5  # of the time that may go into replaying


def rows_of(target: str, cases: Sequence[str], *, seconds: float, trials: int) -> list[Row]:
    """The rows of a target, for each case and trial."""
    rows = list[Row]()
    if "outside" in cases:
        rows += [outside(target, seconds, trial) for trial in range(trials)]
    if "workers" in cases:
        rows += workers(target, seconds, trials)
    return rows


def opened(target: str, folder: str, **settings: Any) -> Campaign:
    """A campaign in a folder, new each time."""
    out = Path(tempfile.mkdtemp(dir=folder))
    return open_campaign(CampaignSettings(target, out=out / "out", **settings))


def outside(target: str, seconds: float, trial: int) -> Row:
    """The share of a campaign's time that passes outside the target."""
    with (
        tempfile.TemporaryDirectory() as folder,
        opened(target, folder, workers=1, seed=trial, sanitizer="none") as campaign,
        Replay(campaign) as replay,
    ):
        setattr(campaign.executor, "lanes", replay.lanes)  # noqa: B010
        begin = time.perf_counter()
        campaign.run(max_seconds=seconds)
        whole = time.perf_counter() - begin - replay.own_seconds
        num_run, in_function = campaign.record.num_run, campaign.record.target_seconds
        costly = replay.costly(num_run)
    in_target = in_function * replay.seconds / replay.seconds_in_function
    row: Row = {"case": "outside", "target": Target.load(target).name, "trial": trial}
    row |= {"mutants": num_run, "replayed": replay.num_replayed, "seconds": round(whole, 2)}
    return row | {"outside": round(1 - in_target / whole, 3)} | costly


class Replay:
    """Stands between a campaign and its executor, and replays some of its mutants."""

    def __init__(self, campaign: Campaign):
        self.campaign, self._lanes = campaign, campaign.executor.lanes
        self.seconds, self.seconds_in_function = 0.0, 0.0
        self.num_replayed, self._size = 0, MIN_SAMPLE  # mutants; of the next replay
        self.own_seconds = 0.0  # that the campaign had to wait
        self._begin = time.perf_counter()
        target, limits = campaign.target, CampaignSettings(campaign.target.name)
        self._tracer = Executor(target, workers=1)
        self._worker = Worker(
            target,
            batch=MAX_SAMPLE,
            max_bytes=MAX_SAMPLE * target.max_len,
            timeout=limits.timeout,
            memory_mb=limits.memory_mb,
        )

    def __enter__(self) -> "Replay":
        return self

    def __exit__(self, *_) -> None:
        self._worker.close()
        self._tracer.close()

    def lanes(self, lanes: Sequence[tuple[int, int]], **how: Any) -> Task[list[Lane]]:
        """The task of running lanes, and then replaying one's beginning if there is time."""
        task = self._lanes(lanes, **how)

        def finish(ran: list[Lane]) -> list[Lane]:
            self._after(lanes)
            return task.finish(ran)

        return replace(task, finish=finish)

    def _after(self, lanes: Sequence[tuple[int, int]]) -> None:
        begin = time.perf_counter()
        if self.own_seconds < SHARE * (begin - self._begin):
            first, stop = lanes[self.campaign.record.num_rows % len(lanes)]
            self._replay(range(first, min(stop, first + self._size)))
            self.own_seconds += time.perf_counter() - begin

    def costly(self, first: int) -> dict[str, float]:
        """The share of costly mutants, and of the time that they take, from a number on."""
        is_costly, seconds = list[bool](), list[int]()
        for number in range(first, first + NUM_TIMED):
            data, how = self.campaign.engine.mutate(number)
            self._worker.run_given(data, np.array([0, len(data)]))
            ready([self._worker])
            (record,) = read_records(self._worker.finish().log, self._worker.num_edges)
            if record.status == ExitStatus.OK:
                is_costly.append(record.cost > how.costly)
                seconds.append(self._worker.arena.nanoseconds)
        time_of_costly = float(np.dot(is_costly, seconds)) / sum(seconds)
        return {"costly": float(np.mean(is_costly)), "time_of_costly": round(time_of_costly, 3)}

    def _replay(self, numbers: range) -> None:
        made = [self.campaign.engine.mutate(number) for number in numbers]
        records = self._tracer.trace([data for data, _ in made])
        whole = [
            data
            for (data, how), record in zip(made, records, strict=True)
            if record.status == ExitStatus.OK and record.cost <= how.max_cost
        ]
        self._worker.seen[:] = self.campaign.engine.seen
        bounds = np.cumsum([0, *map(len, whole)])
        begin = time.perf_counter()
        self._worker.run_given(b"".join(whole), bounds, each=False)
        ready([self._worker])
        self._worker.finish()
        took = time.perf_counter() - begin
        self.seconds += took
        self.seconds_in_function += self._worker.arena.nanoseconds / 1e9
        self.num_replayed += len(numbers)
        self._size = min(MAX_SAMPLE, max(MIN_SAMPLE, int(SECONDS / took * len(numbers))))


def workers(target: str, seconds: float, trials: int) -> list[Row]:
    """How much faster two workers are than one, over as many mutants as one runs in the time."""
    name, rows = Target.load(target).name, list[Row]()
    with tempfile.TemporaryDirectory() as folder:
        with opened(target, folder, workers=1) as campaign:
            campaign.run(max_seconds=seconds)
            num_inputs = campaign.record.num_run

        def run(num_workers: int, trial: int) -> float:
            with opened(target, folder, workers=num_workers, seed=trial) as campaign:
                begin = time.perf_counter()
                campaign.run(num_inputs=num_inputs)
                return round(time.perf_counter() - begin, 2)

        for trial in range(trials):
            times = {num: run(num, trial) for num in ((1, 2) if trial % 2 else (2, 1))}
            row: Row = {"case": "workers", "target": name, "trial": trial, "mutants": num_inputs}
            row |= {"one": times[1], "two": times[2], "ratio": round(times[1] / times[2], 3)}
            rows.append(row)
    return rows


def medians(rows: Sequence[Row], case: str, key: str) -> dict[str, float]:
    """The median over the trials, by target."""
    found: dict[str, list[float]] = {}
    for row in rows:
        if row["case"] == case:
            found.setdefault(row["target"], []).append(row[key])
    return {target: median(values) for target, values in found.items()}
