"""Campaigns: they may be killed at any moment, and a mistake or a full disk loses nothing."""

import contextlib
import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from aloex.apps.fuzz.campaign import Campaign, crashes, journal
from aloex.apps.fuzz.campaign import campaign as campaigns
from aloex.apps.fuzz.campaign.crashes import MAX_KEPT
from aloex.apps.fuzz.execute import Executor, worker
from aloex.apps.fuzz.inputs import hash_of, read_seeds
from aloex.apps.fuzz.mutate.mutators import RandomEdits, Uniform
from aloex.apps.fuzz.target import Target
from aloex.base.errors import AloexError, CheckpointError, InputError

SEEDS = [b"--------", b"abcdefghijkl", b"short", b""]
NUM_INPUTS, BATCH = 2600, 500
EDITS = (1, 2, 4)


def open_in(out: Path, target, **changed) -> Campaign:
    options = {"seed": 1, "seeds": SEEDS, "grow": True, "batch": BATCH, **changed}
    mutator = Uniform(seed=options.pop("seed"), edits=EDITS)
    settings = {"mutator": "uniform", "seed": mutator.seed}
    inputs = options.pop("seeds")
    return Campaign(target, mutator, inputs, out, settings=settings, workers=2, **options)


def run_in(out: Path, target, num_inputs: int = NUM_INPUTS, **changed) -> list[dict]:
    with open_in(out, target, **changed) as campaign:
        assert campaign.run(num_inputs=num_inputs)
    return told_in(out)


def told_in(out: Path) -> list[dict]:
    """The journal without times and folders."""
    rows = [json.loads(line) for line in (out / "journal.jsonl").read_text().splitlines()]
    for row in rows:
        row.pop("seconds", None)
        for failed in row.get("failed", []):
            failed.pop("reproduce", None)
    return rows


def files_in(folder: Path) -> dict[str, bytes]:
    """Contents by name; of descriptions of crashes, which name folders, that they are there."""
    content = lambda path: b"" if path.suffix == ".json" else path.read_bytes()
    return {path.name: content(path) for path in folder.iterdir()}


def assert_same(out: Path, reference: Path) -> None:
    assert told_in(out) == told_in(reference)
    for folder in ("corpus", "crashes"):
        assert files_in(out / folder) == files_in(reference / folder)


@pytest.fixture(scope="module")
def whole(stairs, tmp_path_factory) -> Path:
    """A campaign that nothing disturbed."""
    out = tmp_path_factory.mktemp("whole")
    run_in(out, stairs)
    return out


def test_it_finds_and_tells(whole, stairs):
    settings, of_seeds, *batches = told_in(whole)
    assert settings["settings"]["grow"] is True
    assert [row["stop"] for row in [of_seeds, *batches]] == [0, 500, 1000, 1500, 2000, 2500, 2600]
    found = [x for row in batches for x in row["found"]]
    corpus = files_in(whole / "corpus")
    assert corpus.keys() == {x["input"] for row in [of_seeds, *batches] for x in row["found"]}
    parents = {**{hash_of(x): x for x in SEEDS}, **corpus}
    for x in found:
        expected = bytearray(parents[x["from"]])
        for position, value in x["edits"]:
            expected[position] = value
        assert expected == corpus[x["input"]]
    seed_names = {hash_of(x) for x in SEEDS}
    assert any(x["from"] not in seed_names for x in found)  # it grew
    with open_in(whole, stairs) as campaign, Executor(stairs) as executor:
        executor.run(list(corpus.values()))
        assert campaign.record.now.edges == executor.edges == campaign.executor.edges
        assert campaign.record.now.features == executor.features == campaign.executor.features
        assert campaign.record.edges_after(0) < executor.edges
        bugs = ["SIGABRT LLVMFuzzerTestOneInput", "SIGSEGV fall LLVMFuzzerTestOneInput"]
        assert sorted(campaign.record.bugs) == bugs
        assert campaign.record.bugs.total() == sum(len(row["failed"]) for row in batches)
        curve = np.array(campaign.record.curve)
    assert (np.diff(curve, axis=0) >= 0).all()


def test_without_growth_all_start_from_seeds(stairs, tmp_path):
    rows = run_in(tmp_path, stairs, grow=False)
    names = {hash_of(x) for x in SEEDS}
    assert all(x["from"] in names for row in rows[2:] for x in row["found"])


def test_the_number_of_workers_may_change_and_a_run_may_be_longer(stairs, whole, tmp_path):
    for num_inputs in (0, 700, 700, 1500, NUM_INPUTS):  # 700 is within a batch
        with open_in(tmp_path, stairs) as campaign:
            campaign.executor._num_workers = 1 + num_inputs % 3
            assert campaign.run(num_inputs=num_inputs)
            assert campaign.record.num_run == num_inputs
    found = lambda out: [x for row in told_in(out)[1:] for x in row["found"] + row["failed"]]
    assert found(tmp_path) == found(whole)


class Killed(BaseException):
    """Stands for SIGKILL: nothing may run after it."""


