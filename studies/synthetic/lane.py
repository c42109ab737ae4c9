"""A lane works through the jobs: it takes the first that nobody has, does it, and looks again.

Several lanes share a folder, on one accelerator: while one compiles or waits for its next kernel,
another computes. Whatever is finished lies in the folder at once, so lanes can be killed.

    runs/NAME/        a job's run and models     rows/NAME.json    its rows
    locks/NAME/       who is at work on it       failed/NAME.txt   why it failed; it is not repeated
"""

import json
import time
import traceback
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import jax

from aloex import exact
from aloex.apps.synthetic import evaluate, methods
from aloex.apps.synthetic.data import DATA_SETS
from aloex.apps.synthetic.rated import rated
from aloex.apps.synthetic.train import train
from aloex.apps.synthetic.trained import Trained, load
from aloex.base.errors import InputError, Stopped
from aloex.base.files import write_file
from aloex.base.locks import LockedError, folder_lock
from aloex.base.provenance import provenance
from aloex.energies import MLP
from aloex.spaces import Bits
from studies import results
from studies.synthetic.jobs import EXACT, Job, job_of

PAUSE = 2.0  # seconds, while other lanes are at work on all that is left
CHUNKS = (15, 16, 17, 20)  # log2 of the states in one
ESTIMATED = "importance sampling"


class Outcome(StrEnum):
    DONE = "done before"
    WORKED = "done now"
    BUSY = "another lane is at work on it"
    WAIT = "it has the accelerator to itself"
    LATER = "its models are not there"
    NO_TIME = "it would not end in time, and its state is too large to be carried"
    FAILED = "failed"


