"""Failing inputs are kept, told apart, and never stop anything."""

import json
import shlex
import subprocess
from dataclasses import replace

import pytest

from aloex.apps.fuzz.campaign.crashes import MAX_KEPT, Crashes
from aloex.apps.fuzz.execute import Executor
from aloex.apps.fuzz.inputs import ExitStatus, Failure

INPUTS = [b"s", b"s again", b"a", b"r", b"e", b"o", b"h"]
SAME = [[b"s", b"s again"], [b"a"], [b"r"], [b"e"], [b"o"], [b"h"]]  # bugs


@pytest.fixture(scope="module")
def failures(tiny) -> list[Failure]:
    with Executor(tiny, timeout=0.5, memory_mb=64) as executor:
        return executor.run(INPUTS).failures


@pytest.mark.parametrize("with_asan", [True, False])
def test_bugs_are_told_apart(tiny, failures, tmp_path, with_asan):
    crashes = Crashes(tmp_path, tiny if with_asan else replace(tiny, asan=None))
    found = {x: crashes.add(x, f) for x, f in zip(INPUTS, failures, strict=True)}
    bugs = {}
    for x, crash in found.items():
        bugs.setdefault(crash.bug, []).append(x)
        assert (tmp_path / crash.input).read_bytes() == x
        assert json.loads((tmp_path / f"{crash.input}.json").read_text())["bug"] == crash.bug
    assert list(bugs.values()) == SAME
    assert found[b"s"].stack[0] == "write_to"
    assert found[b"s"].bug.split()[0] == ("SEGV" if with_asan else "SIGSEGV")
    assert Crashes(tmp_path, tiny).bugs == crashes.bugs  # found again by the next run


def test_the_command_reproduces_it(tiny, failures, tmp_path):
    crash = Crashes(tmp_path, tiny).add(INPUTS[0], failures[0])
    done = subprocess.run(shlex.split(crash.reproduce), capture_output=True, text=True, timeout=60)
    assert done.returncode != 0
    assert "write_to" in done.stderr or "SEGV" in done.stderr


def test_an_input_counts_once_and_a_bug_is_not_kept_forever(tiny, failures, tmp_path):
    crashes = Crashes(tmp_path, replace(tiny, asan=None))
    for _ in range(2):
        crash = crashes.add(b"s", failures[0])
    assert crashes.bugs == {crash.bug: 1}
    for i in range(MAX_KEPT + 5):
        crashes.add(b"s%d" % i, failures[0])
    assert crashes.bugs == {crash.bug: MAX_KEPT + 6}
    assert len(list(tmp_path.glob("crash-*.json"))) == MAX_KEPT
    assert len(list(tmp_path.iterdir())) == 2 * MAX_KEPT


def test_what_cannot_be_written_or_run_does_not_stop_it(tiny, failures, tmp_path):
    (tmp_path / "file").write_text("in the way")
    crashes = Crashes(tmp_path / "file" / "crashes", tiny)
    assert crashes.add(b"s", failures[0]).status == "crash"
    assert crashes.num_lost == 1
    broken = Crashes(tmp_path / "crashes", replace(tiny, asan=tmp_path / "none"))
    assert broken.add(b"s", failures[0]).bug.startswith("SIGSEGV")
    assert broken.add(b"?", Failure(0, ExitStatus.CRASH, 99, ())).signal == "signal 99"