def test_killed_at_any_write(stairs, whole, tmp_path, monkeypatch):
    """The first time at the first write, the second time at the second, ..."""
    write_file, write = campaigns.write_file, os.write
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

    monkeypatch.setattr(campaigns, "write_file", killed_file)
    monkeypatch.setattr(crashes, "write_file", killed_file)
    monkeypatch.setattr(journal.os, "write", killed_line)
    while num_kills < 100:
        left = num_kills + 1
        try:
            run_in(tmp_path, stairs)
            break
        except Killed:
            num_kills += 1
    assert 8 < num_kills < 100
    assert_same(tmp_path, whole)


def test_a_journal_cut_anywhere(stairs, whole, tmp_path):
    content = (whole / "journal.jsonl").read_bytes()
    rng = np.random.default_rng(0)
    for i, cut in enumerate([0, len(content) - 1, *rng.integers(len(content), size=4).tolist()]):
        out = tmp_path / str(i)
        shutil.copytree(whole, out)
        (out / "journal.jsonl").write_bytes(content[:cut])
        run_in(out, stairs)
        assert_same(out, whole)


def command(target, out: Path, folder: Path, *more: str) -> list[str]:
    for i, x in enumerate(SEEDS):
        (folder / f"{i}").write_bytes(x)
    words = ["fuzz", "run", target.library, "--out", out, "--seeds", folder]
    words += ["--mutator", "uniform", "--edits", "1,2,4", "--batch", "200", *more]
    return [sys.executable, "-m", "aloex", *map(str, words)]


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
    endless = command(stairs, out, folder)
    with subprocess.Popen(endless, stderr=subprocess.DEVNULL) as process:
        wait_for_lines(out / "journal.jsonl", 5)
        process.kill()
    before = (out / "journal.jsonl").read_bytes()
    # A shell's background jobs ignore SIGINT, and what they start inherits that.
    heeding = ["env", "--default-signal=INT", *endless]
    with subprocess.Popen(
        heeding, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        wait_for_lines(out / "journal.jsonl", before.count(b"\n") + 3)
        process.send_signal(number)
        said, errors = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert "stopped; repeat the command to resume" in errors
    assert "report.html" in said
    assert (out / "journal.jsonl").read_bytes().startswith(before[: before.rfind(b"\n") + 1])
    numbers = json.loads((out / "report.json").read_text())
    total = numbers["inputs"] + 300
    done = subprocess.run([*endless, "--inputs", str(total)], capture_output=True, text=True)
    assert f"resuming after {numbers['inputs']} inputs" in done.stderr
    target = replace(stairs, name="library")
    mutator = Uniform(edits=EDITS)
    given = {"mutator": "uniform", "edits": "1,2,4", "keep": 0, "repair": None, "seed": 0}
    with Campaign(target, mutator, SEEDS, once, settings=given, batch=200) as campaign:
        campaign.run(num_inputs=total)
    assert_same(out, once)


class Deaf(RandomEdits):
    """A mutator in which an interrupt gets lost, as in a destructor."""

    def mutate(self, seeds, start, n):
        if start >= 400:
            with contextlib.suppress(KeyboardInterrupt):
                os.kill(os.getpid(), signal.SIGINT)
        return super().mutate(seeds, start, n)


def test_an_interrupt_that_got_lost_is_noticed_after_the_batch(stairs, tmp_path):
    mutator = Deaf(edits=EDITS)
    with Campaign(stairs, mutator, SEEDS, tmp_path, settings={}, batch=200) as campaign:
        assert not campaign.run(num_inputs=2000)
        assert campaign.record.num_run == 600


def test_a_full_disk_loses_nothing(stairs, whole, tmp_path, monkeypatch):
    write = os.write

    def full(fd, line):
        if os.fstat(fd).st_size < 2000:
            return write(fd, line)
        write(fd, line[:7])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(journal.os, "write", full)
    with open_in(tmp_path, stairs) as campaign:
        with pytest.raises(
            AloexError, match=r"No space left on device; free some.*then resumes the campaign"
        ):
            campaign.run(num_inputs=NUM_INPUTS)
        assert 1 < len(told_in(tmp_path)) < 8
        monkeypatch.undo()
        assert campaign.run(num_inputs=NUM_INPUTS)
    assert_same(tmp_path, whole)


def test_other_settings_are_refused(stairs, whole, tmp_path):
    for changed, words in (
        ({"seed": 2}, "has seed=1, now seed=2 is given"),
        ({"grow": False}, "has grow=True, now grow=False"),
        ({"seeds": SEEDS[:2]}, "has seeds='"),
        ({"timeout": 2.0}, "has timeout=1.0, now timeout=2.0"),
    ):
        with pytest.raises(CheckpointError, match=words):
            open_in(whole, stairs, **changed)
    other = tmp_path / "other.so"
    other.write_bytes(stairs.library.read_bytes() + b"!")
    with pytest.raises(CheckpointError, match="has library='"):
        open_in(whole, replace(stairs, library=other))


def test_damage_is_told(stairs, whole, tmp_path):
    out = tmp_path / "out"
    shutil.copytree(whole, out)
    with open_in(out, stairs), pytest.raises(AloexError, match="another process is at work"):
        open_in(out, stairs)
    path = out / "corpus" / told_in(out)[2]["found"][0]["input"]
    for spoil, words in (
        (lambda: path.write_bytes(b"other"), "is not as it was written"),
        (path.unlink, "cannot be read: No such file"),
    ):
        spoil()
        with open_in(out, stairs) as campaign, pytest.raises(CheckpointError, match=words):
            campaign.run(num_inputs=NUM_INPUTS + 1)
    lines = (whole / "journal.jsonl").read_bytes().splitlines(keepends=True)
    for content, words in (
        (b"".join([*lines[:2], b"{oops\n", *lines[3:]]), "damaged in line 3; remove the line"),
        (b'{"step": 1}\n', "is not the journal of a campaign"),
    ):
        (out / "journal.jsonl").write_bytes(content)
        with pytest.raises(CheckpointError, match=words):
            open_in(out, stairs)
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(AloexError, match=r"cannot write to .*: (Not a directory|File exists)"):
        open_in(tmp_path / "file", stairs)
    with pytest.raises(InputError, match=r"holds other files \(file, out\) and no campaign"):
        open_in(tmp_path, stairs)
    assert not (tmp_path / "corpus").exists()


def test_large_seeds_are_mutated_in_parts(stairs, whole, tmp_path, monkeypatch):
    monkeypatch.setattr(campaigns, "MAX_BYTES", 1000)
    rows = run_in(tmp_path, stairs)
    assert len(rows) > 20
    found = lambda rows: [x for row in rows[1:] for x in row["found"] + row["failed"]]
    assert sorted(map(str, found(rows))) == sorted(map(str, found(told_in(whole))))


def test_an_interrupt_drops_the_batch(stairs, whole, tmp_path):
    def interrupt(record):
        if record.num_run in signals:
            os.kill(os.getpid(), signals[record.num_run])

    signals, stopped_by = {500: signal.SIGINT, 1500: signal.SIGTERM}, []
    for _ in range(3):
        with open_in(tmp_path, stairs) as campaign:
            is_done = campaign.run(num_inputs=NUM_INPUTS, on_batch=interrupt)
            assert is_done == (campaign.record.num_run == NUM_INPUTS)
            stopped_by.append(campaign.signal)
    assert is_done and stopped_by == [signal.SIGINT, signal.SIGTERM, None]
    assert_same(tmp_path, whole)


def test_targets_that_cannot_be_used(clang, tmp_path, monkeypatch):
    monkeypatch.setattr(worker, "MAX_START", 0.5)
    test = "int LLVMFuzzerTestOneInput(const char *data, long size) { return 0; }\n"
    first = "__attribute__((constructor)) static void first(void) { sleep(1000); }\n"
    for name, source, words in (
        ("plain", test, "has no coverage counters"),
        ("hanging", "#include <unistd.h>\n" + first + test, "died or hung as it was loaded"),
    ):
        (tmp_path / f"{name}.c").write_text(source)
        library = tmp_path / f"{name}.so"
        subprocess.run([clang, "-shared", "-fPIC", library.with_suffix(".c"), "-o", library])
        with pytest.raises(InputError, match=words):
            open_in(tmp_path / "out", Target.load(library))
    assert not (tmp_path / "out").exists()


def test_a_target_that_always_fails(stairs, tmp_path):
    always = [b"abc%04d\xff" % i for i in range(30)]
    with open_in(tmp_path, stairs, seeds=always) as campaign:
        with pytest.raises(InputError, match=r"none of the 30 seeds can be used: .*SIGABRT"):
            campaign.run(num_inputs=100)
        assert campaign.record.bugs.total() == 30
    assert len(files_in(tmp_path / "crashes")) == 2 * MAX_KEPT
    with open_in(tmp_path, stairs, seeds=always) as campaign, pytest.raises(InputError):
        campaign.run(num_inputs=100)  # and says so again


def test_seeds_of_all_kinds(tmp_path):
    with pytest.raises(InputError, match=r"no seeds in .*none; check the path"):
        read_seeds(tmp_path / "none", max_len=100)
    with pytest.raises(InputError, match="it is empty; put at least one"):
        read_seeds(tmp_path, max_len=100)
    (tmp_path / "a").write_bytes(b"")
    with pytest.raises(InputError, match="it has only empty files"):
        read_seeds(tmp_path, max_len=100)
    with (tmp_path / "big").open("wb") as file:
        file.truncate(100 << 20)
    (tmp_path / "gone").symlink_to(tmp_path / "nowhere")
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "b").write_bytes(b"seed")
    found = read_seeds(tmp_path, max_len=1 << 20)
    assert found.inputs == [b"", b"seed"]
    assert sorted(found.notes) == [
        "left out 1 of the seeds (No such file or directory): gone",
        "left out 1 of the seeds (longer than 1048576 bytes): big",
    ]
    assert read_seeds(tmp_path / "deep" / "b", max_len=100).inputs == [b"seed"]
    with pytest.raises(InputError, match=r"longer than 3 bytes\): b;"):
        read_seeds(tmp_path / "deep", max_len=3)
