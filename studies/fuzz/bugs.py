"""Bugs at equal wall-clock: when does each fuzzer first hit each planted fault?

libFuzzer and AFL++ run the target with both sanitizers, as they do where bugs are looked for; Aloex
runs its own builds. Which fault an input hits is judged by one program, whoever found it. It is
also counted how the bugs that Aloex reports stand to the faults: a fault that it reports as several
bugs is split, faults that it reports as one bug are merged.
"""

import re
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import inf
from pathlib import Path
from statistics import mean, median
from typing import Any

from aloex.apps.fuzz.bugs import Bugs
from aloex.apps.fuzz.target import Target
from studies import results
from studies.fuzz import old_library, planted
from studies.fuzz.fuzzers import start
from studies.fuzz.jobs import Job, Row, measure, plan
from studies.fuzz.judge import judge
from studies.fuzz.seconds import KEYS, OURS, shown, versions, without_rows
from studies.fuzz.timed import GRACE, run_for

STEP = 0.5  # seconds between two looks at what fails
TO_JUDGE = 60.0  # seconds that it takes at most


def run_job(job: Job) -> list[Row]:
    """The row of a job: when each fault was hit, and what else failed."""
    target = Target.load(job.target)
    binaries = planted.binaries(target)
    moments = [STEP * i for i in range(1, int(job.seconds / STEP))]
    with tempfile.TemporaryDirectory(prefix="aloex-") as name:
        folder = Path(name)
        begin = lambda again: start(
            *(job.fuzzer, target, folder / "work"),
            seconds=job.seconds,
            seed=1 + job.trial,
            again=again,
            binaries=binaries,
            forks=True,
        )._replace(corpus=())
        done = run_for(job.seconds, begin, folder, moments)
        named = named_bugs(target, [found.path for found in done.failing])
        found = first_of_each(named, [found.seconds for found in done.failing])
        is_ours = job.fuzzer.startswith(OURS)
        more = reported_bugs(target, folder / "work/out/crashes", done.said) if is_ours else {}
    row: Row = {"target": target.name, "fuzzer": job.fuzzer, "seconds": job.seconds}
    row |= {"trial": job.trial, "found": found, "failing": len(named)}
    row |= {"executions": done.executions, "starts": done.starts}
    row |= {"started": shown(done, name, target), "versions": versions(target, job.fuzzer)}
    return [row | more]


def named_bugs(target: Target, inputs: Sequence[Path]) -> list[str | None]:
    """The fault that each input hits, by its public name if it has one."""
    public = old_library.known(target.name)
    names = judge(planted.judge_of(target), inputs)
    return [public.get(name, name) if name else None for name in names]


def first_of_each(names: Iterable[str | None], seconds: Iterable[float]) -> dict[str, float]:
    """When each bug was hit first; inputs that end well count for nothing."""
    found = dict[str, float]()
    for name, at in zip(names, seconds, strict=True):
        if name is not None:
            found[name] = min(at, found.get(name, at))
    return found


def reported_bugs(target: Target, crashes: Path, said: str) -> Row:
    """The number of bugs that Aloex tells of, and how they stand to the faults of their inputs."""
    told = re.findall(r"^bugs: (\d+)", said, re.MULTILINE)
    with Bugs(crashes, target) as bugs:
        kept = [(bug.place, crashes / name) for bug in bugs.all() for name in bug.kept]
    faults = named_bugs(target, [path for _, path in kept])
    pairs = zip([place for place, _ in kept], faults, strict=True)
    return {"reported": int(told[-1]) if told else 0, **splits_and_merges(pairs)}