class Lane(NamedTuple):
    """Where to work and until when.

    Args:
        folder: that the lanes share.
        committed: the folder of results that have been committed.
        deadline: when the machine is given back, as `time.monotonic` counts.
        rehearse: number of steps of tiny networks in place of the real ones; 0: the real ones.
    """

    folder: Path
    committed: Path
    deadline: float = float("inf")
    rehearse: int = 0

    def work(self, names: list[str]) -> None:
        """Do all that can be done."""
        while True:
            outcomes: list[Outcome] = []
            for name in names:
                outcomes.append(self._attempt(name))
                if outcomes[-1] in (Outcome.WORKED, Outcome.WAIT):
                    break
            if Outcome.WORKED in outcomes:
                continue  # from the top: what could not be done before may be possible now
            if not {Outcome.BUSY, Outcome.WAIT} & set(outcomes):
                return
            if Outcome.WAIT in outcomes:
                _prepare()
            time.sleep(PAUSE)

    def _attempt(self, name: str) -> Outcome:
        job, second = self.job(name), name.endswith(EXACT)
        failure = self.folder / "failed" / f"{name}.txt"
        if failure.exists():
            return Outcome.FAILED
        try:
            with folder_lock(self.folder / "locks" / name):
                outcome = self._make_exact(job) if second else self._train(job)
        except LockedError:
            trains_alone = job.alone and not second and not self._is_trained(job)
            return Outcome.WAIT if trains_alone else Outcome.BUSY
        except Stopped:
            raise
        except Exception:  # one job's failure must not cost the others their time
            failure.parent.mkdir(exist_ok=True)
            write_file(failure, traceback.format_exc())
            outcome = Outcome.FAILED
        if outcome in (Outcome.WORKED, Outcome.FAILED):
            print(f"{time.strftime('%H:%M:%S')} {name}: {outcome}", flush=True)
        return outcome

    def job(self, name: str) -> Job:
        """The job of that name, or the one of which that is the second stage."""
        return job_of(name).small() if self.rehearse else job_of(name)

    def rows(self, job: Job) -> list[dict[str, Any]]:
        """The job's rows, those made here before the committed ones."""
        made, found = self.rows_path(job), self.committed / f"{job.table}.json"
        known = [*(results.read(found) if found.exists() else ()), *_read(made)]
        key = lambda row: (row["method"], row["recipe"], row["data"], row["seed"])
        wanted = {(job.method, job.recipe, *problem) for problem in job.problems}
        steps = job.settings(self.rehearse).num_steps
        return list({key(r): r for r in known if key(r) in wanted and r["steps"] == steps}.values())

    def rows_path(self, job: Job) -> Path:
        return self.folder / "rows" / f"{job.name}.json"

    def run_path(self, job: Job) -> Path:
        return self.folder / "runs" / job.name

    def models(self, job: Job) -> list[Path]:
        """The job's models, those that are there."""
        paths = [self.run_path(job) / problem.file for problem in job.problems]
        return [path for path in paths if path.exists()]

    def _is_trained(self, job: Job) -> bool:
        return len(self.models(job)) == len(job.problems)

    def is_done(self, job: Job) -> bool:
        """Whether all rows are there."""
        return len(self.rows(job)) == len(job.problems)

    def is_exact(self, job: Job) -> bool:
        """Whether log Z is an estimate in none of them."""
        return self.is_done(job) and all(row["log_z_by"] != ESTIMATED for row in self.rows(job))

    def _train(self, job: Job) -> Outcome:
        """First stage: train, and evaluate with an estimate of log Z."""
        if self.is_done(job):
            return Outcome.DONE
        left = (self.deadline - time.monotonic()) / 60
        if not (job.travels or self._is_trained(job) or job.minutes < left):
            return Outcome.NO_TIME
        settings = job.settings(self.rehearse)
        how = {"num_repeats": job.num_repeats, "estimate": True}
        if self.rehearse:
            how |= {"n": 100, "num_repeats": min(2, job.num_repeats)}
        rows: list[dict[str, Any]] = []
        for path in train(self.run_path(job), settings, job.problems, recipe=job.recipe):
            rows.append({**rated(path, **how), "command": job.command})
            self._save(job, rows)
        return Outcome.WORKED

    def _make_exact(self, job: Job) -> Outcome:
        """Second stage: log Z over all states in place of its estimate."""
        if self.is_exact(job):
            return Outcome.DONE
        if not (self.is_done(job) and self._is_trained(job)):
            return Outcome.LATER
        rows = {(row["data"], row["seed"]): row for row in self.rows(job)}
        order = sorted(job.problems, key=lambda problem: problem.seed)
        for problem in order:
            row = rows[problem]
            if row["log_z_by"] == ESTIMATED:
                model = load(self.run_path(job) / problem.file)
                rows[problem] = {**row, **self._exact_row(model)}
                self._save(job, list(rows.values()))
        return Outcome.WORKED

    def _exact_row(self, model: Trained) -> dict[str, Any]:
        """The columns that log Z changes."""
        began = time.monotonic()
        if self.rehearse:  # 2^32 states are too many for a CPU
            log_z = float(evaluate.log_z_by_importance(model.f, model.about.data)[0].value)
        else:
            log_z = exact.streamed_log_z(model.f, methods.SPACE, log2_chunk=fastest_chunk())
        print(f"log Z in {time.monotonic() - began:.1f} s", flush=True)
        return evaluate.evaluate(model, exact_log_z=log_z, estimate=True, num_repeats=0)

    def _save(self, job: Job, rows: list[dict[str, Any]]) -> None:
        path = self.rows_path(job)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, json.dumps([{**provenance(), **row} for row in rows], indent=1) + "\n")


def _prepare() -> None:
    """Use the time: draw what every evaluation needs, which takes a CPU a minute and is kept."""
    for name in DATA_SETS:
        evaluate.fresh_data(name)
        evaluate.proposals(name)


@cache
def fastest_chunk() -> int:
    """The log2_chunk with which this machine sums fastest: what fits its cache is read faster."""
    space = Bits(26)
    f = MLP(space, hidden=methods.PAPER.f_hidden, key=jax.random.key(0))

    def seconds(log2_chunk: int) -> float:
        took: list[float] = []
        for _ in range(4):  # the first one compiles
            began = time.monotonic()
            exact.streamed_log_z(f, space, log2_chunk=log2_chunk)
            took.append(time.monotonic() - began)
        return min(took[1:])

    measured = {size: seconds(size) for size in CHUNKS}
    print(f"log Z over 2^26 states, seconds by log2_chunk: {measured}", flush=True)
    return min(measured, key=lambda size: measured[size])


def _read(path: Path) -> list[dict[str, Any]]:
    try:
        return json.loads(path.read_text())
    except FileNotFoundError:
        return []
    except ValueError as error:
        raise InputError(f"{path} is damaged: {error}; remove it") from None
