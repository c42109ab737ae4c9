"""Make a failing input small, with the fault that it has.

Candidates are run in batches by the program that shows the fault, and one is good if it fails at
the same site: no helper is asked. In the end the program that decides what the bug is has the last
word.
"""

import time

from aloex.apps.fuzz.bugs.crash_file import CrashFile
from aloex.apps.fuzz.bugs.fault import fault_of
from aloex.apps.fuzz.bugs.shrink import MAX_BATCH, BudgetSpent, Shrinker
from aloex.apps.fuzz.bugs.verdict import Judge
from aloex.base.errors import AloexError

MAX_HANGS = 2  # in a batch: each takes all the time that an input may take
VERDICT_SECONDS = 2.0  # for the last word, if time is up


def minimise(
    judge: Judge,
    data: bytes,
    crash: CrashFile,
    *,
    max_seconds: float,
    max_runs: int,
    workers: int | None,
) -> bytes | None:
    """A smaller input with the same fault, or the same input; None if a run was lost or too slow.

    Args:
        judge: runs the inputs.
        data: the input.
        crash: what is known of it.
        max_seconds, max_runs: what it may take.
        workers: number of processes; all cores if None.
    """
    stop = time.monotonic() + max_seconds
    sanitized = judge.is_sanitized(crash.fault)
    program = judge.program(sanitized)
    try:
        with judge.new_executor(sanitized=sanitized, workers=workers) as executor:

            def sites(inputs: list[bytes]) -> list[str]:
                found = [""] * len(inputs)
                try:
                    left = max(0.0, stop - time.monotonic())
                    failures = executor.run(inputs, max_seconds=left).failures
                except TimeoutError:
                    raise BudgetSpent from None
                for failure in failures:
                    found[failure.index] = fault_of(failure, program).site
                return found

            (wanted,) = sites([data])
            if not wanted:  # it does not fail by itself
                return data
            shrinker = Shrinker(
                data,
                test=lambda inputs: [site == wanted for site in sites(inputs)],
                max_runs=max_runs,
                is_late=lambda: time.monotonic() > stop,
                max_batch=MAX_HANGS if crash.fault.kind == "hang" else MAX_BATCH,
            )
            small = shrinker.run()
    except (AloexError, BudgetSpent):
        return None
    if small == data or sanitized:
        return small
    seconds = max(VERDICT_SECONDS, stop - time.monotonic())
    fault = judge.fault(small, crash.found, seconds=seconds)
    if fault is None:
        return None
    return small if fault.site == crash.fault.site else data