def splits_and_merges(pairs: Iterable[tuple[str, str | None]]) -> Row:
    """From the bug and the fault of each input: faults split over bugs, bugs that merge faults."""
    bugs_of, faults_of = defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)
    for bug, fault in pairs:
        if fault is not None:
            bugs_of[fault].add(bug)
            faults_of[bug].add(fault)
    split = sum(len(bugs) > 1 for bugs in bugs_of.values())
    return {"split": split, "merged": sum(len(faults) > 1 for faults in faults_of.values())}


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
    for name in targets:
        planted.binaries(Target.load(name))  # all is there
    todo = without_rows(plan(targets, fuzzers, seconds, trials, seed), out)

    def save(rows: list[Row]) -> None:
        results.save(out, rows, KEYS, quiet=True)
        for row in rows:
            faults = ", ".join(f"{name} {at:g} s" for name, at in row["found"].items()) or "nothing"
            tell(f"{row['target']}, {row['fuzzer']}, trial {row['trial']}: {faults}")

    takes = seconds + GRACE + TO_JUDGE
    return measure(todo, run_job, cores, save, takes=takes, within=within)


def table(
    rows: Sequence[Row], seconds: float, planted_in: Mapping[str, Sequence[str]], ours: str = OURS
) -> str:
    """For each fault and fuzzer: in how many trials it was hit, and the median second, if in most.

    Below, the mean number of faults in a trial over all targets, and p of Mann and Whitney's test
    against ours, adjusted by Holm.
    """
    of = defaultdict[tuple[str, str], list[Row]](list)
    for row in rows:
        if row["seconds"] == seconds:
            of[row["target"], row["fuzzer"]].append(row)
    fuzzers = sorted({fuzzer for _, fuzzer in of}, key=lambda name: (name != ours, name))
    lines = [
        [target, fault, *(when(of[target, fuzzer], fault) for fuzzer in fuzzers)]
        for target, faults in planted_in.items()
        for fault in faults
    ]
    totals = {fuzzer: faults_of_trials(rows, fuzzer, seconds, planted_in) for fuzzer in fuzzers}
    all_planted = sum(map(len, planted_in.values()))
    means = [f"{mean(totals[fuzzer]):.1f}" if totals[fuzzer] else "" for fuzzer in fuzzers]
    lines.append([f"of {all_planted} faults, in a trial", "", *means])
    lines.append(["p, by Holm", "", *_tests(totals, ours)])
    return results.markdown(["target", f"fault, {seconds:g} s", *fuzzers], lines)


def faults_of_trials(
    rows: Iterable[Row], fuzzer: str, seconds: float, planted_in: Mapping[str, Sequence[str]]
) -> list[int]:
    """How many planted faults a fuzzer hit in each trial that has all targets."""
    hit, targets = defaultdict[int, int](int), defaultdict[int, set[str]](set)
    for row in rows:
        if (row["fuzzer"], row["seconds"]) == (fuzzer, seconds) and row["target"] in planted_in:
            targets[row["trial"]].add(row["target"])
            hit[row["trial"]] += len(set(row["found"]) & set(planted_in[row["target"]]))
    return [hit[trial] for trial in sorted(hit) if len(targets[trial]) == len(planted_in)]


def hits(rows: Iterable[Row], fault: str) -> list[float]:
    """When a fault was hit in each trial, in seconds; infinite where it was not."""
    return [row["found"].get(fault, inf) for row in rows]


def when(rows: Sequence[Row], fault: str) -> str:
    """In how many trials a fault was hit, and the median second if that is finite."""
    if not rows:
        return ""
    hit = hits(rows, fault)
    middle = median(hit)
    shown = f", {middle:g} s" if middle < inf else ""
    return f"{sum(at < inf for at in hit)} of {len(hit)}{shown}"


def _tests(totals: Mapping[str, list[int]], ours: str) -> list[str]:
    from studies.fuzz.compare import versus  # SciPy: not where the rows are made
    from studies.statistics import holm

    others = [name for name in totals if name != ours and totals[name] and totals.get(ours)]
    p_values = holm([versus(totals[ours], totals[name]).p_value for name in others])
    told: dict[str, Any] = dict(zip(others, p_values, strict=True))
    return [f"{told[name]:.2g}" if name in told else "" for name in totals]
