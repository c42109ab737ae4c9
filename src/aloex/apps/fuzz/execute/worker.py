"""A worker process: the program in native/worker, and the memory that it shares with us."""

import contextlib
import ctypes
import math
import mmap
import os
import select
import signal
import subprocess
from collections.abc import Iterable
from ctypes import c_uint32, c_uint64
from enum import IntEnum
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from aloex.apps.fuzz.native import Counts, Engine, compiled, version
from aloex.apps.fuzz.native.engine import MAX_INPUTS
from aloex.apps.fuzz.target import Binary, Target, read_elf
from aloex.base.errors import InputError, require

MAX_START = 10.0  # seconds for a target to load
SANITIZER_OPTIONS = {
    "ASAN_OPTIONS": "detect_leaks=0:handle_abort=1:handle_sigill=1:handle_sigtrap=1:symbolize=0",
    "UBSAN_OPTIONS": "print_stacktrace=1:report_error_type=1:symbolize=0",
}
# A program that the worker is preloaded into may have sanitizers of its own. 2: their handlers of
# signals stay when the worker sets its own, for they say more.
SIGNALS = ("segv", "sigbus", "sigill", "sigfpe", "sigtrap", "abort")
PRELOADED_OPTIONS = {
    **SANITIZER_OPTIONS,
    "ASAN_OPTIONS": ":".join(
        [SANITIZER_OPTIONS["ASAN_OPTIONS"], *(f"handle_{name}=2" for name in SIGNALS)]
    ),
}


Number = TypeVar("Number", bound=np.generic)


class Source(IntEnum):
    """Which inputs a worker runs: `enum source` in native/worker/worker.h."""

    GIVEN = 0
    MUTANTS = 1
    TRACED = 2


class Arena(ctypes.Structure):
    """struct arena in native/worker/worker.h."""

    _fields_ = (
        *((name, c_uint64) for name in ("version", "size", "num_edges", "log_size")),
        *((name, c_uint64) for name in ("data", "bounds", "seen", "hits", "chosen", "log")),
        ("first", c_uint64),
        ("stop", c_uint64),
        *((name, c_uint32) for name in ("source", "all", "full", "is_new")),
        ("skips_slow", c_uint32),
        ("num_slow", c_uint32),
        ("is_done", c_uint32),
        ("is_oom", c_uint32),
        ("is_cut", c_uint32),
        ("num_cut", c_uint32),
        ("next", c_uint64),
        ("used", c_uint64),
        ("nanoseconds", c_uint64),
        ("counts", Counts),
    )


class WorkerDied(Exception):
    """The worker itself has died, or what it wrote is not whole; no input should cause that."""


class Answer(NamedTuple):
    """What came of a request: inputs before `next` have run."""

    next: int
    log: NDArray[np.uint8]  # see `records.py`


