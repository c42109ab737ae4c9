"""Run a fuzzer for a time by the clock, and keep what it has found at several moments of it.

The clock starts with the fuzzer. What it keeps is looked at from outside: its files are linked into
a folder of ours, in which they stay when it replaces or trims them. When its time is over it is
asked to end, and killed if it does not.
"""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from aloex.base.errors import AloexError
from studies.fuzz.fuzzers import Start

GRACE = 30.0  # seconds to end in: nothing is looked for any more, but reports are written
MAX_STARTS = 500
SHORTEST = 1.0  # seconds for which it is worth to start again
MAX_SHOWN = 300  # characters of what a fuzzer said, in a message


class Found(NamedTuple):
    """An input and when it was there, at the latest, in seconds from the start."""

    path: Path
    seconds: float


class Run(NamedTuple):
    """What a fuzzer kept, what failed, and what it said of itself."""

    kept: list[Found]
    failing: list[Found]
    executions: int
    crashes: int
    starts: int
    command: list[str]
    said: str


def run_for(
    seconds: float,
    begin: Callable[[int], Start],
    folder: Path,
    moments: Sequence[float],
) -> Run:
    """Run a fuzzer; if it ends early, it is started again on what it has.

    Args:
        seconds: how long.
        begin: how it is started for the first time, the second, ...
        folder: an empty folder, for it and for us.
        moments: when to look at what it keeps, besides the end.
    """
    looks = sorted({*(t for t in moments if 0 < t < seconds), seconds})
    work = folder / "work"
    work.mkdir()
    kept, failing = Links(folder / "kept"), Links(folder / "failing")
    started, executions, crashes, starts, said = time.monotonic(), 0, 0, 0, ""
    clock = lambda: time.monotonic() - started
    how = begin(0)
    while starts == 0 or seconds - clock() > SHORTEST:
        how = begin(starts)
        log = folder / f"log.{starts}"
        starts += 1
        with _started(how, work, log) as process:
            while looks:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(max(0.0, looks[0] - clock()))
                    break
                kept.look(work, how.corpus, looks[0])
                failing.look(work, how.failing, looks[0])
                looks.pop(0)
            _end(process)
        said = log.read_text(errors="replace")
        executions += how.executions(said, work)
        crashes += how.crashes(said, work)
        if not looks:
            break
        if starts == MAX_STARTS:
            words = said.strip()[-MAX_SHOWN:]
            raise AloexError(f"{how.command[0]} ended {starts} times in {clock():.0f} s: {words}")
    kept.look(work, how.corpus, seconds)  # written as it ended
    failing.look(work, how.failing, seconds)
    if executions == 0:
        words = said.strip()[-MAX_SHOWN:]
        raise AloexError(f"{Path(how.command[0]).name} ran no input: {words}")
    return Run(kept.found, failing.found, executions, crashes, starts, how.command, said)


class Links:
    """Links to the files of a fuzzer, made when they were first seen."""

    def __init__(self, folder: Path):
        folder.mkdir()
        self.folder, self.found = folder, list[Found]()
        self._known: set[str] = set()

    def look(self, work: Path, patterns: Sequence[str], seconds: float) -> None:
        """Link the files that are new."""
        for pattern in patterns:
            for path in sorted(work.glob(pattern)):
                if path.name not in self._known and path.is_file():
                    link = self.folder / str(len(self._known))
                    with contextlib.suppress(FileNotFoundError):  # it is gone already
                        os.link(path, link)
                        self._known.add(path.name)
                        self.found.append(Found(link, seconds))


@contextlib.contextmanager
def _started(how: Start, work: Path, log: Path):
    """The process; all that it started is gone at the end of the block."""
    # Python's path may be relative to here, so this is where it runs.
    with log.open("w") as said:
        process = subprocess.Popen(
            how.command,
            env={**os.environ, **how.settings},
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            start_new_session=True,  # its group can be killed
        )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ask it to end, and wait for a while."""
    if process.poll() is None:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(GRACE)
