"""Coverage at equal wall-clock: fuzzers started and stopped by the clock, rows judged by replay."""

import os
import shutil
import sys
import time
from pathlib import Path

import pytest

from aloex.apps.fuzz.execute import Executor
from aloex.apps.fuzz.target import TargetRecipe, build_target
from aloex.apps.fuzz.tools import run_tool
from aloex.base.errors import AloexError, InputError
from fuzz_targets import HERE, ROOT, SEEDS, with_seeds
from studies import results
from studies.fuzz import jobs, seconds, timed
from studies.fuzz.__main__ import app
from studies.fuzz.fuzzers import Binaries, Start, start, what_is_missing
from studies.fuzz.timed import Found, run_for

CORE = min(os.sched_getaffinity(0))


@pytest.fixture(scope="module")
def target(clang, tmp_path_factory):
    """stairs.c, for libFuzzer and us."""
    recipe = TargetRecipe(name="stairs", folder=HERE, harness=["stairs.c"], max_len=64)
    return with_seeds(build_target(recipe, tmp_path_factory.mktemp("stairs")))


def test_rows_at_equal_wall_clock(target, tmp_path):
    out, told = tmp_path / "rows.json", []
    folder = str(target.library.parent)
    how = {"seconds": 2.0, "trials": range(1), "cores": [CORE], "tell": told.append}
    fuzzers = ["aloex", "libfuzzer", "aloex:--keep 1"]
    assert seconds.make([folder], fuzzers, out, **how) == 0
    rows = {row["fuzzer"]: row for row in results.read(out)}
    assert set(rows) == set(fuzzers) and len(told) == 3
    with Executor(target, workers=1) as executor:
        executor.run(list(SEEDS.values()))
        of_seeds = executor.edges
    for row in rows.values():
        assert row["executions"] > 0 and row["kept"] > 0 and row["seconds"] == 2.0
        moments, edges, features = zip(*row["curve"], strict=True)
        assert len(moments) == seconds.NUM_MOMENTS and moments[-1] == 2.0
        assert list(edges) == sorted(edges) and list(features) == sorted(features)
        assert of_seeds < edges[-1] == row["edges"] <= row["features"]
    assert rows["aloex:--keep 1"]["started"].endswith("--out WORK/out --keep 1")
    assert "TARGET/seeds" in rows["libfuzzer"]["started"]

    assert seconds.make([folder], fuzzers, out, **how) == 0
    assert len(told) == 3  # all was there
    assert seconds.make([folder], fuzzers, out, **{**how, "trials": range(2)}, within=1) == 3
    text = seconds.table(results.read(out), 2.0)
    assert text.splitlines()[0].startswith("| target | fuzzer, 2 s | median | edges |")
    assert f"| stairs | aloex | {rows['aloex']['edges']} |" in text


def test_afl_in_its_row(clang, tmp_path):
    if shutil.which("afl-clang-fast") is None:
        pytest.skip("AFL++ is missing: apt-get install afl++")
    recipe = TargetRecipe(name="stairs", folder=HERE, harness=["stairs.c"], max_len=64)
    built = with_seeds(build_target(recipe, tmp_path / "stairs", afl=True))
    (row,) = seconds.run_job(jobs.Job(str(built.library.parent), "aflpp", 3.0, 0))
    assert row["executions"] > 100 and row["starts"] == 1 and "afl-fuzz" in row["versions"]
    assert row["kept"] > len(SEEDS)


def test_libfuzzer_goes_on_after_crashes(target, tmp_path):
    """In jobs of its own, or started again; one in 60 inputs crashes."""
    for forks in (True, False):
        folder = tmp_path / str(forks)
        folder.mkdir()
        begin = lambda again, folder=folder, forks=forks: start(
            *("libfuzzer", target, folder / "work"), seconds=3, seed=1, again=again, forks=forks
        )
        done = run_for(3.0, begin, folder, [1.0])
        assert ("-fork=1" in done.command) == forks
        assert (done.crashes > done.starts) == forks and (forks or done.starts > 1)
        assert done.executions > 100
        assert all(found.path.exists() for found in done.kept)


