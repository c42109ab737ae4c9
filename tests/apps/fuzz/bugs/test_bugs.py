"""Bugs are told apart by place, keep their inputs, and depend on no helper."""

import inspect
import json
import math
import random
import shlex
import signal
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from aloex.apps.fuzz.bugs import MAX_KEPT, Bug, Bugs, Frame, symbols, verdict
from aloex.apps.fuzz.bugs import bugs as bugs_module
from aloex.apps.fuzz.bugs import folder as folder_module
from aloex.apps.fuzz.bugs.bugs import MAX_LOST
from aloex.apps.fuzz.bugs.module import read_module
from aloex.apps.fuzz.execute import Executor
from aloex.apps.fuzz.inputs import ExitStatus, Failure
from aloex.apps.fuzz.target import Target
from aloex.apps.fuzz.tools import ToolError, ToolOutput

LIMITS = {"timeout": 0.5, "memory_mb": 512}
HAS_SANITIZED = "sanitized" in inspect.signature(Executor).parameters

# By the input: a bug has several inputs where they differ in what follows the second letter.
CRASHES = {
    b"w1": "SEGV in two_writes",
    b"w1 again": "SEGV in two_writes",
    b"w2": "SEGV in two_writes",
    b"g1": "SEGV in get",
    b"g2": "SEGV in get",
    b"cc": "SEGV in copy",
    b"cc and more": "SEGV in copy",
    b"a1": "abort in check",
    b"a2": "abort in check",
    b"xx": "exit in leave",
    b"h1": "hang in spend",
    b"h2": "hang in spend",
    b"ss": "hang in spin",
    b"nn": "hang in count",
    b"rr": "stack-overflow in deep",
    b"r2": "stack-overflow in deep",
    b"pp": "stack-overflow in ping",
    b"m1": "oom in take",
    b"m2": "oom in take",
    b"ff": "double-free in free_twice",
}
SAME = [{b"w1", b"w1 again"}, {b"cc", b"cc and more"}, {b"h1", b"h2"}, {b"rr", b"r2"}]
SILENT = {  # without sanitizers these end well
    b"o1": "heap-buffer-overflow in overflow",
    b"o2": "heap-buffer-overflow in overflow",
    b"i1": "signed-integer-overflow in add",
    b"i1 again": "signed-integer-overflow in add",
}


def line_of(text: str) -> int:
    """The number of the first line of faults.c that has a text."""
    source = (Path(__file__).parents[3] / "targets/faults.c").read_text().splitlines()
    return next(i for i, line in enumerate(source, 1) if text in line)


@pytest.fixture(scope="module")
def failures(faults) -> dict[bytes, Failure]:
    """How the inputs fail, by the input."""
    inputs = list(CRASHES)
    with Executor(faults, workers=2, **LIMITS) as executor:
        return {inputs[f.index]: f for f in executor.run(inputs).failures}


@pytest.fixture(params=["sanitized", "asan"])
def target(request, faults) -> Target:
    """The target with a program that tells what is wrong: our worker's, or libFuzzer's."""
    if request.param == "asan":
        return replace(faults, sanitized=None)
    if not HAS_SANITIZED:
        pytest.skip("this executor has no sanitizers")
    return faults


def by_bug(bugs: Bugs, inputs: dict[bytes, Failure], **how) -> dict[str, set[bytes]]:
    """The inputs of each bug, by its place; the bugs that `add` and `all` tell are the same."""
    for data, failure in inputs.items():
        bugs.add(data, failure, **how)
    groups: dict[str, set[bytes]] = {}
    for bug in bugs.all():
        groups[bug.place] = {(bugs.folder.path / name).read_bytes() for name in bug.kept}
    return groups


def expected(names: dict[bytes, str], same: list[set[bytes]]) -> list[set[bytes]]:
    alone = [{data} for data in names if not any(data in group for group in same)]
    return sorted([*same, *alone], key=sorted)


def test_a_bug_is_a_kind_and_a_place(target, failures, tmp_path):
    with Bugs(tmp_path, target, **LIMITS) as bugs:
        groups = by_bug(bugs, failures)
        assert sorted(groups.values(), key=sorted) == expected(CRASHES, SAME)
        for bug in bugs.all():
            for name in bug.kept:
                data = (tmp_path / name).read_bytes()
                assert bug.name.startswith(CRASHES[data]), data
                assert name.startswith(f"{bug.kind}-")
        names = {bug.name for bug in bugs.all()}
        for function, text in (("two_writes", "*nowhere = 1"), ("two_writes", "*nowhere = 2")):
            assert f"SEGV in {function} (faults.c:{line_of(text)})" in names
        assert bugs.notes == []