class Worker:
    """One worker process. Make a request, wait until `fileno` is readable, `finish` it.

    Args:
        target: the target to run.
        engine: makes the mutants; None if only given inputs are run.
        sanitized: whether to run the target's sanitized program.
        batch, max_bytes: inputs given at a time, and their bytes.
        timeout, memory_mb: what an input may take.
    """

    def __init__(
        self,
        target: Target,
        *,
        engine: Engine | None = None,
        sanitized: bool = False,
        batch: int,
        max_bytes: int,
        timeout: float,
        memory_mb: int,
    ):
        command, own = _command(target, sanitized)
        fd = os.memfd_create("aloex")
        pool = -1 if engine is None else engine.fd
        numbers = (fd, pool, batch, max_bytes, 1000 * timeout, memory_mb)
        try:
            self.process = subprocess.Popen(
                [*command, *map(str, numbers)],
                env={**os.environ, **own},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                pass_fds=(fd, pool) if engine else (fd,),
                start_new_session=True,  # the terminal's interrupt is for us alone
            )
            try:
                self._wait_for_target(target)
            except BaseException:  # such as an interrupt: it may hang
                self.close()
                raise
            self._memory = mmap.mmap(fd, 0)
            self._require_version(target)
        except OSError as error:
            raise InputError(f"the target {command[-1]} cannot be run: {error.strerror}") from None
        finally:
            os.close(fd)
        self.arena = Arena.from_buffer(self._memory)
        self.num_edges = self.arena.num_edges
        self.data = self._array("data", np.uint8, max_bytes)
        self.bounds = self._array("bounds", np.uint64, batch + 1)
        self.seen = self._array("seen", np.uint8, self.num_edges)
        self.hits = self._array("hits", np.uint32, 8 * self.num_edges)
        self.chosen = self._array("chosen", np.uint32, MAX_INPUTS if engine else 0)
        self.log = self._array("log", np.uint8, self.arena.log_size)

    def _array(self, name: str, dtype: type[Number], count: int) -> NDArray[Number]:
        return np.frombuffer(self._memory, dtype, count, getattr(self.arena, name))

    def _wait_for_target(self, target: Target) -> None:
        is_late = not ready([self], MAX_START)
        try:
            if not is_late:
                self._take_answer()
                return
        except WorkerDied:
            pass
        if is_late:
            self.process.kill()
        assert self.process.stderr is not None
        said = self.process.stderr.read().decode(errors="replace").strip()
        reason = (
            f"it died of {_death(self.process.wait())} as it was loaded; look for the fault in "
            "LLVMFuzzerInitialize, and in constructors"
        )
        if is_late:
            reason = (
                f"it was not loaded after {MAX_START:.0f} seconds; does LLVMFuzzerInitialize, or a "
                "constructor, wait for something?"
            )
        elif said:
            reason = said.splitlines()[-1]
        raise InputError(f"the target {target.library} cannot be used: {reason}")

    def _require_version(self, target: Target) -> None:
        if c_uint64.from_buffer(self._memory).value != version():
            self.close()
            raise InputError(
                f"the target {target.name} was built by another version of Aloex; build it again: "
                "aloex fuzz build"
            )

    def fileno(self) -> int:
        """Readable when a request is done or the worker is gone."""
        assert self.process.stdout is not None
        return self.process.stdout.fileno()

    def run_given(
        self,
        data: bytes | np.ndarray,
        bounds: np.ndarray,
        *,
        full: bool = False,
        each: bool = True,
        source: Source = Source.GIVEN,
    ) -> None:
        """Begin to run or trace inputs: input i is data[bounds[i] : bounds[i + 1]].

        Args:
            data, bounds: the inputs.
            full: whether records have all features, not only the new ones.
            each: whether there is a record of each input, or only of those with something new.
            source: whether to run or to trace them.
        """
        self.data[: len(data)] = np.frombuffer(data, np.uint8)
        self.bounds[: len(bounds)] = bounds
        self._ask(0, len(bounds) - 1, source=source, all=each, full=full, is_new=1)

    def run_mutants(self, first: int, stop: int, *, skips_slow: bool = False) -> None:
        """Begin to run mutants first..stop - 1; those that seem to hang may be passed over."""
        how = {"all": 0, "full": 1, "is_new": 1, "skips_slow": int(skips_slow)}
        self._ask(first, stop, source=Source.MUTANTS, **how)

    def go_on(self, first: int) -> None:
        """Begin to run the rest of a request whose answer ended early."""
        self.arena.first, self.arena.is_new = first, 0
        self._send()

    def _ask(self, first: int, stop: int, **how: int) -> None:
        arena = self.arena
        arena.first, arena.stop = first, stop
        for name, value in how.items():
            setattr(arena, name, value)
        self._send()

    def _send(self) -> None:
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it is gone: `finish` will tell
            self.process.stdin.write(b"r")

    def finish(self) -> Answer:
        """The answer to the request."""
        self._take_answer()
        arena = self.arena
        if not arena.first < arena.next <= arena.stop:
            raise WorkerDied
        used = min(arena.used, arena.log_size)
        return Answer(arena.next, self.log[:used].copy())

    def _take_answer(self) -> None:
        assert self.process.stdout is not None
        if not self.process.stdout.read(1):
            raise WorkerDied

    @property
    def is_alive(self) -> bool:
        """Whether it can take a request."""
        return self.process.poll() is None

    def close(self) -> None:
        """End the process; its child dies with it."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()


def _death(status: int) -> str:
    """What a process died of."""
    return signal.Signals(-status).name if status < 0 else f"exit({status})"


def ready(workers: Iterable[Worker], seconds: float = math.inf) -> list[Worker]:
    """Wait until some of the workers have answered or died."""
    poll, by_fd = select.poll(), {worker.fileno(): worker for worker in workers}
    for fd in by_fd:
        poll.register(fd, select.POLLIN)
    return [by_fd[fd] for fd, _ in poll.poll(None if seconds == math.inf else 1000 * seconds)]


def _command(target: Target, sanitized: bool) -> tuple[list[str], dict[str, str]]:
    """The command of a worker up to its numbers, and what to set in its environment."""
    if sanitized:
        assert target.sanitized is not None
        return [os.path.abspath(target.sanitized), "", ""], SANITIZER_OPTIONS
    binary, path = read_elf(target.library), os.path.abspath(target.library)
    tracer = "" if target.tracer is None else os.path.abspath(target.tracer)
    if binary.is_program:
        preloaded = {"LD_PRELOAD": compiled("preload.so"), **PRELOADED_OPTIONS}
        return [path, in_program(binary), tracer], preloaded
    return [compiled("worker"), path, tracer], {}


def in_program(binary: Binary) -> str:
    """The addresses of the target in its program, for a preloaded worker."""
    test, init = (
        binary.symbols.get(name, 0) for name in ("LLVMFuzzerTestOneInput", "LLVMFuzzerInitialize")
    )
    begin, size = binary.sections.get("__sancov_cntrs", (0, 0))
    require(test > 0, f"{binary.path} has no function LLVMFuzzerTestOneInput (or it was stripped)")
    return f"self:{test:x},{init:x},{begin:x},{begin + size:x}"
