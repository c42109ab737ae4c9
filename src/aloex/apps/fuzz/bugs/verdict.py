"""What a failing input does in a program with sanitizers: its report says more than a signal.

A hang or a lack of memory is told by the run that found it, for time and memory differ.
"""

import math
import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from aloex.apps.fuzz.bugs.fault import Fault, fault_in, fault_of
from aloex.apps.fuzz.execute import Executor
from aloex.apps.fuzz.inputs import ExitStatus
from aloex.apps.fuzz.target import Target, read_elf
from aloex.apps.fuzz.tools import ToolOutput, run_tool
from aloex.base.errors import AloexError

SLOWER = 5  # how many times as long a program with sanitizers may take
SPARE = 10.0  # seconds for a program to start and to report
BINARY, REPLAY = "asan", "replay"  # ways to reproduce a fault: libFuzzer's, the campaign's
OPTIONS = {  # no helper process; a stack for each error
    "ASAN_OPTIONS": "symbolize=0:handle_abort=1:detect_leaks=0:allocator_may_return_null=0",
    "UBSAN_OPTIONS": "symbolize=0:print_stacktrace=1:report_error_type=1",
}
FULL_REPORT = ["env", "UBSAN_OPTIONS=print_stacktrace=1:report_error_type=1"]  # for a user


class Judge:
    """Runs failing inputs once more; use it in a `with` block.

    Args:
        target: the target that they fail.
        timeout, memory_mb: what the run that found them was allowed.
    """

    def __init__(self, target: Target, *, timeout: float, memory_mb: int):
        self.target, self.timeout, self.memory_mb = target, timeout, memory_mb
        self._executor: Executor | None = None
        is_program = target.asan is None and read_elf(target.library).is_program
        self._binary = target.library if is_program else target.asan  # with libFuzzer
        self._is_stuck = False  # it did not end once

    def close(self) -> None:
        """End the worker."""
        if self._executor is not None:
            self._executor.close()
            self._executor = None

    def new_executor(self, *, sanitized: bool, workers: int | None = 1) -> Executor:
        """An executor for some inputs at a time."""
        limits: dict[str, Any] = {"timeout": self.timeout, "memory_mb": self.memory_mb}
        if sanitized:
            limits = {**limits, "timeout": SLOWER * self.timeout, "sanitized": True}
        return Executor(self.target, workers=workers, **limits)

    def is_sanitized(self, fault: Fault) -> bool:
        """Whether a fault was seen in the worker with sanitizers."""
        names = {Path(address.module).name for address in fault.stack}
        return self.target.sanitized is not None and self.target.sanitized.name in names

    def program(self, sanitized: bool) -> Path:
        """The program or library whose addresses a worker reports."""
        return ((self.target.sanitized if sanitized else None) or self.target.library).absolute()

    def fault(self, data: bytes, found: Fault, *, seconds: float = math.inf) -> Fault | None:
        """The fault of an input in a program with sanitizers; None if that run was lost.

        Args:
            data: the input.
            found: its fault in the library. It stays if there is no other program, and if the
                input ends well there.
            seconds: that it may take; then it is lost.
        """
        if found.kind in ("hang", "oom"):
            return found
        try:
            if self.target.sanitized is not None:
                return self._in_worker(data, found, seconds)
            if self.target.asan is not None:
                return self._in_program(data, found, seconds)
        except (AloexError, OSError):
            return None
        return found

    def _in_worker(self, data: bytes, found: Fault, seconds: float) -> Fault | None:
        if self._executor is None:
            self._executor = self.new_executor(sanitized=True)
        failures = self._executor.run([data], max_seconds=seconds).failures
        if not failures:
            return found
        fault = fault_of(failures[0], self.program(sanitized=True))
        is_lost = failures[0].status != ExitStatus.CRASH or not (fault.stack or fault.line)
        return None if is_lost else fault

    def _in_program(self, data: bytes, found: Fault, seconds: float) -> Fault | None:
        end = self._run(data, found, seconds)
        return found if end.status == 0 else fault_in(end.stderr, found.kind)

    def _run(self, data: bytes, fault: Fault, seconds: float) -> ToolOutput:
        """Run an input in the program that a user runs."""
        with in_file(data) as path:
            limit = min(self._patience, seconds)
            return run_tool(self._words(path, fault), env=OPTIONS, timeout=limit, check=False)

    @property
    def _patience(self) -> float:
        """Seconds after which that program will not end: stuck in its own report, say."""
        return SLOWER * self.timeout + SPARE

    def way(self, data: bytes, fault: Fault, *, seconds: float = math.inf) -> str:
        """How to reproduce a fault that the library has shown, too; empty if time was too short.

        By the program with sanitizers, if it was seen to end in the same kind. Else as a campaign
        has run the input.
        """
        if self._binary is None or self._is_stuck:
            return REPLAY
        try:
            end = self._run(data, fault, seconds)
        except (AloexError, OSError):
            self._is_stuck = seconds >= self._patience
            return REPLAY if self._is_stuck else ""
        told = fault_in(end.stderr, fault.kind)
        is_same = end.status != 0 and told is not None and told.kind == fault.kind
        return BINARY if is_same else REPLAY

    def command(self, way: str, path: Path, fault: Fault) -> str:
        """The command that reproduces a fault, to paste into a shell."""
        if way == BINARY and self._binary is not None:  # it may be gone since
            return shlex.join([*(FULL_REPORT if fault.line else []), *self._words(path, fault)])
        aloex = ["aloex"] if shutil.which("aloex") else [sys.executable, "-m", "aloex"]
        limits = ["--timeout", f"{self.timeout:g}", "--memory", str(self.memory_mb)]
        files = [os.path.abspath(self.target.library), os.path.abspath(path)]
        return shlex.join([*aloex, "fuzz", "replay", *limits, *files])

    def _words(self, path: Path, fault: Fault) -> list[str]:
        limits: list[str] = []
        if fault.kind == "hang":
            limits = [f"-timeout={math.ceil(self.timeout)}"]
        elif fault.kind == "oom":
            limits = [f"-rss_limit_mb={self.memory_mb}", f"-malloc_limit_mb={self.memory_mb}"]
        assert self._binary is not None
        return [os.path.abspath(self._binary), *limits, os.path.abspath(path)]


@contextmanager
def in_file(data: bytes) -> Generator[Path]:
    """An input in a file of its own."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        yield Path(file.name)
