"""A worker process: the program in native/, compiled once, and the memory it shares with us."""

import contextlib
import ctypes
import hashlib
import mmap
import os
import select
import subprocess
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import numpy as np

from aloex.apps.fuzz.target import Binary, Target, read_elf
from aloex.apps.fuzz.tools import cache_folder, find_tool, run_tool
from aloex.base.errors import InputError, require

MAX_FRAMES = 16
VERDICT = np.dtype(  # struct verdict in native/worker.h
    [
        ("first", "u4"),
        ("count", "u4"),
        ("num_edges", "u4"),
        ("status", "u1"),
        ("signal", "u1"),
        ("num_frames", "u2"),
        ("frames", "u4", MAX_FRAMES),
    ]
)
MAX_START = 60.0  # seconds for a target to load


class Header(ctypes.Structure):
    """struct arena in native/worker.h."""

    _fields_ = (
        ("size", ctypes.c_uint64),
        ("num_edges", ctypes.c_uint64),
        ("data", ctypes.c_uint64),
        ("bounds", ctypes.c_uint64),
        ("verdicts", ctypes.c_uint64),
        ("seen", ctypes.c_uint64),
        ("features", ctypes.c_uint64),
        ("num_inputs", ctypes.c_uint32),
        ("full", ctypes.c_uint32),
        ("current", ctypes.c_uint32),
        ("num_features", ctypes.c_uint32),
        ("is_oom", ctypes.c_uint32),
    )


class WorkerDied(Exception):
    """The worker itself has died; no input should be able to cause that."""


class Worker:
    """One worker process. `start` a batch, wait until `fileno` is readable, `finish` it."""

    def __init__(
        self, target: Target, *, batch: int, max_bytes: int, timeout: float, memory_mb: int
    ):
        binary, path = read_elf(target.library), os.path.abspath(target.library)
        if binary.is_program:
            own, command = {"LD_PRELOAD": compiled("preload.so")}, [path, in_program(binary)]
        else:
            own, command = {}, [compiled("worker"), path]
        fd = os.memfd_create("aloex")
        try:
            self.process = subprocess.Popen(
                [*command, *map(str, (fd, batch, max_bytes, 1000 * timeout, memory_mb))],
                env={**os.environ, **own},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                pass_fds=(fd,),
                start_new_session=True,  # the terminal's interrupt is for us alone
            )
            self._wait_for_target(target)
            self._memory = mmap.mmap(fd, 0)
        except OSError as error:
            raise InputError(f"the target {path} cannot be run: {error.strerror}") from None
        finally:
            os.close(fd)
        self.header = Header.from_buffer(self._memory)
        self.data = self._array("data", "u1", max_bytes)
        self.bounds = self._array("bounds", "u8", batch + 1)
        self.verdicts = self._array("verdicts", VERDICT, batch)
        self.seen = self._array("seen", "u1", self.header.num_edges)
        self.features = self._array("features", "u4", batch * self.header.num_edges)

    def _array(self, name: str, dtype: str | np.dtype, count: int) -> np.ndarray:
        return np.frombuffer(self._memory, dtype, count, getattr(self.header, name))

    def _wait_for_target(self, target: Target) -> None:
        try:
            self._wait()
            return
        except WorkerDied:
            self.process.kill()
            assert self.process.stderr is not None
            said = self.process.stderr.read().decode(errors="replace").strip()
            self.close()
        reason = said or "it died or hung as it was loaded and given an empty input"
        raise InputError(f"the target {target.library} cannot be used: {reason.splitlines()[-1]}")

    def _wait(self) -> None:
        if not ready([self], MAX_START):
            raise WorkerDied
        self._take_answer()

    def fileno(self) -> int:
        """Readable when a batch is done or the worker is gone."""
        assert self.process.stdout is not None
        return self.process.stdout.fileno()

    def start(self, data: bytes | np.ndarray, bounds: np.ndarray, full: bool) -> None:
        """Begin a batch: input i is data[bounds[i] : bounds[i + 1]]."""
        self.data[: len(data)] = np.frombuffer(data, np.uint8)
        self.bounds[: len(bounds)] = bounds
        self.header.num_inputs, self.header.full = len(bounds) - 1, full
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it is gone: `finish` will tell
            self.process.stdin.write(b"r")

    def finish(self) -> tuple[np.ndarray, np.ndarray]:
        """The verdicts of the batch, and the features of its inputs one after the other."""
        self._take_answer()
        verdicts = self.verdicts[: self.header.num_inputs].copy()
        return verdicts, self.features[: verdicts["count"].sum()].copy()

    def _take_answer(self) -> None:
        assert self.process.stdout is not None
        if not self.process.stdout.read(1):
            raise WorkerDied

    @property
    def is_alive(self) -> bool:
        """Whether it can run a batch."""
        return self.process.poll() is None

    def close(self) -> None:
        """End the process; its child dies with it."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert pipe is not None
            pipe.close()


def ready(workers: Iterable[Worker], seconds: float | None = None) -> list[Worker]:
    """Wait until some of the workers have answered or died."""
    poll, by_fd = select.poll(), {worker.fileno(): worker for worker in workers}
    for fd in by_fd:
        poll.register(fd, select.POLLIN)
    return [by_fd[fd] for fd, _ in poll.poll(None if seconds is None else 1000 * seconds)]


def in_program(binary: Binary) -> str:
    """The addresses of the target in its program, for a preloaded worker."""
    test, init = (
        binary.symbols.get(name, 0) for name in ("LLVMFuzzerTestOneInput", "LLVMFuzzerInitialize")
    )
    begin, size = binary.sections.get("__sancov_cntrs", (0, 0))
    require(test > 0, f"{binary.path} has no function LLVMFuzzerTestOneInput (or it was stripped)")
    return f"self:{test:x},{init:x},{begin:x},{begin + size:x}"


@cache
def compiled(name: str) -> str:
    """The path of the worker program or of preload.so; compiled on first use, kept in the cache."""
    folder = Path(__file__).parent / "native"
    files = sorted(folder.glob("*.[ch]"))
    compiler = find_tool("cc", "clang-19", "clang", "gcc", package="clang-19")
    kind = ["-rdynamic"] if name == "worker" else ["-shared", "-fPIC", "-DPRELOADED"]
    content = b"".join(path.read_bytes() for path in files) + repr((compiler, kind)).encode()
    cached = cache_folder() / f"{hashlib.sha256(content).hexdigest()[:16]}-{name}"
    if not cached.exists():
        new = f"{cached}.{os.getpid()}"
        sources = [str(path) for path in files if path.suffix == ".c"]
        command = [compiler, "-O2", "-fvisibility=hidden", *kind, "-o", new, *sources, "-ldl"]
        run_tool(command)
        os.replace(new, cached)
    return str(cached)
