"""What a failed run itself says, without the help of another program: the error and the stack.

It comes from the report of AddressSanitizer, UndefinedBehaviorSanitizer or libFuzzer if there is
one, else from the addresses that the worker saw. Sanitizers are told not to name addresses:

    ASAN_OPTIONS=symbolize=0 UBSAN_OPTIONS=symbolize=0

`Fault.site` is what the run says about where it failed; see `bug.py` for the rule.
"""

import re
import signal
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from aloex.apps.fuzz.bugs.module import read_module
from aloex.apps.fuzz.inputs import ExitStatus, Failure

NUM_FRAMES = 3  # that tell bugs apart
ENTRY = "LLVMFuzzerTestOneInput"
OVERFLOW = "stack-overflow"
MAX_REPORT = 8000  # characters that are kept

ASAN = re.compile(r"ERROR: (?:Address|UndefinedBehavior)Sanitizer: (.+)")
UBSAN = re.compile(r"^(\S.*?):(\d+)(?::\d+)?: runtime error: (.+)", re.MULTILINE)
UBSAN_KIND = re.compile(r"SUMMARY: UndefinedBehaviorSanitizer: (?!undefined-behavior)([\w-]+)")
LIBFUZZER = re.compile(r"ERROR: libFuzzer: (.+)")
FRAME = re.compile(r"^ +#(\d+) 0x[0-9a-f]+ .*?\((/.+)\+0x([0-9a-f]+)\)", re.MULTILINE)

OF_ASAN = (  # how an error begins, if that is not its kind
    (re.compile(r"attempting double-free"), "double-free"),
    (re.compile(r"attempting free"), "bad-free"),
    (re.compile(r"requested allocation size|allocator is out|out of memory|.*rss limit"), "oom"),
    (re.compile(r"ABRT"), "abort"),
)
OF_LIBFUZZER = (("timeout", "hang"), ("out-of-memory", "oom"), ("fuzz target exited", "exit"))

# Parts of a program that are not the target: of sanitizers, libFuzzer and the worker.
NOT_THE_TARGET = re.compile(
    r"__(asan|ubsan|lsan|sanitizer|sancov|interception|interceptor)_|_+interceptor_"
    r"|_ZN[A-Z]*\d+(fuzzer|__asan|__ubsan|__lsan|__sanitizer|__interception)"
    r"|_Z(n[wa]|d[la])|(raise|abort|record_failure|report_memory|on_signal)$"
)
# The functions that call the target's entry: the worker's, and libFuzzer's.
CALLER = re.compile(r"(run_inputs|_start)$|_ZN6fuzzer6Fuzzer15ExecuteCallback")
CALLED_FIRST = ["test"]  # by the worker's run_inputs; a target may have one, too
SYSTEM = re.compile(
    r"(libc|libm|libpthread|libdl|librt|libgcc_s|libstdc\+\+|ld-linux[\w-]*)[.-]"
    r"|\w+-preload\.so$"  # the worker, in a program
)


@dataclass(frozen=True, order=True)
class Address:
    """A place in the code of a program or library."""

    module: str  # its file
    offset: int

    def __str__(self) -> str:
        return f"{Path(self.module).name}+{self.offset:#x}"

    @property
    def function(self) -> str:
        """The function, as the symbol table names it; the offset if it has none."""
        names = read_module(self.module).functions_at(self.offset)
        return ENTRY if ENTRY in names else names[0] if names else str(self)


@dataclass(frozen=True)
class Fault:
    """How and where a run failed.

    Attributes:
        kind: of the error, such as heap-buffer-overflow, SEGV, signed-integer-overflow, hang.
        stack: innermost first, of the target alone.
        line: the file and line that the report names, if it does: "/src/scale.c:12".
        report: of a sanitizer.
    """

    kind: str
    stack: tuple[Address, ...]
    line: str = ""
    report: str = field(default="", compare=False)

    @cached_property
    def counting(self) -> tuple[Address, ...]:
        """The frames that tell bugs apart: the innermost ones, each function once.

        Of a hang the outermost ones, for where a loop is stopped is chance. Of a recursion that
        overflows the stack one frame of each function that recurs, for where it ends is chance.
        """
        first_of: dict[str, Address] = {}
        for address in self.stack:
            first_of.setdefault(address.function, address)
        if self.kind == "hang":
            return tuple(first_of.values())[-NUM_FRAMES:]
        if self.kind == OVERFLOW:
            counts = Counter(address.function for address in self.stack)
            recurring = sorted(name for name in first_of if counts[name] > 1)
            if recurring:
                return tuple(first_of[name] for name in recurring)
        return tuple(first_of.values())[:NUM_FRAMES]

    @cached_property
    def has_lines(self) -> bool:
        """Whether the lines of the frames tell bugs apart, or their functions only."""
        recurs = len(self.stack) > len({address.function for address in self.stack})
        return self.kind != "hang" and not (self.kind == OVERFLOW and recurs)

    @cached_property
    def site(self) -> str:
        """The same for runs that failed in the same way at the same place, as far as they say."""
        where = [str(x) if self.has_lines else x.function for x in self.counting]
        return " ".join([self.kind, *where, *([self.line] if self.line else [])])