def script(tmp_path: Path, text: str) -> Start:
    """A fuzzer by a script of ours."""
    count = lambda said, folder: said.count("run")
    return Start([sys.executable, "-c", text], ("corpus/*",), ("bad/*",), {}, count, count)


def test_what_is_replaced_stays_and_moments_are_told(tmp_path):
    work = tmp_path / "work"
    text = f"""
import os, time, pathlib
work = pathlib.Path({str(work)!r})
(work / "corpus").mkdir()
print("run", flush=True)
(work / "corpus/first").write_bytes(b"1")
time.sleep(2)
(work / "corpus/first").unlink()
(work / "corpus/second").write_bytes(b"2")
time.sleep(60)
"""
    begun = time.monotonic()
    done = run_for(4.0, lambda again: script(tmp_path, text), tmp_path, [1.0, 9.0])
    assert time.monotonic() - begun < timed.GRACE  # it was asked to end
    assert [(found.path.read_bytes(), found.seconds) for found in done.kept] == [
        (b"1", 1.0),
        (b"2", 4.0),
    ]
    assert (done.executions, done.starts, done.failing) == (1, 1, [])


def test_a_fuzzer_that_runs_nothing_is_told_of(tmp_path):
    text = "import sys; sys.exit('no such thing')"
    with pytest.raises(AloexError, match="ran no input: no such thing"):
        run_for(0.5, lambda again: script(tmp_path, text), tmp_path, [])


def test_curves_count_seeds_and_go_by_time(target, tmp_path):
    one, two = tmp_path / "1", tmp_path / "2"
    one.write_bytes(b"\1-------")
    two.write_bytes(b"\1\1------")
    curve = seconds.replay(target, [Found(one, 0.5), Found(two, 2.0)], [0.25, 0.5, 1.0])
    with Executor(target, workers=1) as executor:
        expected = []
        for inputs in (list(SEEDS.values()), [b"\1-------"], [], [b"\1\1------"]):
            executor.run(inputs)
            expected.append((executor.edges, executor.features))
    assert expected[0] < expected[1] == expected[2] < expected[3]
    assert curve == [(t, *e) for t, e in zip((0.25, 0.5, 1.0, 2.0), expected, strict=True)]


def test_the_order_of_jobs_is_drawn_trial_by_trial():
    drawn = jobs.plan(["a", "b"], ["x", "y", "z"], 5.0, range(3), seed=1)
    assert drawn == jobs.plan(["a", "b"], ["x", "y", "z"], 5.0, range(3), seed=1)
    assert drawn != jobs.plan(["a", "b"], ["x", "y", "z"], 5.0, range(3), seed=2)
    assert [job.trial for job in drawn] == [0] * 6 + [1] * 6 + [2] * 6
    for i in range(0, 18, 3):  # all fuzzers of a target run side by side
        assert {job.fuzzer for job in drawn[i : i + 3]} == {"x", "y", "z"}
        assert len({job.target for job in drawn[i : i + 3]}) == 1


def test_a_table_by_hand():
    """Three against three without ties: p is 0.1 for each, times two tests; A12 is 1 and 0."""
    row = lambda fuzzer, trial, edges, **more: {
        **{"target": "t", "fuzzer": fuzzer, "trial": trial, "edges": edges},
        **{"seconds": 2.0, "executions": 10, **more},
    }
    rows = [row("aloex", i, 10 + i) for i in range(3)] + [row("aflpp", i, i) for i in range(3)]
    rows += [row("libfuzzer", i, 20 + i) for i in (2, 0, 1)] + [row("aloex", 9, 1, seconds=60.0)]
    assert seconds.table(rows, 2.0).splitlines()[2:] == [
        "| t | aloex | 11 | 10 11 12 | 5 |  |  |",
        "| t | libfuzzer | 21 | 20 21 22 | 5 | 0.2 | 0.00 |",
        "| t | aflpp | 1 | 0 1 2 | 5 | 0.2 | 1.00 |",
    ]


