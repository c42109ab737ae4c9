"""Inputs that made the target fail: one file for each, and which of them are the same bug.

Two failures are the same if they end in the same way at the same place: the kind of error and the
innermost functions on the stack. With an AddressSanitizer build the input is run in it once more,
and its report decides; without one, the offsets that the executor saw do.

    crashes/crash-3f786850e387550f        the input; the name is its hash
    crashes/crash-3f786850e387550f.json   what happened, how to see it again
"""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path

from aloex.apps.fuzz.execute.executor import Failure, Status
from aloex.apps.fuzz.inputs.seeds import hash_of
from aloex.apps.fuzz.target.target import Target
from aloex.base.files import write_file

NUM_FRAMES = 3  # that must agree
MAX_KEPT = 10  # inputs of one bug
MAX_TRIAGE = 60  # seconds

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
        self.bugs: Counter[str] = Counter()  # how many inputs of each
        self.num_lost = 0  # could not be written
        for path in sorted(folder.glob("*.json")):
            try:
                self.bugs[json.loads(path.read_text())["bug"]] += 1
            except (OSError, ValueError, KeyError, TypeError):
                continue  # not one of ours, or cut short

    def add(self, data: bytes, failure: Failure) -> Crash:
        """Keep an input, unless it is known or there are enough of its kind."""
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
        # Where a loop was stopped is chance: what called it is not.
        places = stack[-NUM_FRAMES:] if failure.status == Status.HANG else stack[:NUM_FRAMES]
        return Crash(
            input=path.name,
            bug=" ".join([kind, *places]),
            status=failure.status.name.lower(),
            signal=name_of(failure.signal) if failure.status == Status.CRASH else "",
            stack=stack,
            reproduce=shlex.join(self.target.command(path.absolute())),
        )


def place(failure: Failure) -> str:
    """Where and how it failed, as far as the executor saw: enough to tell most bugs apart."""
    # Where a loop was stopped is chance: what called it is not.
    is_hang = failure.status == Status.HANG
    frames = failure.frames[-NUM_FRAMES:] if is_hang else failure.frames[:NUM_FRAMES]
    return " ".join([ending(failure), *map(hex, frames)])


def triage(target: Target, path: Path, failure: Failure) -> tuple[str, list[str]] | None:
    """The error and the functions on the stack, by the AddressSanitizer build if there is one."""
    if target.asan is None or failure.status == Status.HANG:
        return None
    environment = {**os.environ, "ASAN_SYMBOLIZER_PATH": symbolizer() or ""}
    said = run([os.path.abspath(target.asan), "-timeout=20", str(path)], environment).stderr
    error = ERROR.search(said)
    if error is None:
        return None
    first_stack = said[error.start() :].split("\n\n")[0]  # others tell where it was allocated
    kind = ending(failure) if error[1] in VAGUE else error[1]
    return kind, of_target(FRAME.findall(first_stack))


def name_frames(target: Target, failure: Failure) -> list[str]:
    """The functions on the stack that the executor saw, or their offsets if they have no names."""
    offsets = [hex(pc) for pc in failure.frames]
    if not offsets or symbolizer() is None:
        return offsets
    # Where it would have gone on, so look one byte before; only the innermost is where it was,
    # unless it called abort or exit, after which another function may begin.
    has_called = failure.status == Status.CRASH and failure.signal in (0, signal.SIGABRT)
    at = [hex(pc - (i > 0 or has_called)) for i, pc in enumerate(failure.frames)]
    said = run([symbolizer() or "", "--no-inlines", f"--obj={target.library}", *at]).stdout
    names = [block.splitlines()[0] for block in said.strip().split("\n\n") if block]
    if len(names) != len(offsets):
        return offsets
    known = [offset if name == "??" else name for name, offset in zip(names, offsets, strict=True)]
    return of_target(known)


def of_target(functions: list[str]) -> list[str]:
    """Without what lies above and below the target on the stack."""
    if ENTRY in functions:
        functions = functions[: functions.index(ENTRY) + 1]
    return [name for name in functions if not NOT_THE_TARGET.search(name)]


def run(command: list[str], environment: dict | None = None) -> subprocess.CompletedProcess[str]:
    """Run a helper; if it cannot be run or hangs, it has said nothing."""
    try:
        return subprocess.run(
            command, env=environment, capture_output=True, timeout=MAX_TRIAGE, errors="replace"
        )
    except (OSError, subprocess.TimeoutExpired):
        return subprocess.CompletedProcess(command, 1, "", "")


def symbolizer() -> str | None:
    """LLVM's program that names addresses."""
    return shutil.which("llvm-symbolizer-19") or shutil.which("llvm-symbolizer")


def ending(failure: Failure) -> str:
    """How it failed, in a word."""
    is_crash = failure.status == Status.CRASH
    return name_of(failure.signal) if is_crash else failure.status.name.lower()


def name_of(number: int) -> str:
    """SIGSEGV for 11."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return "exit" if number == 0 else f"signal {number}"
