"""Coverage at equal executions: fuzzers that go on from what they found, one core each.

Aloex runs a campaign, as users do, alone (`aloex`) or with a model (`aloex+masked`). A rival has a
run of its own for each number of inputs. What each has kept by then is replayed after the seeds
in one library, whichever fuzzer it was.
"""

import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from aloex.apps.fuzz.campaign import CampaignSettings, open_campaign
from aloex.apps.fuzz.execute import Executor
from aloex.apps.fuzz.target import Target
from aloex.base.errors import InputError, require
from studies import results
from studies.fuzz.jobs import Row, measure
from studies.fuzz.rivals import RIVALS
from studies.fuzz.study import KEYS, row_of

OURS, FEEDBACK = "aloex", "feedback"
COUNTS = (1000, 10_000, 100_000, 1_000_000)


class Job(NamedTuple):
    """A fuzzer on a target, once; the target is a name or a folder."""

    target: str
    method: str
    model: Path | None
    counts: tuple[int, ...]  # when to read off the coverage, ascending
    trial: int


def make(
    targets: Sequence[str],
    methods: Sequence[str],
    out: Path,
    *,
    trials: Iterable[int],
    cores: Sequence[int],
    counts: Sequence[int] = COUNTS,
    models: Path | None = None,
    takes: float = 0.0,
    within: float | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> int:
    """Run what has no row in `out`; may be stopped and repeated. Returns the number of jobs left.

    Args:
        targets: names or folders.
        methods: `aloex`, rivals, or `aloex+NAME` with TARGET.NAME.safetensors in `models`.
        trials, counts: which, and how many inputs.
        cores, takes, within: as of `measure`.
    """
    good = len(counts) > 0 and min(counts) >= 1
    require(good, f"numbers of inputs must be positive, got {list(counts)}")
    jobs = [
        job
        for trial in trials
        for target in targets
        for method in methods
        for job in _jobs(target, method, models, sorted({*counts}), trial)
    ]
    names = {target: Target.load(target).name for target in targets}
    rows = results.read(out) if out.exists() else []
    there = {tuple(row[key] for key in KEYS) for row in rows}
    key = lambda job, n: (names[job.target], job.method, FEEDBACK, 0, n, job.trial, True)
    todo = [job for job in jobs if not all(key(job, n) in there for n in job.counts)]

    def save(rows: list[Row]) -> None:
        results.save(out, rows, KEYS, quiet=True)
        for row in rows:
            what = f"{row['target']}, {row['method']}, {row['inputs']} inputs, trial {row['trial']}"
            tell(f"{what}: {row['edges']} edges")

    return measure(todo, run_job, cores, save, takes=takes, within=within)


def _jobs(
    target: str, method: str, models: Path | None, counts: Sequence[int], trial: int
) -> list[Job]:
    """One job for all numbers of inputs if it can go on from one to the next, else one for each."""
    if method in RIVALS:
        return [Job(target, method, None, (n,), trial) for n in counts]
    name, _, learned = method.partition("+")
    if name != OURS:
        raise InputError(
            f"no fuzzer {method!r}; choose one of {', '.join([OURS, *RIVALS])}, or "
            f"{OURS}+masked with --models FOLDER"
        )
    model = None
    if learned:
        require(models is not None, f"{method} needs --models FOLDER, with what learn wrote")
        model = (models or Path()) / f"{Target.load(target).name}.{learned}.safetensors"
        require(model.exists(), f"there is no model {model}; make it: aloex fuzz learn CORPUS")
    return [Job(target, method, model, tuple(counts), trial)]


def run_job(job: Job) -> list[Row]:
    """The rows of a job."""
    target = Target.load(job.target)
    head: Row = {"target": target.name, "method": job.method, "mode": FEEDBACK, "edits": 0}
    head |= {"trial": job.trial}
    run = _rival if job.method in RIVALS else _campaign
    return [head | row for row in run(job, target)]


def _campaign(job: Job, target: Target) -> list[Row]:
    rows = list[Row]()
    with tempfile.TemporaryDirectory(prefix="aloex-") as folder:
        settings = CampaignSettings(
            target=job.target, model=job.model, seed=job.trial, out=Path(folder), workers=1
        )
        with open_campaign(settings) as campaign:
            for n in job.counts:
                if not campaign.run(num_inputs=n):
                    raise KeyboardInterrupt  # there are no rows of a part
                kept = [path.read_bytes() for path in sorted((Path(folder) / "corpus").iterdir())]
                rows.append(_row(target, kept, n, campaign.record.seconds))
    return rows


def _rival(job: Job, target: Target) -> list[Row]:
    (n,), start = job.counts, time.monotonic()
    corpus = RIVALS[job.method](target, n, seed=job.trial + 1)
    return [_row(target, corpus, n, time.monotonic() - start)]


def _row(target: Target, corpus: Sequence[bytes], inputs: int, seconds: float) -> dict[str, Any]:
    """What a corpus covers, with the seeds."""
    with Executor(target, workers=1) as executor:
        executor.run(target.read_seeds())
        executor.run(corpus)
        return row_of(executor.seen, True, inputs=inputs, seconds=round(seconds, 3))
