"""Jobs of fuzzers: drawn in a fair order, run one at a time on each core."""

import os
import random
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from multiprocessing import get_context
from typing import Any, NamedTuple

from aloex.base.errors import AloexError, InputError, require

Row = dict[str, Any]


class Job(NamedTuple):
    """A fuzzer on a target, once; the target is a name or a folder."""

    target: str
    fuzzer: str
    seconds: float
    trial: int


def plan(
    targets: Sequence[str],
    fuzzers: Sequence[str],
    seconds: float,
    trials: Iterable[int],
    seed: int = 0,
) -> list[Job]:
    """All jobs: trial by trial, targets and the fuzzers of each in an order drawn by chance."""
    rng, jobs = random.Random(seed), list[Job]()
    for trial in trials:
        for target in rng.sample(targets, len(targets)):
            order = rng.sample(fuzzers, len(fuzzers))
            jobs += [Job(target, fuzzer, seconds, trial) for fuzzer in order]
    return jobs


def measure(
    jobs: Sequence[Any],
    run: Callable[[Any], list[Row]],
    cores: Sequence[int],
    save: Callable[[list[Row]], None],
    *,
    takes: float,
    within: float | None = None,
) -> int:
    """Run jobs, one at a time on each core; returns how many were left out.

    A job that fails stops no other; it is told of when all have ended.

    Args:
        jobs: what is run.
        run: makes the rows of a job, in a process of the core.
        cores: which cores.
        save: called with the rows of each job as it ends.
        takes: seconds that a job takes at most, with its end.
        within: no job is started that would end more seconds from now than this; None: all are.
    """
    there = os.sched_getaffinity(0)
    missing = [core for core in cores if core not in there]
    require(not missing, f"--cores names {missing}; this machine lends {sorted(there)}")
    started, waiting = time.monotonic(), list(jobs)[::-1]
    fits = lambda: within is None or time.monotonic() - started + takes <= within
    context = get_context("spawn")
    free = context.Queue()
    for core in cores:
        free.put(core)
    failed = list[AloexError]()
    with ProcessPoolExecutor(len(cores), context, _pin, (free,)) as pool:
        busy: set[Future[list[Row]]] = set()
        try:
            while busy or (waiting and fits()):
                while waiting and len(busy) < len(cores) and fits():
                    busy.add(pool.submit(run, waiting.pop()))
                done, busy = wait(busy, return_when=FIRST_COMPLETED)
                for future in done:
                    try:
                        save(future.result())
                    except AloexError as error:
                        failed.append(error)
        except BaseException:
            waiting.clear()
            for future in busy:
                future.cancel()
            raise
    if failed:
        raise AloexError(f"{len(failed)} of {len(jobs)} jobs failed; the first: {failed[0]}")
    return len(waiting)


def _pin(free: Any) -> None:
    """Keep this process, and all that it starts, on a core of its own."""
    os.sched_setaffinity(0, {free.get()})


def cores_in(text: str) -> list[int]:
    """The cores of "0-3,6"."""
    try:
        parts = [[int(n) for n in part.split("-")] for part in text.split(",")]
        found = [n for first, *rest in parts for n in range(first, (rest or [first])[0] + 1)]
    except ValueError:
        found = []
    if not found:
        raise InputError(f"--cores must be numbers and ranges such as 0-3,6, got {text!r}")
    return list(dict.fromkeys(found))
