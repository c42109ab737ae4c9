"""`aloex fill` as a stranger meets it."""

import json
import os

from commands import aloex, assert_mistakes_are_one_line, python


def test_a_table_is_filled(tmp_path):
    (tmp_path / "names.csv").write_text(
        "name,short\nAda Lovelace,A. Lovelace\nAlan Turing,A. Turing\n"
        "Grace Hopper,\nMary Ann Lee,\n"
    )
    done = aloex("fill", "names.csv", "--out", "filled.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "program: " in done.stdout and "SubStr(" in done.stdout
    assert "2 rows filled, 1 in doubt" in done.stdout
    assert "  Grace Hopper  ->  G. Hopper" in done.stdout
    assert "? Mary Ann Lee  ->" in done.stdout
    assert "Grace Hopper,G. Hopper," in (tmp_path / "filled.csv").read_text()
    answer = aloex("fill", "names.csv", "--json", cwd=tmp_path)
    assert json.loads(answer.stdout)["rows"][0]["output"] == "G. Hopper"


def test_the_base_install_fills(tmp_path):
    """Without JAX, SciPy, numba and matplotlib: importing one of them fails."""
    (tmp_path / "t.csv").write_text("a b,b\nc d,\n")
    program = (
        "import sys\n"
        "heavy = ('jax', 'jaxlib', 'equinox', 'optax', 'orbax', 'scipy', 'numba', 'matplotlib')\n"
        "sys.modules.update(dict.fromkeys(heavy))\n"
        "from aloex.apps.fill import Row, Solution, fill_table, solve\n"
        "from aloex.cli.main import app\n"
        "for score in ('tables', 'learned'):\n"
        "    app(['fill', 't.csv', '--score', score, '--out', score], standalone_mode=False)\n"
    )
    done = python(program, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for score in ("tables", "learned"):
        assert "c d,d," in (tmp_path / score).read_text()


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
        "open.csv": b'a b,"b\nc d,\n',
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "folder").mkdir()
    (tmp_path / "good.csv").write_text("a b,b\nc d,\n")
    cases = {
        ("missing.csv",): "there is no file missing.csv",
        (".",): "cannot read .: Is a directory",
        ("empty.csv",): "is empty",
        ("blank.csv",): "is empty",
        ("none.csv",): "no row has an output",
        ("wide.csv",): "line 2: 3 columns",
        ("two.csv",): "'a' has two outputs, 'b' and 'c'",
        ("hard.csv",): "no program fits",
        ("latin.csv",): "is not UTF-8",
        ("good.csv", "--samples", "0"): "--samples must be positive",
        ("good.csv", "--out", "good.csv/x.csv"): "cannot make the folder good.csv: File exists",
        ("good.csv", "--out", "/dev/full"): "cannot write /dev/full: No space left on device; free",
        ("good.csv", "--out", "folder"): "cannot write folder: Is a directory",
        ("open.csv",): "line 2: unexpected end of data; look for a quote that is not closed",
    }
    assert_mistakes_are_one_line(("fill",), cases, tmp_path)
    odd = aloex("fill", "nul.csv", cwd=tmp_path)  # read by some versions of Python
    assert "Traceback" not in odd.stderr
    choice = aloex("fill", "good.csv", "--score", "best", cwd=tmp_path)
    assert choice.returncode == 2 and "'best' is not one of 'tables', 'learned'" in choice.stderr


def test_a_terminal_without_umlauts(tmp_path):
    (tmp_path / "ü.csv").write_text("ä b,b\nö d,\n")
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = aloex("fill", "ü.csv", "--out", "ö.csv", cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stderr
    assert "\\xf6 d  ->  d" in done.stdout
    assert "ö d,d," in (tmp_path / "ö.csv").read_text()
