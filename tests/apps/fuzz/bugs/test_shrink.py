"""Failing inputs are made small, within a bound of runs and time."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from aloex.apps.fuzz.bugs import Bugs
from aloex.apps.fuzz.bugs.shrink import Shrinker
from aloex.apps.fuzz.execute import Executor
from aloex.apps.fuzz.target import Target

LIMITS = {"timeout": 0.5, "memory_mb": 512}
NOISE = np.random.default_rng(0).integers(256, size=5000, dtype=np.uint8).tobytes()


class Fails:
    """A program that fails on some inputs, and counts its runs."""

    def __init__(self, on: Callable[[bytes], bool]):
        self.on, self.num_runs, self.batches = on, 0, []

    def __call__(self, inputs: list[bytes]) -> list[bool]:
        self.num_runs += len(inputs)
        self.batches.append(len(inputs))
        return [self.on(data) for data in inputs]


def shrink(data: bytes, on: Callable[[bytes], bool], max_runs: int = 10**6, **how):
    fails = Fails(on)
    arguments = {"max_runs": max_runs, "is_late": lambda: False, **how}
    return Shrinker(data, fails, **arguments).run(), fails


@pytest.mark.parametrize(
    ("on", "small"),
    [
        (lambda x: b"MAGIC" in x, b"MAGIC"),
        (lambda x: len(x) >= 7, bytes(7)),
        (lambda x: x[:1] == b"M" and x.count(b"\xff") >= 2, b"M\xff\xff"),
        (lambda x: len(x) > 2 and x[0] > 0 and x[2] > 127, None),  # any first byte, as text
        (lambda x: True, b""),
    ],
)
def test_what_does_not_matter_goes(on, small):
    data = b"M" + NOISE[:1000] + b"MAGIC" + NOISE[1000:] + b"\xff\xff"
    assert on(data)
    found, _ = shrink(data, on)
    assert on(found)
    if small is not None:
        assert found == small
    else:
        assert len(found) == 3 and 32 <= found[0] < 127 and found[1] == 0


def test_stretches_far_apart_that_need_each_other():
    """As many of the closing brackets as of the opening ones."""
    balanced = lambda x: x.count(b"(") == x.count(b")") >= 3
    found, _ = shrink(b"(((aaaa" + b"b" * 500 + b"cccc)))", balanced)
    assert found == b"((()))"


def test_runs_are_bounded_and_the_result_depends_on_them_alone():
    on = lambda x: b"MAGIC" in x
    data = NOISE[:1000] + b"MAGIC" + NOISE[1000:]
    whole, fails = shrink(data, on)
    assert whole == b"MAGIC"
    assert max(fails.batches) <= 256
    few, bounded = shrink(data, on, max_runs=40)
    assert bounded.num_runs <= 40 and on(few) and len(whole) < len(few) < len(data)
    assert shrink(data, on, max_runs=40)[0] == few
    late = iter([False, False, True])
    some, stopped = shrink(data, on, is_late=lambda: next(late))
    assert len(stopped.batches) == 2 and on(some)


@pytest.fixture
def bare(faults) -> Target:
    return replace(faults, sanitized=None)


def run_all(target: Target, inputs: list[bytes], bugs: Bugs) -> None:
    with Executor(target, workers=2, **LIMITS) as executor:
        for failure in executor.run(inputs).failures:
            bugs.add(inputs[failure.index], failure)


def test_inputs_are_minimised_and_the_bug_stays(bare, tmp_path):
    inputs = [b"w1" + NOISE[:300], b"w2" + NOISE[:200], b"w2" + NOISE[:300], b"a1\xff", b"cc"]
    with Bugs(tmp_path, bare, **LIMITS) as bugs:
        run_all(bare, inputs, bugs)
        before = bugs.all()
        assert bugs.num_to_minimise == len(before) == 4
        bugs.minimise(max_seconds=60.0)
        after = bugs.all()
        assert bugs.num_to_minimise == 0
        small = {(tmp_path / bug.minimised).read_bytes() for bug in after if bug.minimised}
        # copy() fails for any size from 2 on; its second byte does not matter
        assert small == {b"w1", b"w2", b"a1", b"c\0"}
        for old, new in zip(before, after, strict=True):
            assert (new.place, new.kept, new.smallest) == (old.place, old.kept, old.smallest)
            assert new.reproduce.endswith(".min") and not old.reproduce.endswith(".min")
            assert new.minimised == f"{new.smallest}.min"
        times = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    with Bugs(tmp_path, bare, **LIMITS) as again:
        again.minimise()  # there is nothing left to do
        assert again.all() == after
        assert {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == times
        run_all(bare, [b"w1"], again)  # smaller than what it was made of, as small as the result
        assert [bug.minimised for bug in again.all()] == [bug.minimised for bug in after]


def test_an_input_does_not_become_that_of_another_bug(bare, tmp_path):
    """Without its second byte it fails at the same address, but with sanitizers on another line."""
    with Bugs(tmp_path, bare, **LIMITS) as bugs:
        run_all(bare, [b"w12"], bugs)
        bugs.minimise(max_seconds=60.0)
        (bug,) = bugs.all()
        data = (tmp_path / (bug.minimised or bug.smallest)).read_bytes()
        assert data.startswith(b"w1")
    with Bugs(tmp_path / "other", bare, **LIMITS) as bugs:
        run_all(bare, [b"w1", b"w2"], bugs)
        assert len(bugs.all()) == 2


def test_no_time_and_no_runs_change_nothing(bare, tmp_path):
    with Bugs(tmp_path, bare, **LIMITS) as bugs:
        run_all(bare, [b"w1" + NOISE[:300]], bugs)
        bugs.minimise(max_total=0.0)
        bugs.minimise(max_seconds=0.0)
        (bug,) = bugs.all()
        assert bug.minimised == "" and len(list(tmp_path.iterdir())) == 2


def test_a_run_of_many_inputs_ends_with_the_time_there_is(bare, tmp_path, monkeypatch):
    """However long one of them may take: of this input "hs" is tried, which hangs."""
    told, run = [], Executor.run

    def bounded(executor, inputs, *, max_seconds=None, **how):
        told.append(max_seconds)
        return run(executor, inputs, max_seconds=max_seconds, **how)

    patient = {**LIMITS, "timeout": 1000.0}
    with Bugs(tmp_path, replace(bare, asan=None), **patient) as bugs:
        run_all(bare, [b"a1hs"], bugs)
        monkeypatch.setattr(Executor, "run", bounded)
        bugs.minimise(max_total=0.5)
        assert bugs.num_to_minimise == 0
    assert told and all(0 <= seconds <= 0.5 for seconds in told)


def test_a_hang_is_minimised_in_the_time_there_is(bare, tmp_path):
    with Bugs(tmp_path, bare, **LIMITS) as bugs:
        run_all(bare, [b"ss" + bytes(6)], bugs)
        bugs.minimise(max_seconds=4.0)
        (bug,) = bugs.all()
        data = (tmp_path / (bug.minimised or bug.smallest)).read_bytes()
        assert data.startswith(b"s") and len(data) < 8
