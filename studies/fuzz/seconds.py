"""Coverage at equal wall-clock: each fuzzer has one core and so many seconds, from its start.

Every core runs one job after the other: a target, a fuzzer and a trial. The jobs of a trial follow
each other in an order drawn by chance, so that noise of the machine meets all fuzzers alike. What a
fuzzer kept is replayed, after the seeds, in one library, whichever fuzzer it was.
"""

import re
import tempfile
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, TypeVar

import aloex
from aloex.apps.fuzz.execute import Executor
from aloex.apps.fuzz.target import Target
from aloex.apps.fuzz.tools import run_tool
from studies import results
from studies.fuzz.fuzzers import start
from studies.fuzz.jobs import Job, Row, measure, plan
from studies.fuzz.timed import GRACE, Found, Run, run_for

if TYPE_CHECKING:
    from studies.fuzz.compare import Versus

KEYS = ("target", "fuzzer", "seconds", "trial")
NUM_MOMENTS = 7  # of a curve: the end, half of the time, a quarter, ...
OURS = "aloex"
Case = TypeVar("Case")  # a target, or a target and a time


def run_job(job: Job) -> list[Row]:
    """The row of a job."""
    target = Target.load(job.target)
    moments = [job.seconds / 2**i for i in range(NUM_MOMENTS)]
    with tempfile.TemporaryDirectory(prefix="aloex-") as name:
        done = run_fuzzer(job, target, Path(name), moments)
        curve = replay(target, done.kept, moments)
    row: Row = {"target": target.name, "fuzzer": job.fuzzer, "seconds": job.seconds}
    last = curve[-1]
    row |= {"trial": job.trial, "edges": last[1], "features": last[2]}
    row |= {"executions": done.executions, "crashes": done.crashes, "starts": done.starts}
    row |= {"kept": len(done.kept), "curve": curve, "started": shown(done, name, target)}
    return [row | {"versions": versions(target, job.fuzzer)}]


def run_fuzzer(job: Job, target: Target, folder: Path, moments: Sequence[float]) -> Run:
    """Run the fuzzer of a job in an empty folder; `moments` as of `run_for`."""
    begin = lambda again: start(
        job.fuzzer,
        target,
        folder / "work",
        seconds=job.seconds,
        seed=1 + job.trial,
        again=again,
    )
    return run_for(job.seconds, begin, folder, moments)


def replay(
    target: Target, kept: Sequence[Found], moments: Sequence[float]
) -> list[tuple[float, int, int]]:
    """Edges and features of the seeds and of what was kept, by time: [seconds, edges, features]."""
    curve = list[tuple[float, int, int]]()
    by_time = {s: [*group] for s, group in groupby(kept, key=lambda found: found.seconds)}
    with Executor(target, workers=1) as executor:
        executor.run(target.read_seeds())
        for moment in sorted({*moments, *by_time}):
            executor.run([found.path.read_bytes() for found in by_time.get(moment, [])])
            curve.append((round(moment, 3), executor.edges, executor.features))
    return curve


def shown(done: Run, folder: str, target: Target) -> str:
    """How it was started, without the paths of this machine."""
    where = {f"{folder}/work": "WORK", str(target.library.parent.absolute()): "TARGET"}
    words = [Path(done.command[0]).name, *done.command[1:]]
    for path, name in where.items():
        words = [word.replace(path, name) for word in words]
    return " ".join(words)


def versions(target: Target, fuzzer: str) -> dict[str, str]:
    """What was measured: the fuzzer, what it ran, and the compiler of that."""
    source = Path(target.source)  # a package, or a folder, whose path is of this machine
    found = {"source": source.name, "aloex": aloex.__version__}
    compiler = re.search(rb"clang version ([\w.]+)", target.library.read_bytes())
    found |= {"clang": compiler[1].decode()} if compiler else {}
    if fuzzer == "aflpp":
        told = run_tool(["afl-fuzz", "-h"], check=False)
        found |= (
            {"afl-fuzz": version[1]}
            if (version := re.search(r"afl-fuzz\+\+([\w.]+)", told.stdout + told.stderr))
            else {}
        )
    return found


