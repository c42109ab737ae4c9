"""`aloex synth` as a stranger meets it."""

import json
import subprocess
import sys

from commands import aloex, assert_mistakes_are_one_line


def test_a_table_is_filled(tmp_path):
    (tmp_path / "names.csv").write_text(
        "name,short\nAda Lovelace,A. Lovelace\nAlan Turing,A. Turing\n"
        "Grace Hopper,\nMary Ann Lee,\n"
    )
    done = aloex("synth", "solve", "names.csv", "--out", "filled.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "program: " in done.stdout and "SubStr(" in done.stdout
    assert "2 rows filled, 1 in doubt" in done.stdout
    assert "  Grace Hopper  ->  G. Hopper" in done.stdout
    assert "? Mary Ann Lee  ->" in done.stdout
    assert "Grace Hopper,G. Hopper," in (tmp_path / "filled.csv").read_text()
    answer = aloex("synth", "solve", "names.csv", "--json", cwd=tmp_path)
    assert json.loads(answer.stdout)["rows"][0]["output"] == "G. Hopper"


def test_nothing_heavy_is_loaded(tmp_path):
    (tmp_path / "t.csv").write_text("a b,b\nc d,\n")
    program = (
        "import sys\nfrom aloex.cli.main import app\n"
        "for score in ('tables', 'learned'):\n"
        "    app(['synth', 'solve', 't.csv', '--score', score], standalone_mode=False)\n"
        "print([name for name in ('jax', 'numba', 'matplotlib') if name in sys.modules])"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=tmp_path)
    assert done.stdout.splitlines()[-1] == "[]", done.stderr


def test_mistakes_are_one_line(tmp_path):
    files = {
        "empty.csv": b"",
        "blank.csv": b"\n\n,\n",
        "none.csv": b"a\nb\n",
        "wide.csv": b"a,b\nc,d,e\n",
        "two.csv": b"a,b\na,c\n",
        "hard.csv": b"abc,q\nabd,r\n",
        "latin.csv": "é,è\n".encode("latin-1"),
        "nul.csv": b"a\x00b,a\n",
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "good.csv").write_text("a b,b\nc d,\n")
    cases = {
        ("missing.csv",): "there is no file missing.csv",
        (".",): "cannot be read",
        ("empty.csv",): "is empty",
        ("blank.csv",): "is empty",
        ("none.csv",): "no row has an output",
        ("wide.csv",): "line 2: 3 columns",
        ("two.csv",): "'a' has two outputs, 'b' and 'c'",
        ("hard.csv",): "no program fits",
        ("latin.csv",): "is not UTF-8",
        ("good.csv", "--samples", "0"): "--samples must be positive",
        ("good.csv", "--score", "best"): "--score is tables or learned",
        ("good.csv", "--out", "good.csv/x.csv"): "cannot be written",
    }
    assert_mistakes_are_one_line(("synth", "solve"), cases, tmp_path)
    odd = aloex("synth", "solve", "nul.csv", cwd=tmp_path)  # read by some versions of Python
    assert "Traceback" not in odd.stderr


def test_tasks_are_made(tmp_path):
    done = aloex("synth", "tasks", "-n", "3", "--out", "some.tsv.xz", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    taken = aloex("synth", "tasks", "--seed", "1", "--out", "x", cwd=tmp_path)
    assert taken.returncode == 2 and "frozen set" in taken.stderr


def test_training_stops_in_time_and_says_how_to_go_on(tmp_path):
    command = ("synth", "train", "energy", "--out", "run", "--batch", "2")
    stopped = aloex(*command, "--seconds", "1e-9", cwd=tmp_path)
    assert stopped.returncode == 0 and "go on with --resume" in stopped.stderr, stopped.stderr
    cases = {
        ("--out", "run"): "exists already",
        ("--out", "run", "--resume"): "has batch_size=2, but now batch_size=64",
        ("--out", "new", "--jobs", "0"): "--jobs must be at least 1",
    }
    assert_mistakes_are_one_line(("synth", "train", "energy"), cases, tmp_path)


def test_ranking_is_rated(tmp_path):
    command = ("synth", "table", "-n", "3", "--public", "4", "--out", "here", "--jobs", "2")
    done = aloex(*command, "--model", "version space + energy, inputs known", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (row,) = json.loads((tmp_path / "here/summary.json").read_text())["rows"]
    assert row["n_tasks"] == 3 and 0 <= row["top1_beam1"] <= row["top10_beam10"] <= 1
    cases = {
        ("--model", "none"): "there is no model 'none'",
        ("--public", "5"): "--public must be 1 to 4",
        ("--set", "train"): "the frozen sets are",
    }
    assert_mistakes_are_one_line(("synth", "table"), cases, tmp_path)