def test_errors_that_only_sanitizers_see(faults, tmp_path):
    if not HAS_SANITIZED:
        pytest.skip("this executor has no sanitizers")
    inputs = list(SILENT)
    with Executor(faults, workers=2, sanitized=True, **LIMITS) as executor:
        failures = {inputs[f.index]: f for f in executor.run(inputs).failures}
    with Bugs(tmp_path, faults, **LIMITS) as bugs:
        groups = by_bug(bugs, failures, sanitized=True)
        assert sorted(groups.values(), key=sorted) == expected(SILENT, [{b"i1", b"i1 again"}])
        found = {bug.name for bug in bugs.all()}
        for kind, function, text in (
            ("heap-buffer-overflow", "overflow", "last[size + 2]"),
            ("heap-buffer-overflow", "overflow", "last[size + 3]"),
            ("signed-integer-overflow", "add", "large + which"),
        ):
            assert f"{kind} in {function} (faults.c:{line_of(text)})" in found


def test_without_sanitizers_the_run_itself_tells(faults, failures, tmp_path):
    bare = replace(faults, sanitized=None, asan=None)
    with Bugs(tmp_path, bare, **LIMITS) as bugs:
        groups = by_bug(bugs, failures)
        # The compiler has made one instruction of the two in two_writes, and of those in get.
        joined = [{b"w1", b"w1 again", b"w2"}, {b"g1", b"g2"}, *SAME[1:]]
        assert sorted(groups.values(), key=sorted) == expected(CRASHES, joined)
        copy = next(bug for bug in bugs.all() if "copy" in bug.name)
        assert copy.name == f"SEGV in copy (faults.c:{line_of('memcpy((char')})"


# ---- helpers that fail


class FlakySymbolizer:
    """llvm-symbolizer that dies at random, or answers in part."""

    def __init__(self, seed: int, share: float):
        self.random, self.share, self.num_lost = random.Random(seed), share, 0

    def __call__(self, command, **how):
        if self.random.random() >= self.share:
            return RUN_TOOL(command, **how)
        self.num_lost += 1
        if self.share == 1.0 or self.random.random() < 0.5:
            raise symbols.ToolError("llvm-symbolizer was killed")
        output = RUN_TOOL(command, **how)
        return replace(output, stdout=output.stdout[: self.random.randrange(len(output.stdout))])


RUN_TOOL = symbols.run_tool


@pytest.fixture(scope="module")
def alone(faults) -> Target:
    """A target where llvm-symbolizer is the only helper."""
    return replace(faults, sanitized=None, asan=None, fuzzer=None)


@pytest.fixture(scope="module")
def well(alone, failures, tmp_path_factory) -> list[tuple[str, str, tuple[str, ...]]]:
    """The bugs if no helper is lost."""
    with Bugs(tmp_path_factory.mktemp("well"), alone, **LIMITS) as bugs:
        return summary(bugs, failures)


def summary(bugs: Bugs, inputs: dict[bytes, Failure]) -> list[tuple[str, str, tuple[str, ...]]]:
    by_bug(bugs, inputs)
    return [(bug.place, bug.name, bug.kept) for bug in bugs.all()]


@pytest.mark.parametrize("seed", range(3))
def test_a_symbolizer_that_dies_at_random_changes_nothing(
    alone, failures, well, tmp_path, monkeypatch, seed
):
    flaky = FlakySymbolizer(seed, 0.7)
    monkeypatch.setattr(symbols, "run_tool", flaky)
    with Bugs(tmp_path, alone, **LIMITS) as bugs:
        assert summary(bugs, failures) == well
    assert flaky.num_lost > 0
    flaky.share = 1.0  # from now on it always dies, and what was known stays known
    with Bugs(tmp_path, alone, **LIMITS) as bugs:
        assert summary(bugs, failures) == well


