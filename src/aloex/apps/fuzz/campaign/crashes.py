"""Inputs that made the target fail: a file for each, and which of them are the same bug.

Two failures are the same bug if they have the same kind of error and the same innermost functions
on the stack. If there is a build with AddressSanitizer, the input is run in it once more, and its
report decides; otherwise the offsets that the executor saw decide.

    crashes/crash-3f786850e387550f        the input; the name is its hash
    crashes/crash-3f786850e387550f.json   what happened, and how to reproduce it
"""

import json
import os
import re
import shlex
import signal
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from aloex.apps.fuzz.inputs import ExitStatus, Failure, hash_of
from aloex.apps.fuzz.target import Target
from aloex.apps.fuzz.tools import ToolError, find_llvm, run_tool
from aloex.base.files import write_file

NUM_FRAMES = 3  # that must be the same
MAX_KEPT = 10  # inputs of one bug
MAX_TRIAGE = 60.0  # seconds for one input

ERROR = re.compile(r"ERROR: (?:AddressSanitizer|libFuzzer): ([\w-]+)")
VAGUE = ("deadly", "fuzz", "requested")  # a deadly signal, the target exited, too much memory
FRAME = re.compile(r"^ +#\d+ 0x[0-9a-f]+ in (\S+)", re.MULTILINE)
NOT_THE_TARGET = re.compile(r"__asan|__interceptor|__sanitizer|^fuzzer::|^raise$|^abort$")
ENTRY = "LLVMFuzzerTestOneInput"


@dataclass(frozen=True)
class Crash:
    """A failing input as it was kept."""

    input: str  # the file
    bug: str  # the same for inputs that fail in the same way
    status: str
    signal: str
    stack: list[str]  # innermost first: functions, or offsets in the library
    reproduce: str  # a command


class Crashes:
    """The folder of failing inputs; it may hold those of earlier runs.

    `add` never raises: a full disk or a hanging triage must not end a campaign.
    """

    def __init__(self, folder: Path, target: Target):
        self.folder, self.target = folder, target
        self.bugs: Counter[str] = Counter()  # number of inputs of each
        self.num_lost = 0  # inputs that could not be written
        for path in sorted(folder.glob("*.json")):
            try:
                self.bugs[json.loads(path.read_text())["bug"]] += 1
            except (OSError, ValueError, KeyError, TypeError):
                continue  # not one of ours, or cut short

    def add(self, data: bytes, failure: Failure) -> Crash:
        """Keep an input, unless it is known or there are enough inputs of its bug."""
        path = self.folder / f"{failure.status.name.lower()}-{hash_of(data)}"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            about = path.with_suffix(".json")  # written last: without it, the input is not known
            is_known = about.exists()
            path.write_bytes(data)
            crash = self._classify(path, failure)
            if is_known:
                return crash
            self.bugs[crash.bug] += 1
            if self.bugs[crash.bug] > MAX_KEPT:
                path.unlink()
            else:
                write_file(about, json.dumps(asdict(crash), indent=1) + "\n")
            return crash
        except OSError:
            self.num_lost += 1
            return self._describe(path, failure, ending(failure), [])

    def _classify(self, path: Path, failure: Failure) -> Crash:
        kind, stack = triage(self.target, path, failure) or (ending(failure), [])
        return self._describe(path, failure, kind, stack or name_frames(self.target, failure))

    def _describe(self, path: Path, failure: Failure, kind: str, stack: list[str]) -> Crash:
        return Crash(
            input=path.name,
            bug=" ".join([kind, *frames_that_count(failure, stack)]),
            status=failure.status.name.lower(),
            signal=signal_name(failure.signal) if failure.status == ExitStatus.CRASH else "",
            stack=stack,
            reproduce=shlex.join(self.target.command(path.absolute())),
        )


def crash_site(failure: Failure) -> str:
    """How and where it failed, as far as the executor saw: this tells most bugs apart."""
    return " ".join([ending(failure), *map(hex, frames_that_count(failure, failure.frames))])


def frames_that_count(failure: Failure, frames: Sequence[Any]) -> Sequence[Any]:
    """The innermost frames; of a hang the outermost, for it is chance where a loop is stopped."""
    is_hang = failure.status == ExitStatus.HANG
    return frames[-NUM_FRAMES:] if is_hang else frames[:NUM_FRAMES]


def triage(target: Target, path: Path, failure: Failure) -> tuple[str, list[str]] | None:
    """The error and the functions on the stack, by the AddressSanitizer build if there is one."""
    if target.asan is None or failure.status == ExitStatus.HANG:
        return None
    env = {"ASAN_SYMBOLIZER_PATH": symbolizer() or ""}
    command = [os.path.abspath(target.asan), "-timeout=20", path]
    try:
        report = run_tool(command, env=env, timeout=MAX_TRIAGE, check=False).stderr
    except ToolError:
        return None
    error = ERROR.search(report)
    if error is None:
        return None
    first_stack = report[error.start() :].split("\n\n")[0]  # the others are of the allocation
    kind = ending(failure) if error[1] in VAGUE else error[1]
    return kind, of_target(FRAME.findall(first_stack))


def name_frames(target: Target, failure: Failure) -> list[str]:
    """The functions on the stack that the executor saw, or their offsets if they have no names."""
    offsets = [hex(pc) for pc in failure.frames]
    tool = symbolizer()
    if not offsets or tool is None:
        return offsets
    # A frame holds the address to return to, so look one byte before it. Only the innermost frame
    # is where it failed, unless it called abort or exit, after which another function may begin.
    has_called = failure.status == ExitStatus.CRASH and failure.signal in (0, signal.SIGABRT)
    at = [hex(pc - (i > 0 or has_called)) for i, pc in enumerate(failure.frames)]
    command = [tool, "--no-inlines", f"--obj={target.library}", *at]
    try:
        answer = run_tool(command, timeout=MAX_TRIAGE, check=False).stdout
    except ToolError:
        return offsets
    names = [block.splitlines()[0] for block in answer.strip().split("\n\n") if block]
    if len(names) != len(offsets):
        return offsets
    known = [offset if name == "??" else name for name, offset in zip(names, offsets, strict=True)]
    return of_target(known)


def of_target(functions: list[str]) -> list[str]:
    """The functions of the target alone: without those of the sanitizer and of the fuzzer."""
    if ENTRY in functions:
        functions = functions[: functions.index(ENTRY) + 1]
    return [name for name in functions if not NOT_THE_TARGET.search(name)]


def symbolizer() -> str | None:
    """LLVM's program that names addresses; None if it is not installed."""
    try:
        return find_llvm("llvm-symbolizer")
    except ToolError:
        return None


def ending(failure: Failure) -> str:
    """How it failed, in one word."""
    is_crash = failure.status == ExitStatus.CRASH
    return signal_name(failure.signal) if is_crash else failure.status.name.lower()


def signal_name(number: int) -> str:
    """The name of a signal: SIGSEGV for 11."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return "exit" if number == 0 else f"signal {number}"