def make(
    targets: Sequence[str],
    fuzzers: Sequence[str],
    out: Path,
    *,
    seconds: float,
    trials: Iterable[int],
    cores: Sequence[int],
    seed: int = 0,
    within: float | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> int:
    """Run the jobs that have no row in `out`; may be stopped and repeated. Returns what is left."""
    for name in targets:  # a mistake is told of before an hour has gone by
        for fuzzer in fuzzers:
            with tempfile.TemporaryDirectory(prefix="aloex-") as folder:
                start(fuzzer, Target.load(name), Path(folder), seconds=seconds, seed=0)
    todo = without_rows(plan(targets, fuzzers, seconds, trials, seed), out)

    def save(rows: list[Row]) -> None:
        results.save(out, rows, KEYS, quiet=True)
        for row in rows:
            numbers = f"{row['edges']} edges, {row['executions']} executions"
            tell(f"{row['target']}, {row['fuzzer']}, trial {row['trial']}: {numbers}")

    takes = seconds + GRACE
    return measure(todo, run_job, cores, save, takes=takes, within=within)


def without_rows(jobs: Iterable[Job], out: Path) -> list[Job]:
    """The jobs that have no row in `out`, if that is there."""
    there = {tuple(r[k] for k in KEYS) for r in results.read(out)} if out.exists() else set()
    name = lambda job: Target.load(job.target).name
    return [job for job in jobs if (name(job), *job[1:]) not in there]


def by_fuzzer(rows: Iterable[Row], seconds: float) -> dict[tuple[str, str], list[Row]]:
    """The rows of each target and fuzzer that had so many seconds, trial by trial."""
    found: dict[tuple[str, str], list[Row]] = {}
    for row in sorted(rows, key=lambda row: row["trial"]):
        if row["seconds"] == seconds:
            found.setdefault((row["target"], row["fuzzer"]), []).append(row)
    return found


def against_ours(
    edges: dict[tuple[Case, str], list[int]], ours: str = OURS
) -> dict[tuple[Case, str], "Versus"]:
    """Ours against each other fuzzer in each case: Mann and Whitney's test, and A12 of ours.

    The p values are adjusted by Holm's method for all of them, which are all that were declared.
    """
    from studies.fuzz.compare import versus  # SciPy: not where the rows are made
    from studies.statistics import holm

    tests = {
        (case, fuzzer): versus(edges[case, ours], edges[case, fuzzer])
        for case, fuzzer in edges
        if fuzzer != ours and (case, ours) in edges
    }
    p_values = holm([test.p_value for test in tests.values()])
    adjusted = zip(tests.items(), p_values, strict=True)
    return {key: test._replace(p_value=p_value) for (key, test), p_value in adjusted}


def table(rows: Sequence[Row], seconds: float, ours: str = OURS) -> str:
    """Each fuzzer beside ours: median, all values, and what `against_ours` says."""
    found = by_fuzzer(rows, seconds)
    edges = {key: [row["edges"] for row in some] for key, some in found.items()}
    tests = against_ours(edges, ours)
    cells = {key: [f"{test.p_value:.2g}", f"{test.a12:.2f}"] for key, test in tests.items()}
    lines = []
    for key in sorted(found, key=lambda key: (key[0], key[1] != ours, -median(edges[key]))):
        rate = median(row["executions"] for row in found[key]) / seconds
        values = " ".join(map(str, edges[key]))
        middle = f"{median(edges[key]):g}"
        lines.append([*key, middle, values, f"{rate:.0f}", *cells.get(key, ["", ""])])
    head = ["target", f"fuzzer, {seconds:g} s", "median", "edges", "inputs/s", "p", "A12 of ours"]
    return results.markdown(head, lines)