def test_bugs_found_while_the_symbolizer_is_dead_are_joined_later(
    alone, failures, well, tmp_path, monkeypatch
):
    monkeypatch.setattr(symbols, "run_tool", FlakySymbolizer(0, 1.0))
    with Bugs(tmp_path, alone, **LIMITS) as bugs:
        dead = summary(bugs, failures)
        kept = {name for _, _, names in dead for name in names}
        assert kept == {name for _, _, names in well for name in names}
        assert dead != well
        (note,) = bugs.notes
        assert "gave no answer for some bugs" in note
    monkeypatch.setattr(symbols, "run_tool", RUN_TOOL)
    with Bugs(tmp_path, alone, **LIMITS) as bugs:
        assert summary(bugs, failures) == well
        assert bugs.notes == []


def test_a_dead_symbolizer_does_not_hold_up_a_campaign(alone, failures, tmp_path, monkeypatch):
    flaky = FlakySymbolizer(0, 1.0)
    monkeypatch.setattr(symbols, "run_tool", flaky)
    some = list(failures.items())
    with Bugs(tmp_path / "dead", alone, **LIMITS) as bugs:
        bugs.add(*some[0])
        assert flaky.num_lost == symbols.TRIES == 3
        for data, failure in some[1:]:
            bugs.add(data, failure)
        assert flaky.num_lost == symbols.MANY_TRIES == 20  # and no more, until a report needs it
        bugs.all()
        assert flaky.num_lost == 2 * symbols.MANY_TRIES
    monkeypatch.setattr(symbols, "MAX_SECONDS", 0.0)
    with Bugs(tmp_path / "slow", alone, **LIMITS) as bugs:
        for data, failure in some:
            bugs.add(data, failure)
        assert flaky.num_lost == 2 * symbols.MANY_TRIES


def test_without_a_symbolizer_the_addresses_are_the_place(faults, failures, tmp_path, monkeypatch):
    monkeypatch.setattr(symbols, "find_symbolizer", lambda: None)
    with Bugs(tmp_path, replace(faults, sanitized=None), **LIMITS) as bugs:
        groups = by_bug(bugs, failures)
        assert sorted(groups.values(), key=sorted) == expected(CRASHES, SAME)
        (note,) = bugs.notes
        assert "apt-get install llvm-19" in note
        assert any(bug.name.startswith("SEGV in two_writes (asan+0x") for bug in bugs.all())


def test_a_lost_run_with_sanitizers_is_tried_again(faults, failures, tmp_path, monkeypatch):
    bare = replace(faults, sanitized=None)
    some = {data: failures[data] for data in (b"w1", b"w2", b"ff")}
    with Bugs(tmp_path / "well", bare, **LIMITS) as bugs:
        well = by_bug(bugs, some)
    with Bugs(tmp_path / "lost", bare, **LIMITS) as bugs:
        with monkeypatch.context() as patch:
            patch.setattr(bugs.judge, "_run", lambda *_: ToolOutput("", "", -9))
            for data, failure in some.items():
                bugs.add(data, failure)
        assert {bug.place: len(bug.kept) for bug in bugs.all()} == dict.fromkeys(well, 1)


def test_a_run_that_is_lost_again_and_again_is_given_up(faults, failures, tmp_path, monkeypatch):
    with Bugs(tmp_path, replace(faults, sanitized=None), **LIMITS) as bugs:
        asked = []
        monkeypatch.setattr(bugs.judge, "fault", lambda data, *_, **__: asked.append(data))
        bugs.add(b"ff", failures[b"ff"])
        for _ in range(5):
            (bug,) = bugs.all()
        assert asked == [b"ff"] * MAX_LOST == [b"ff"] * 3
        assert bug.kind == "abort"  # as it was found


# ---- what is kept


def test_each_bug_keeps_its_first_and_its_smallest_inputs(alone, failures, tmp_path):
    with Bugs(tmp_path, alone, **LIMITS) as bugs:
        bugs.add(b"a2", failures[b"a2"])
        for size in [60, *range(50, 20, -1), 70, 10, 80]:
            bugs.add(b"a1" + b"." * size, failures[b"a1"])
        one, two = bugs.all()
        assert (one.inputs, two.inputs) == (1, 34)
        assert len(two.kept) == MAX_KEPT
        sizes = [len((tmp_path / name).read_bytes()) for name in two.kept]
        assert sizes == [62, 12, *range(23, 31)]
        assert (tmp_path / two.smallest).read_bytes() == b"a1" + b"." * 10
        files = {path.name for path in tmp_path.iterdir()}
        kept = [*one.kept, *two.kept]
        assert files == {*kept, *(f"{name}.json" for name in kept)}
    with Bugs(tmp_path, alone, **LIMITS) as again:
        assert again.all() == [one, replace(two, inputs=MAX_KEPT)]
        again.restore({again.site(failures[b"a1"]): 34, again.site(failures[b"a2"]): 1})
        assert again.all() == [one, two]
        # It was known, but it failed once more: a campaign that is resumed finds some again.
        assert again.add(b"a2", failures[b"a2"]) == replace(one, inputs=2)


