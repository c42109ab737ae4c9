"""What a failed run says: reports of sanitizers, stacks, and what of them counts."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from aloex.apps.fuzz.bugs.bug import place_of, top_of, unnamed_top, with_line
from aloex.apps.fuzz.bugs.fault import Address, Fault, at_calls, ending, fault_in, fault_of
from aloex.apps.fuzz.bugs.module import Module, read_module
from aloex.apps.fuzz.bugs.symbols import Frame
from aloex.apps.fuzz.inputs import ExitStatus, Failure

STACK = """\
    #0 0x55d0c0 ({0}+0x1010)  (BuildId: d8abd4)
    #1 0x7f0011 (/lib/x86_64-linux-gnu/libc.so.6+0x27249) (BuildId: 93ac61)
    #2 0x55d0d0 ({0}+0x2020)
"""
LIBRARY = "/no where (1)/lib+x.so"


def report(error: str, after: str = "") -> str:
    allocated = f"\nallocated by thread T0 here:\n{STACK.format('/other')}"
    return f"of the target\n{error}\n{STACK.format(LIBRARY)}{allocated}{after}"


def asan(error: str) -> str:
    return report(f"==123==ERROR: AddressSanitizer: {error}")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (asan("heap-buffer-overflow on address 0x50 at pc 0x56 bp 0x7f sp 0x7f"), None),
        (asan("stack-overflow on address 0x7ff (pc 0x55 bp 0x7f sp 0x7f T0)"), None),
        (asan("SEGV on unknown address 0x000 (pc 0x55 bp 0x7f sp 0x7f T0)"), None),
        (asan("memcpy-param-overlap: memory ranges [0x1,0x2) and [0x1, 0x2) overlap"), None),
        (asan("alloc-dealloc-mismatch (malloc vs operator delete) on 0x5"), None),
        (asan("attempting double-free on 0x602 in thread T0:"), "double-free"),
        (asan("attempting free on address which was not malloc()-ed: 0x60"), "bad-free"),
        (asan("requested allocation size 0x1000 (0x2000 after adjustments) exceeds"), "oom"),
        (asan("allocator is out of memory trying to allocate 0x1000 bytes"), "oom"),
        (asan("ABRT on unknown address 0x0001 (pc 0x7f bp 0x7f sp 0x7f T0)"), "abort"),
        (report("==1==ERROR: UndefinedBehaviorSanitizer: SEGV on unknown address 0x0"), "SEGV"),
        (report("==1== ERROR: libFuzzer: timeout after 2 seconds"), "hang"),
        (report("==1== ERROR: libFuzzer: out-of-memory (used: 2M; limit: 1M)"), "oom"),
        (report("==1== ERROR: libFuzzer: fuzz target exited"), "exit"),
        (report("==1== ERROR: libFuzzer: deadly signal"), "TRAP"),
    ],
)
def test_kinds_and_stacks_of_reports(text, kind):
    fault = fault_in(text, "TRAP")
    assert fault is not None
    error = text.split(": ")[2] if "Sanitizer" in text else ""
    assert fault.kind == (kind or error.split()[0].rstrip(":"))
    assert fault.stack == (Address(LIBRARY, 0x1010), Address(LIBRARY, 0x2020))
    assert fault.report.startswith("ERROR: ") and "of the target" not in fault.report


@pytest.mark.parametrize(
    ("message", "summary", "kind"),
    [
        ("signed integer overflow: 1 + 2 cannot be", "signed-integer-overflow", None),
        ("signed integer overflow: 1 + 2 cannot be", "undefined-behavior", None),
        ("division by zero", "integer-divide-by-zero", "integer-divide-by-zero"),
        ("division by zero", "undefined-behavior", "division-by-zero"),
        ("shift exponent 33 is too large", "undefined-behavior", "shift-exponent"),
        ("index 7 out of bounds for type 'int[4]'", "out-of-bounds-index", "out-of-bounds-index"),
    ],
)
def test_reports_of_undefined_behaviour_have_a_line(message, summary, kind):
    before = "a b/early.c:1:2: runtime error: not deadly\n"
    error = f"{before}/my src/t.c:18:52: runtime error: {message}"
    fault = fault_in(report(error, f"SUMMARY: UndefinedBehaviorSanitizer: {summary} t.c\n"), "x")
    assert fault is not None
    assert (fault.kind, fault.line) == (kind or "signed-integer-overflow", "/my src/t.c:18")
    assert len(fault.stack) == 2
    assert str(unnamed_top(fault)[0]) == f"{fault.stack[0]} (t.c:18)"


def test_the_line_that_a_report_names_is_that_of_the_innermost_frame():
    """The compiler may give an address that several checks share the line 0."""
    fault = Fault("null-pointer-use", stack_of(1, 2), "src/t.c:18")
    caller = Frame("b", "/my/src/t.c", 40, 30)
    for file, known in (
        ("/my/src/t.c", "/my/src/t.c"), ("/my/src/not.c", "src/t.c"), ("", "src/t.c"),
    ):  # fmt: skip
        for line in (0, 5):
            inner = Frame("a", file, line, 10, "" if line else "x+0x1")
            assert with_line(fault, (inner, caller)) == (Frame("a", known, 18, 10), caller)
    assert with_line(fault, ()) == (Frame("?", "src/t.c", 18),)
    known = (Frame("a", "/my/src/t.c", 5, 10), caller)
    other_caller = replace(caller, line=41)
    other_line = replace(fault, line="src/t.c:19")
    places = {
        place_of(fault, known), place_of(fault, (known[0], other_caller)),
        place_of(other_line, known), place_of(other_line, None), place_of(fault, None),
    }  # fmt: skip
    assert len(places) == 5


def test_a_run_without_a_report():
    assert fault_in("warning: ERROR of mine\n#0 0x12 (/x+0x1)", "x") is None
    failure = Failure(0, ExitStatus.CRASH, 11, (0x10, 0x20), "some words")
    program = Path("/none")
    assert fault_of(failure, program) == Fault(
        "SEGV", (Address("/none", 0x10), Address("/none", 0x1F))
    )
    named = Failure(0, ExitStatus.CRASH, 0, (0x10,), "ERROR: AddressSanitizer: bad-thing on\n")
    assert fault_of(named, program).kind == "bad-thing"  # and the frames that the worker saw
    assert fault_of(named, program).stack == (Address("/none", 0xF),)


@pytest.mark.parametrize(
    ("status", "signal", "word", "moved"),
    [
        (ExitStatus.CRASH, 11, "SEGV", 0),
        (ExitStatus.CRASH, 6, "abort", 1),
        (ExitStatus.CRASH, 0, "exit", 1),
        (ExitStatus.CRASH, 99, "signal-99", 0),
        (ExitStatus.HANG, 0, "hang", 0),
        (ExitStatus.OOM, 0, "oom", 1),
    ],
)
def test_addresses_to_return_to_are_moved_into_their_calls(status, signal, word, moved):
    failure = Failure(0, status, signal, ())
    stack = [Address("/none", 0x10), Address("/none", 0x20)]
    assert [x.offset for x in at_calls(stack, failure)] == [0x10 - moved, 0x1F]
    assert ending(failure) == word


def stack_of(*offsets: int) -> tuple[Address, ...]:
    """Frames of functions without names: each offset is a function."""
    return tuple(Address("/none/x", offset) for offset in offsets)


def counting(kind: str, *offsets: int) -> list[int]:
    return [address.offset for address in Fault(kind, stack_of(*offsets)).counting]


def test_which_frames_count():
    assert counting("SEGV", 1, 2, 3, 4, 5) == [1, 2, 3]
    assert counting("SEGV", 1, 2, 1, 2, 3, 4) == [1, 2, 3]  # each function once
    assert counting("hang", 1, 2, 3, 4, 5) == [3, 4, 5]
    assert counting("hang", 7, 8) == [7, 8]
    ends = [counting("stack-overflow", *start, *[2, 3] * 5, 9) for start in ((), (3,), (7,))]
    assert [sorted(end) for end in ends] == [[2, 3]] * 3  # wherever the stack ended
    assert counting("stack-overflow", 1, 2, 3, 4) == [1, 2, 3]  # no recursion: a large array


def test_lines_count_but_for_hangs_and_recursion():
    sites = {
        kind: Fault(kind, stack_of(1, 1, 2)).site for kind in ("SEGV", "hang", "stack-overflow")
    }
    assert sites == {
        "SEGV": "SEGV x+0x1 x+0x2",
        "hang": "hang x+0x1 x+0x2",
        "stack-overflow": "stack-overflow x+0x1",
    }
    frames = [Frame(name, "/s/a.c", 10 * i, 1) for i, name in enumerate("abcd", 1)]
    moved = [Frame("a", "/s/a.c", 11, 1), *frames[1:]]
    deeper = [*frames[:3], Frame("d", "/s/a.c", 99, 1)]
    crash, hang = Fault("SEGV", stack_of(1, 2, 3)), Fault("hang", stack_of(1, 2, 3))
    place = lambda fault, frames: place_of(fault, top_of(tuple(frames)))
    assert place(crash, frames) != place(crash, moved)
    assert place(crash, frames) == place(crash, deeper)
    assert place(crash, frames) != place(crash, [*frames[:2], Frame("c", "/s/a.c", 31, 1)])
    assert place(crash, frames) != place(crash, [Frame("a", "/t/a.c", 10, 1), *frames[1:]])
    assert place(hang, frames) == place(hang, moved) == hang.site
    assert place_of(crash, None) == place_of(crash, ()) == crash.site
    no_lines = [Frame("a", offset="x+0x1")], [Frame("a", offset="x+0x2")]
    assert place(crash, no_lines[0]) != place(crash, no_lines[1])


def test_the_symbol_table_of_a_library(faults, tmp_path):
    path = tmp_path / "library.so"
    shutil.copy(faults.library, path)
    module = read_module(path)
    assert read_module(path) is module
    starts = {names[0]: at for at, names in module._names.items() if len(names) == 1}
    assert module.functions_at(starts["two_writes"] + 3) == ["two_writes"]
    assert module.functions_at(0) == []
    path.write_bytes(b"\x7fELF\x02\x01 cut short")
    assert read_module(path).functions_at(1 << 40) == []
    for other in (tmp_path / "none", tmp_path):
        assert Module(other).functions_at(1) == [] and not Module(other).follows_call(9)