def test_what_each_fuzzer_is_given(target, tmp_path):
    words = lambda name, **how: start(name, target, tmp_path, seconds=5, seed=3, **how).command
    given = Binaries(Path("/t/fuzzer"), Path("/t/afl"), Path("/t/cmplog"), Path("/t/dict"))
    libfuzzer = words("libfuzzer", again=2, binaries=given, forks=True)
    assert libfuzzer[:2] == ["/t/fuzzer", "-seed=2003"]
    assert {"-dict=/t/dict", "-fork=1", "-ignore_crashes=1", "-max_len=64"} <= {*libfuzzer}
    aflpp = " ".join(words("aflpp", binaries=given))
    assert "-c /t/cmplog -x /t/dict -- /t/afl" in aflpp and " -G 64 " in aflpp
    assert words("aloex:--repair png")[-2:] == ["--repair", "png"]
    assert len(what_is_missing(target)) == 2
    for wrong, says in (
        ("honggfuzz", "no fuzzer 'honggfuzz'; choose one of aloex"),
        ("aflpp:-p rare", "only aloex takes options here"),
        ("aflpp", r"is not built for AFL\+\+"),
    ):
        with pytest.raises(InputError, match=says):
            words(wrong)


def test_what_is_carried_runs_elsewhere(clang, tmp_path, capsys):
    """In another folder, with nothing of this machine's settings but Python's path."""
    if shutil.which("afl-clang-fast") is None:
        pytest.skip("AFL++ is missing: apt-get install afl++")
    recipe = TargetRecipe(name="stairs", folder=HERE, harness=["stairs.c"], max_len=64)
    built = with_seeds(build_target(recipe, tmp_path / "stairs", afl=True, coverage=True))
    (tmp_path / "models/run").mkdir(parents=True)  # it stays here
    (tmp_path / "models/stairs.safetensors").write_bytes(b"a model")
    words = ["carry", "--to", str(tmp_path / "here"), "--targets", str(built.library.parent)]
    app([*words, "--models", str(tmp_path / "models")], standalone_mode=False)
    assert "here.tar.xz (" in capsys.readouterr().out
    shutil.unpack_archive(tmp_path / "here.tar.xz", tmp_path / "unpacked")
    there = tmp_path / "there"
    (tmp_path / "unpacked/here").rename(there)
    assert [path.name for path in (there / "models").iterdir()] == ["stairs.safetensors"]
    words = "-m studies.fuzz seconds --targets there/targets/stairs --fuzzers aloex,aflpp"
    script = f"source there/settings.sh && which afl-fuzz && {sys.executable} {words} "
    script += f"--seconds 2 --trials 1 --cores {CORE} --out rows.json"
    path = f"{ROOT}/src:{ROOT}"
    env = {"PATH": "/usr/bin:/bin", "PYTHONPATH": path, "HOME": "/nowhere"}
    said = run_tool(
        ["env", "-i", *(f"{k}={v}" for k, v in env.items()), "bash", "-c", script], cwd=tmp_path
    )
    assert said.stdout.splitlines()[0] == str(there / "bin/afl-fuzz")
    assert {row["fuzzer"] for row in results.read(tmp_path / "rows.json")} == {"aloex", "aflpp"}
    assert any((there / "cache/aloex").iterdir())
    assert not (there / "targets/stairs/coverage").exists()
    app(["table", str(tmp_path / "rows.json"), "--seconds", "2"], standalone_mode=False)
    assert "| stairs | aflpp |" in capsys.readouterr().out


def test_cores():
    assert jobs.cores_in("0-2,5,1") == [0, 1, 2, 5]
    with pytest.raises(InputError, match="numbers and ranges such as 0-3,6, got 'all'"):
        jobs.cores_in("all")
    with pytest.raises(InputError, match=r"--cores names \[9999\]"):
        jobs.measure([], print, [9999], print, takes=1)