def offsets_of_one_line(target: Target) -> tuple[int, int]:
    """Two instructions of one line of a function."""
    names = read_module(target.library)._names
    start = next(at for at, functions in names.items() if functions == ["deep"])
    answers = symbols.ask_symbolizer(str(target.library), list(range(start + 1, start + 60)))
    lines = [(symbols_at[0]["Line"], i) for i, symbols_at in enumerate(answers or [])]
    line = lines[10][0]
    return start + 1 + lines[10][1], next(start + 1 + i for at, i in lines[11:] if at == line)


def test_sites_of_inputs_that_are_not_kept_stay_known(alone, tmp_path):
    one, two = offsets_of_one_line(alone)
    here = Failure(0, ExitStatus.CRASH, signal.SIGSEGV, (one,))
    there = Failure(0, ExitStatus.CRASH, signal.SIGSEGV, (two,))
    with Bugs(tmp_path, alone, **LIMITS) as bugs:
        assert bugs.site(here) != bugs.site(there)
        bugs.add(b"first", here)
        bugs.add(b"a large one, soon dropped", there)
        for i in range(MAX_KEPT - 1):
            bugs.add(b"%d" % i, here)
        (bug,) = bugs.all()
        assert bug.inputs == MAX_KEPT + 1
        contents = {(tmp_path / name).read_bytes() for name in bug.kept}
        assert len(contents) == MAX_KEPT and b"first" in contents
        assert not any(x.startswith(b"a large one") for x in contents)
    with Bugs(tmp_path, alone, **LIMITS) as bugs:
        bugs.restore({bugs.site(here): 20, bugs.site(there): 7})
        assert [bug.inputs for bug in bugs.all()] == [27]


def test_addresses_of_another_build_mean_something_else(alone, failures, tmp_path, monkeypatch):
    """Nothing is asked about them, and they are not taken for those of this build."""
    monkeypatch.setattr(symbols, "run_tool", FlakySymbolizer(0, 1.0))
    with Bugs(tmp_path, alone, **LIMITS) as bugs:
        old = bugs.add(b"w1", failures[b"w1"])
    library = tmp_path / "library.so"
    library.write_bytes(alone.library.read_bytes() + b"rebuilt")
    with Bugs(tmp_path, replace(alone, library=library), **LIMITS) as bugs:
        bugs.add(b"w1 again", failures[b"w1"])
        assert len(bugs.known) == 2
        monkeypatch.setattr(symbols, "run_tool", RUN_TOOL)
        first, second = bugs.all()
        assert (first.top, first.kept) == (old.top, old.kept)
        assert second.top[0].function == "two_writes" and second.place != first.place
        assert (tmp_path / second.first).read_bytes() == b"w1 again"


def test_two_bugs_of_one_site_are_both_kept(target, failures, tmp_path):
    """The compiler has made one instruction of both: the programs with sanitizers tell."""
    with Bugs(tmp_path, target, **LIMITS) as bugs:
        assert bugs.site(failures[b"w1"]) == bugs.site(failures[b"w2"])
        for size in [*range(MAX_KEPT, 30)]:
            bugs.add(b"w1" + b"." * size, failures[b"w1"])
        bugs.add(b"w2 which is larger than all of them", failures[b"w2"])
        bugs.add(b"w2", failures[b"w2"])
        one, two = bugs.all()
        assert one.inputs + two.inputs == 22
        assert [(tmp_path / name).read_bytes() for name in two.kept] == [b"w2"]


