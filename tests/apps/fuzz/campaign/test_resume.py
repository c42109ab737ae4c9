"""Campaigns may be killed or interrupted at any moment: they end as if nothing had been."""

import contextlib
import errno
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from aloex.apps.fuzz.campaign import Campaign, journal, state
from aloex.apps.fuzz.campaign import campaign as campaigns
from aloex.apps.fuzz.campaign.pool import Pool
from aloex.apps.fuzz.execute import Executor
from aloex.apps.fuzz.native import Engine
from aloex.apps.fuzz.target.strings import strings_of
from aloex.base.errors import AloexError, CheckpointError
from aloex.base.files import write_file
from campaigns import NUM_INPUTS, SEEDS, End, assert_same, end_of, open_in, run_in, told_in


class Killed(BaseException):
    """Stands for SIGKILL: nothing may run after it."""


def test_killed_at_any_write(stairs, whole, tmp_path, monkeypatch):
    """The first time at the first write, the second time at the second, ..."""
    write = os.write
    num_kills, left = 0, 0

    def is_last() -> bool:
        nonlocal left
        left -= 1
        return left == 0

    def killed_file(path, data):
        if is_last():
            raise Killed
        write_file(path, data)

    def killed_line(fd, line):
        last = is_last()
        written = write(fd, line[: len(line) // 2] if last and num_kills % 2 else line)
        if last:
            raise Killed
        return written

    monkeypatch.setattr(campaigns, "SECONDS_BETWEEN_STATES", 0.0)
    monkeypatch.setattr(campaigns, "write_input", killed_file)
    monkeypatch.setattr(state, "write_file", killed_file)
    monkeypatch.setattr(journal.os, "write", killed_line)
    while num_kills < 100:
        left = num_kills + 1
        try:
            end = run_in(tmp_path, stairs)
            break
        except Killed:
            num_kills += 1
    assert 8 < num_kills < 100
    assert_same(end, whole)


def test_a_state_is_saved_now_and_then(stairs, tmp_path, monkeypatch):
    """And before a part of an epoch, and in the end."""
    assert campaigns.SECONDS_BETWEEN_STATES == 10
    for seconds, between in ((1e9, False), (0.0, True)):
        monkeypatch.setattr(campaigns, "SECONDS_BETWEEN_STATES", seconds)
        saved: list[bool] = []
        look = lambda campaign, saved=saved: saved.append((campaign.out / "state").exists())
        with open_in(tmp_path / str(seconds), stairs) as campaign:
            campaign.run(num_inputs=256, on_epoch=look)
            look(campaign)
        assert saved == [*(5 * [between]), True]


def test_a_journal_cut_anywhere(stairs, whole, tmp_path):
    """It goes on from its state; if the state is of later, that is told, and it begins anew."""
    content = (whole.out / "journal.jsonl").read_bytes()
    cuts = [0, len(content) - 1, *np.random.default_rng(0).integers(len(content), size=3).tolist()]
    for i, cut in enumerate(cuts):
        out = tmp_path / str(i)
        shutil.copytree(whole.out, out)
        (out / "journal.jsonl").write_bytes(content[:cut])
        if cut < len(content) - 1:
            with pytest.raises(CheckpointError, match="is not of this journal; delete it"):
                open_in(out, stairs)
            (out / "state").unlink()
        assert_same(run_in(out, stairs), whole)


def interrupting(function, moment: int, *, before: bool):
    """The function, with ctrl-C before or after one of its calls."""
    calls = 0

    def wrapped(*args, **kwargs):
        nonlocal calls
        calls += 1
        if before and calls == moment:
            os.kill(os.getpid(), signal.SIGINT)
        result = function(*args, **kwargs)
        if not before and calls == moment:
            os.kill(os.getpid(), signal.SIGINT)
        return result

    return wrapped


PLACES = {  # a class or module, and its function; how often it is called first
    "lanes": (Executor, "lanes", 9),
    "merge": (campaigns, "merge", 9),
    "pool": (Pool, "add_new", 9),
    "input": (Engine, "add", 12),
    "learn": (Engine, "learn", 9),
    "plan": (Engine, "plan", 9),
    "file": (campaigns, "write_input", 9),
    "line": (journal.Journal, "append", 9),
    "seeds": (Pool, "add_seeds", 1),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
def test_an_interrupt_at_any_moment(stairs, whole, tmp_path, monkeypatch, place, before):
    """The run returns, in order, and goes on in the same process or in the next."""
    owner, name, moment = PLACES[place]
    wrapped = interrupting(getattr(owner, name), moment, before=before)
    with monkeypatch.context() as patched:
        patched.setattr(owner, name, wrapped)
        with open_in(tmp_path, stairs) as campaign:
            assert not campaign.run(num_inputs=NUM_INPUTS)
            assert campaign.signal == signal.SIGINT
            assert campaign.record.num_run < NUM_INPUTS
            if before:
                assert campaign.run(num_inputs=NUM_INPUTS)
                assert_same(end_of(campaign), whole)
    assert_same(run_in(tmp_path, stairs), whole)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_between_epochs(stairs, whole, tmp_path, number):
    def interrupt(campaign):
        if campaign.record.num_run == 1024:
            os.kill(os.getpid(), number)

    with open_in(tmp_path, stairs) as campaign:
        assert not campaign.run(num_inputs=NUM_INPUTS, on_epoch=interrupt)
        assert campaign.signal == number
    with open_in(tmp_path, stairs) as campaign:
        assert campaign.record.num_run == 1024  # nothing is lost
        assert campaign.run(num_inputs=NUM_INPUTS)
        assert_same(end_of(campaign), whole)


def test_an_interrupt_that_got_lost_is_noticed_after_the_epoch(stairs, tmp_path, monkeypatch):
    merge = campaigns.merge

    def deaf(*args):
        with contextlib.suppress(KeyboardInterrupt):  # as in a destructor
            os.kill(os.getpid(), signal.SIGINT)
        return merge(*args)

    monkeypatch.setattr(campaigns, "merge", deaf)
    with open_in(tmp_path, stairs) as campaign:
        assert not campaign.run(num_inputs=2000)
        assert campaign.record.num_run == 64


@pytest.mark.parametrize("what", ["journal", "state", "corpus"])
def test_a_full_disk_loses_nothing(stairs, whole, tmp_path, monkeypatch, what):
    write, calls = os.write, 0

    def no_space() -> OSError:
        return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def full_line(fd, line):
        if os.fstat(fd).st_size < 2000:
            return write(fd, line)
        write(fd, line[:7])
        raise no_space()

    def full_file(path, data):
        nonlocal calls
        calls += 1
        if calls > 8:
            raise no_space()
        write_file(path, data)

    monkeypatch.setattr(campaigns, "SECONDS_BETWEEN_STATES", 0.0)
    if what == "journal":
        monkeypatch.setattr(journal.os, "write", full_line)
    else:
        owner, name = {"state": (state, "write_file"), "corpus": (campaigns, "write_input")}[what]
        monkeypatch.setattr(owner, name, full_file)
    with open_in(tmp_path, stairs) as campaign:
        with pytest.raises(
            AloexError, match=r"No space left on device; free some.*then resumes the campaign"
        ):
            campaign.run(num_inputs=NUM_INPUTS)
        assert 1 < len(told_in(tmp_path)) < 25
        monkeypatch.undo()
        assert campaign.run(num_inputs=NUM_INPUTS)
        assert_same(end_of(campaign), whole)


def wait_for_lines(path: Path, num_lines: int) -> None:
    deadline = time.monotonic() + 60
    while not path.exists() or path.read_bytes().count(b"\n") < num_lines:
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_killed_and_interrupted_from_outside(stairs, tmp_path, number):
    """kill -9, then ctrl-C or kill, then to the end: the same as in one go."""
    folder, out, once = tmp_path / "seeds", tmp_path / "out", tmp_path / "once"
    folder.mkdir()
    for i, x in enumerate(SEEDS):
        (folder / f"{i}").write_bytes(x)
    words = ["fuzz", "run", stairs.library, "--out", out, "--seeds", folder, "--seed", "1"]
    endless = [sys.executable, "-m", "aloex", *map(str, words)]
    with subprocess.Popen(endless, stderr=subprocess.DEVNULL) as process:
        wait_for_lines(out / "journal.jsonl", 5)
        process.kill()
    # A shell's background jobs ignore SIGINT, and what they start inherits that.
    heeding = ["env", "--default-signal=INT", *endless]
    with subprocess.Popen(
        heeding, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        wait_for_lines(out / "journal.jsonl", 15)
        process.send_signal(number)
        said, errors = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert "stopped; repeat the command to resume" in errors
    assert "report.html" in said
    total = 4000 + max(row.get("stop", 0) for row in told_in(out))
    has_state = (out / "state").exists()  # not if it was stopped between an epoch and its line
    done = subprocess.run([*endless, "--inputs", str(total)], capture_output=True, text=True)
    found = re.search(r"resuming after ([\d,]+) (?:input|seed)", done.stderr)
    assert (found is not None) == has_state, done.stderr
    assert found is None or 0 <= int(found[1].replace(",", "")) < total
    library = replace(stairs, name="library", tracer=None, fuzzer=None)
    strings = strings_of(stairs.library)
    with Campaign(library, SEEDS, once, seed=1, strings=strings) as campaign:
        campaign.run(num_inputs=total)
    assert_same(End(out, b"", []), End(once, b"", []))
    kinds = lambda folder: {path.name.split("-")[0] for path in folder.iterdir()}
    assert kinds(out / "crashes") == kinds(once / "crashes") == {"abort", "SEGV"}