def fault_of(failure: Failure, program: Path) -> Fault:
    """The fault of a failed run of a program or library."""
    told = fault_in(failure.report, ending(failure))
    if told is not None and told.stack:
        return told
    stack = [Address(str(program), offset) for offset in failure.frames]
    stack = of_target(at_calls(stack, failure))
    return Fault(ending(failure), stack) if told is None else replace(told, stack=stack)


def fault_in(report: str, otherwise: str) -> Fault | None:
    """The fault that a report of a sanitizer or of libFuzzer tells; None if there is no report.

    Args:
        report: what the run wrote to stderr, the target's own messages among it.
        otherwise: the kind of error, if the report is vague about it.
    """
    line = ""
    if found := ASAN.search(report):
        known = (kind for start, kind in OF_ASAN if start.match(found[1]))
        kind = next(known, re.split(r"[\s:(]", found[1])[0])
    elif founds := list(UBSAN.finditer(report)):
        found = founds[-1]  # those before were not deadly
        named = UBSAN_KIND.search(report, found.start())
        kind = slug(found[3]) if named is None else named[1]
        line = f"{found[1]}:{found[2]}"
    elif found := LIBFUZZER.search(report):
        known = (kind for start, kind in OF_LIBFUZZER if found[1].startswith(start))
        kind = next(known, otherwise)
    else:
        return None
    text = report[found.start() :]
    return Fault(kind, stack_in(text), line, text[:MAX_REPORT])


def stack_in(text: str) -> tuple[Address, ...]:
    """The first stack in a report; others are of an allocation."""
    stack: list[Address] = []
    for number, module, offset in FRAME.findall(text):
        if int(number) == 0 and stack:
            break
        stack.append(Address(module, int(offset, 16)))
    return of_target(stack)


def of_target(stack: Iterable[Address]) -> tuple[Address, ...]:
    """The frames of the target alone: without those of the system, sanitizers and the fuzzer."""
    kept: list[Address] = []
    names: list[str] = []
    for address in stack:
        if SYSTEM.match(Path(address.module).name):
            continue
        before, names = names, read_module(address.module).functions_at(address.offset)
        if any(CALLER.match(name) for name in names):  # the entry has left its frame to another
            return tuple(kept[:-1] if before == CALLED_FIRST else kept)
        if not any(NOT_THE_TARGET.match(name) for name in names):
            kept.append(address)
        if ENTRY in names:
            break
    return tuple(kept)


def at_calls(stack: Sequence[Address], failure: Failure) -> list[Address]:
    """Frames moved from the addresses to return to into the calls before them.

    Only the innermost one may be where it failed itself: unless it called what failed.
    """
    has_called = failure.status == ExitStatus.OOM or failure.signal in (0, signal.SIGABRT)
    moved: list[Address] = []
    for i, address in enumerate(stack):
        is_return = i > 0 or (failure.status != ExitStatus.HANG and has_called)
        if is_return or read_module(address.module).follows_call(address.offset):
            address = Address(address.module, address.offset - 1)
        moved.append(address)
    return moved


def ending(failure: Failure) -> str:
    """How a run failed, in one word: hang, oom, exit, abort, or its signal such as SEGV."""
    if failure.status != ExitStatus.CRASH:
        return failure.status.name.lower()
    name = signal_name(failure.signal)
    return "abort" if name == "SIGABRT" else name.removeprefix("SIG")


def signal_name(number: int) -> str:
    """The name of a signal: SIGSEGV for 11; exit for none."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return "exit" if number == 0 else f"signal-{number}"


def slug(message: str) -> str:
    """A kind of error from the first words of a message: before what differs between inputs."""
    words = re.split(r"[\d:'\"(]", message)[0].split()
    return re.sub(r"[^a-z]+", "-", " ".join(words[:4]).lower()).strip("-") or "undefined-behavior"