@pytest.mark.parametrize("where", ["judge", "symbolizer", "folder"])
def test_an_interrupt_loses_no_input(faults, failures, tmp_path, monkeypatch, where):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    with Bugs(tmp_path, faults, **LIMITS) as bugs:
        with monkeypatch.context() as patch:
            if where == "judge":
                patch.setattr(bugs.judge, "fault", interrupt)
            elif where == "symbolizer":
                patch.setattr(symbols, "run_tool", interrupt)
            else:
                patch.setattr(folder_module, "write_file", interrupt)
            with pytest.raises(KeyboardInterrupt):
                bugs.add(b"w1", failures[b"w1"])
        (bug,) = bugs.all()
        assert bugs.notes == [] and bug.name.startswith("SEGV in two_writes (faults.c:")
        assert (tmp_path / bug.first).read_bytes() == b"w1" and bug.first in bug.reproduce
        assert bugs.add(b"w2", failures[b"w2"]).inputs == 1
    with Bugs(tmp_path, faults, **LIMITS) as again:
        assert len(again.all()) == 2


def test_what_cannot_be_written_is_kept_and_written_later(faults, failures, tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    with Bugs(tmp_path, replace(faults, sanitized=None), **LIMITS) as bugs:
        with monkeypatch.context() as patch:
            patch.setattr(folder_module, "write_file", full)
            assert bugs.add(b"w1", failures[b"w1"]).name.startswith("SEGV in two_writes")
            assert bugs.notes == [
                f"1 failing input could not be written to {tmp_path}; free some space; the next "
                "report writes it"
            ]
            bugs.add(b"w2", failures[b"w2"])
            assert len(bugs.all()) == 2
            assert "2 failing inputs could not be written" in bugs.notes[0]
            assert list(tmp_path.iterdir()) == []
        found = bugs.all()
        assert [(tmp_path / bug.first).read_bytes() for bug in found] == [b"w1", b"w2"]
        assert bugs.notes == []
    with Bugs(tmp_path, faults, **LIMITS) as again:
        assert again.all() == found


def test_files_that_are_damaged_or_of_others_are_left_alone(faults, failures, tmp_path):
    bare = replace(faults, sanitized=None)
    with Bugs(tmp_path, bare, **LIMITS) as bugs:
        bug = bugs.add(b"w1", failures[b"w1"])
    about = tmp_path / f"{bug.first}.json"
    (tmp_path / "other.json").write_text('{"a": 1}')
    about.write_text(about.read_text()[:100])
    with Bugs(tmp_path, bare, **LIMITS) as bugs:
        assert bugs.all() == []
        assert bugs.add(b"w1", failures[b"w1"]).place == bug.place
    assert json.loads(about.read_text())["kind"] == "SEGV"
    assert (tmp_path / "other.json").read_text() == '{"a": 1}'


# ---- the command


def run_pasted(bug: Bug) -> subprocess.CompletedProcess[str]:
    """What a shell makes of the command."""
    return subprocess.run(
        ["sh", "-c", bug.reproduce], capture_output=True, text=True, timeout=60, cwd="/"
    )


SAID = {  # by the program with sanitizers, and by the command that runs it as a campaign does
    "SEGV": ("AddressSanitizer: SEGV", "crash SIGSEGV"),
    "abort": ("deadly signal", "crash SIGABRT"),
    "exit": ("fuzz target exited", "crash exit"),
    "hang": ("libFuzzer: timeout", "hang"),
    "oom": ("AddressSanitizer: requested allocation size", "oom"),
}


@pytest.mark.parametrize("with_binary", [True, False])
def test_the_command_works_by_paste(faults, failures, tmp_path, with_binary):
    """By the binary, or as a campaign runs it where the binary was lost: busy, or stuck."""
    target = replace(faults, sanitized=None, asan=faults.asan if with_binary else None)
    folder = tmp_path / "it's $HOME (1)"
    with Bugs(folder, target, **LIMITS) as bugs:
        by_bug(bugs, {data: failures[data] for data in (b"w1", b"a1", b"xx", b"ss", b"m1")})
        replayed: set[bool] = set()
        for bug in bugs.all():
            done = run_pasted(bug)
            is_replay = "fuzz replay" in bug.reproduce
            assert SAID[bug.kind][is_replay] in done.stdout + done.stderr, bug.reproduce
            assert shlex.split(bug.reproduce)[-1] == str(folder / bug.first)
            assert done.returncode != 0
            replayed.add(is_replay)
        assert (False in replayed) == with_binary


def test_a_command_that_fails_in_another_way_is_not_taken(faults, failures, tmp_path):
    """With sanitizers this loop ends at once, by the overflow of a number."""
    with Bugs(tmp_path, faults, **LIMITS) as bugs:
        bugs.add(b"nn", failures[b"nn"])
        (bug,) = bugs.all()
        assert bug.kind == "hang" and "fuzz replay" in bug.reproduce
        assert run_pasted(bug).stdout.splitlines()[1].startswith("hang ")


def test_the_command_is_tried_with_the_input_that_it_names(faults, failures, tmp_path, monkeypatch):
    with Bugs(tmp_path, faults, **LIMITS) as bugs:
        tried = []
        monkeypatch.setattr(bugs.judge, "way", lambda data, *_, **__: tried.append(data) or "asan")
        bugs.add(b"w1 again", failures[b"w1 again"])
        assert tried == []  # a campaign does not wait for that
        for _ in range(2):
            (bug,) = bugs.all()
        assert tried == [b"w1 again"]
        assert shlex.split(bug.reproduce) == [str(faults.asan), str(tmp_path / bug.first)]
        bugs.minimise(max_seconds=60.0)
        (bug,) = bugs.all()
        assert tried == [b"w1 again", b"w1"]
        assert shlex.split(bug.reproduce)[-1] == str(tmp_path / bug.minimised)


def test_a_program_that_does_not_end_is_not_waited_for(faults, failures, tmp_path, monkeypatch):
    """One that is stuck in its own handler of a signal, say; there is a command nevertheless."""
    limits = []

    def stuck(command, *, timeout, **how):
        limits.append(timeout)
        raise ToolError("it took longer")

    monkeypatch.setattr(verdict, "run_tool", stuck)
    with Bugs(tmp_path, faults, **LIMITS) as bugs:
        bugs.add(b"w1", failures[b"w1"])
        assert limits == []
        (bug,) = bugs.all(max_seconds=5.0)  # a report in the middle of a campaign
        assert 0 < limits[0] <= 5.0
        bugs.all()  # the last one has time
        bugs.all()
        assert len(limits) == 2 and limits[1] <= 20.0
        assert "fuzz replay" in bug.reproduce and "crash SIGSEGV" in run_pasted(bug).stdout


def test_helpers_have_little_time_while_a_campaign_runs(faults, failures, tmp_path, monkeypatch):
    monkeypatch.setattr(bugs_module, "MAX_AT_ONCE", 2.0)
    with Bugs(tmp_path, faults, **LIMITS) as bugs:
        limits = []
        monkeypatch.setattr(bugs.judge, "fault", lambda *_, seconds: limits.append(seconds))
        bugs.add(b"w1", failures[b"w1"])
        bugs.all()
        assert limits == [2.0, math.inf]


UNDEFINED = {  # kind, function, and the text of its line
    b"l\x09": ("out-of-bounds-index", "look_up", "table[i]"),
    b"s\x40": ("invalid-shift-exponent", "shift", "1 << by"),
    b"dd": ("integer-divide-by-zero", "divide", "100 / by"),
    b"n1": ("null-pointer-use", "follow", "sink = *p"),
    b"o1": ("signed-integer-overflow", "near_sum", "x + 1000"),
    b"t1": ("signed-integer-overflow", "near_sum", "x + 1000"),
    b"f1": ("signed-integer-overflow", "far_sum", "x + 1000"),
}


@pytest.fixture(scope="module")
def not_defined(undefined) -> dict[bytes, Failure]:
    inputs = list(UNDEFINED)
    with Executor(undefined, workers=2, sanitized=True, **LIMITS) as executor:
        return {inputs[f.index]: f for f in executor.run(inputs).failures}


def test_undefined_behaviour_has_a_place_and_a_command(undefined, not_defined, tmp_path):
    """One fault reached from two callers is two bugs, and so are two in files of one name."""
    with Bugs(tmp_path, undefined, **LIMITS) as bugs:
        groups = by_bug(bugs, not_defined, sanitized=True)
        assert sorted(groups.values(), key=sorted) == [{data} for data in sorted(UNDEFINED)]
        for bug in bugs.all():
            kind, function, text = UNDEFINED[(tmp_path / bug.first).read_bytes()]
            top = bug.top[0]
            assert (bug.kind, top.function, bug.frames[0]) == (kind, function, top)
            assert text in Path(top.file).read_text().splitlines()[top.line - 1]
            assert 0 < top.start <= top.line and top.file.startswith("/")
            assert bug.frames[-1].function == "run"  # and none of the worker's
            done = run_pasted(bug)
            assert done.returncode != 0, bug.reproduce
            assert f"SUMMARY: UndefinedBehaviorSanitizer: {kind}" in done.stderr
            assert f"in {function} " in done.stderr


def test_a_crash_that_is_undefined_behaviour_has_a_command_that_shows_it(undefined, tmp_path):
    with Executor(undefined, workers=1, **LIMITS) as executor:
        (failure,) = executor.run([b"dd"]).failures
    with Bugs(tmp_path, undefined, **LIMITS) as bugs:
        assert bugs.add(b"dd", failure).kind == "integer-divide-by-zero"
        (bug,) = bugs.all()
        assert "division by zero" in run_pasted(bug).stderr


def place(bug: Bug) -> list[Frame] | list[str]:
    """The frames that tell a bug from others, without the lines that are chance."""
    return list(bug.top) if bug.has_lines else [frame.function for frame in bug.top]


def test_a_program_of_others_with_sanitizers_fails_as_ours(faults, undefined, tmp_path):
    """Such as those of OSS-Fuzz: the worker is preloaded into it."""
    faulty = [data for data in CRASHES if data[:1] not in b"hsn"] + list(SILENT)
    for target, inputs in ((faults, faulty), (undefined, list(UNDEFINED))):
        found = []
        theirs = Target(name="theirs", library=target.asan)
        for way, one, sanitized in (("ours", target, True), ("theirs", theirs, False)):
            with Executor(one, workers=2, sanitized=sanitized, **LIMITS) as executor:
                failures = executor.run(inputs).failures
            assert [f.index for f in failures] == list(range(len(inputs)))
            with Bugs(tmp_path / target.name / way, one, **LIMITS) as bugs:
                for f in failures:
                    bugs.add(inputs[f.index], f, sanitized=sanitized)
                found.append([(bug.kind, bug.inputs, place(bug)) for bug in bugs.all()])
                last = bugs.all()[-1]
                assert str(target.asan) in shlex.split(last.reproduce)
                assert run_pasted(last).returncode != 0
        assert found[0] == found[1]


def test_a_hang_ends_where_the_target_was_entered(undefined, tmp_path):
    """The entry has left its frame; the worker's functions are not part of the target."""
    with Executor(undefined, workers=1, **LIMITS) as executor:
        (failure,) = executor.run([b"hh"]).failures
    with Bugs(tmp_path, undefined, **LIMITS) as bugs:
        bug = bugs.add(b"hh", failure)
        assert (bug.kind, [x.function for x in bug.top]) == ("hang", ["spin", "run"])


def test_a_failure_without_frames_is_a_bug_of_its_own(faults, tmp_path):
    bare = replace(faults, sanitized=None, asan=None, fuzzer=None)
    with Bugs(tmp_path, bare, **LIMITS) as bugs:
        bug = bugs.add(b"?", Failure(0, ExitStatus.CRASH, 99, ()))
        assert (bug.name, bug.place, bug.frames) == ("signal-99", "signal-99", ())
        assert (tmp_path / bug.first).read_bytes() == b"?"


def test_what_helpers_say_may_come_later(faults, failures, tmp_path, monkeypatch):
    """A campaign does not wait: without time only the run itself is asked, and `all` the rest."""
    monkeypatch.setattr(bugs_module, "FREE_SECONDS", 0.0)
    monkeypatch.setattr(bugs_module, "SHARE", 0.0)
    with Bugs(tmp_path / "later", faults, **LIMITS) as bugs:
        early = bugs.add(b"nn", failures[b"nn"])
        assert early.kind == "hang" and "replay" in early.reproduce
        (late,) = bugs.all()
        assert late.place == early.place and late.inputs == 1
        assert (tmp_path / "later" / late.first).read_bytes() == b"nn"
        (kept,) = bugs.all(max_seconds=0.0)
    monkeypatch.setattr(bugs_module, "FREE_SECONDS", float("inf"))
    with Bugs(tmp_path / "at once", faults, **LIMITS) as bugs:
        bug = bugs.add(b"nn", failures[b"nn"])
    assert (bug.id, bug.name) == (late.id, late.name) == (kept.id, kept.name)
