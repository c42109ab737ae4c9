"""`aloex fill` and `aloex fill apply` as a stranger meets them."""

import json
import os
import sys

import pytest

from commands import aloex, assert_mistakes_are_one_line, python

NAMES = "name,short\nAda Lovelace,Lovelace\nAlan Turing,Turing\nGrace Hopper,\nKurt Gödel,\n"


def test_a_table_is_filled(run, tmp_path):
    (tmp_path / "names.csv").write_text(NAMES)
    status, out, err = run("fill", "names.csv", "--target", "short", "--out", "new/filled.csv")
    assert status == 0 and "new/filled.csv is in a folder that is not there yet; it is made" in err
    assert "2 rows filled" in out and "program: " in out
    assert "filled table: new/filled.csv" in out
    expected = NAMES.replace("Hopper,", "Hopper,Hopper").replace("Gödel,", "Gödel,Gödel")
    assert (tmp_path / "new" / "filled.csv").read_text() == expected
    assert (tmp_path / "names.csv").read_text() == NAMES  # the input is not touched
    run("fill", "names.csv", "--in-place")
    assert (tmp_path / "names.csv").read_text() == expected


def test_the_answer_as_json(run, tmp_path):
    (tmp_path / "names.csv").write_text(NAMES)
    status, out, _ = run("fill", "names.csv", "--json")
    answer = json.loads(out)
    assert status == 0 and answer["target"] == "short" and answer["sources"] == ["name"]
    assert [(row["line"], row["output"]) for row in answer["rows"]] == [(4, "Hopper"), (5, "Gödel")]
    assert answer["header"] and answer["num_examples"] == answer["num_filled"] == 2


def test_standard_input_and_output(tmp_path):
    done = aloex("fill", "-", cwd=tmp_path, input=NAMES)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[3:] == ["Grace Hopper,Hopper", "Kurt Gödel,Gödel"]
    assert "2 rows filled" in done.stderr


def test_an_ascii_terminal(tmp_path):
    (tmp_path / "t.csv").write_text("name,kürz\nÁda Kíng,K→\nÁl Bø,B→\nÇy Dée,\n", "utf-8")
    env = {"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONPATH": ":".join(sys.path)}
    for options in (("--out", "f.csv"), ("--json",), ("--target", "größe")):
        done = aloex("fill", "t.csv", *options, cwd=tmp_path, env=env)
        assert "Traceback" not in done.stderr and done.stdout.isascii(), done.stderr
    assert "Çy Dée,D→" in (tmp_path / "f.csv").read_text("utf-8")


def test_doubtful_rows_are_few_short_and_on_one_line(run, tmp_path):
    long, odd = "x" * 120_000, "שלום\u202e \u200fעולם 👩‍👩‍👧\\n"
    cells = [f'"{odd}\n"', "n/a", *(f"{k} {long[:k]}{'-' * k}" for k in range(30)), long]
    rows = "".join(f"{cell},\n" for cell in cells)
    (tmp_path / "t.csv").write_text(f"name,short\nAda King,King\nAl Bo,Bo\n{rows}")
    status, out, _ = run("fill", "t.csv", "--source", "name", "--strict")
    assert status == 1
    lines = out.splitlines()
    doubtful = [line for line in lines if line.startswith("  line ")]
    assert 0 < len(doubtful) <= 20 and max(map(len, lines)) < 900
    assert "\u202e" not in out and "None" not in out
    assert any(line.startswith("next: write short for ") for line in lines)


ENDS = [("a", "a9"), ("b", "b9"), ("c", "")]


def test_columns_that_are_not_read_are_told(run, tmp_path):
    names = ",".join(f"c{i}" for i in range(10))
    rows = "".join(f"{','.join(f'{k}{i}' for i in range(10))},{end}\n" for k, end in ENDS)
    (tmp_path / "t.csv").write_text(f"{names},last\n{rows}")
    _, out, _ = run("fill", "t.csv")
    assert "2 columns not read: column 1, column 2; name others: --source" in out
    assert "not read" not in run("fill", "t.csv", "--source", "c9")[1]


def test_one_row(run, tmp_path):
    (tmp_path / "t.csv").write_text("name,short\nAda King,King\nAl Bo,Bo\nCy Dee,\n")
    _, out, _ = run("fill", "t.csv")
    assert "1 row filled, " in out and "1 rows" not in out


def test_rows_in_doubt_fail_only_if_asked(run, tmp_path):
    (tmp_path / "t.csv").write_text("name,short\nAda King,King\nAl Bo,Bo\n?,\n")
    assert run("fill", "t.csv")[0] == 0
    status, out, _ = run("fill", "t.csv", "--strict", "--out", "f.csv")
    assert status == 1 and "1 in doubt" in out and (tmp_path / "f.csv").exists()


def test_a_filled_table_is_corrected_and_filled_again(run, tmp_path):
    """What the tool wrote does not become an example; what was corrected does, and stays one."""
    path = tmp_path / "t.csv"
    path.write_text("name,short\nAda King,King\nAl Bo,Bo\nMary Ann Lee,\nJo Van Dam,\nEd Fo,\n")
    run("fill", "t.csv", "--confidence", "--in-place")
    rows = [line.split(",") for line in path.read_text().splitlines()]
    assert rows[0] == ["name", "short", "short confidence"]
    assert [row[2] == "given" for row in rows[1:]] == [True, True, False, False, False]
    first = path.read_text()
    run("fill", "t.csv", "--in-place")
    assert path.read_text() == first  # nothing was corrected, so nothing changes
    before = rows[3][1]
    path.write_text(first.replace(f"Lee,{before},", "Lee,Ann Lee,"))
    _, out, _ = run("fill", "t.csv", "--in-place")
    assert "corrected since the last time, so examples now: line 4" in out
    again = [line.split(",") for line in path.read_text().splitlines()]
    assert again[3] == ["Mary Ann Lee", "Ann Lee", "given"]
    assert again[4][1] == "Van Dam" and again[4][2] != "given"


def test_headers_and_first_examples(run, tmp_path):
    (tmp_path / "data.csv").write_text("Ada King,King\nAl Bo,Bo\nCy Dee,\n")
    _, out, _ = run("fill", "data.csv", "--out", "f.csv")
    assert "the first row is taken for data" in out and "2 examples" in out
    assert (tmp_path / "f.csv").read_text().endswith("Cy Dee,Dee\n")
    (tmp_path / "empty.csv").write_text("name,short\nAda King,\nAl Bo,\n")
    status, _, err = run("fill", "empty.csv", "--target", "2")
    assert status == 2 and "the column 'short' is empty" in err


def test_a_cell_with_one_space_is_filled(run, tmp_path):
    (tmp_path / "t.csv").write_text("name,short\nAda King,King\nAl Bo,Bo\nCy Dee, \n ,\n")
    assert run("fill", "t.csv", "--in-place")[0] == 0
    assert "Cy Dee,Dee\n ,\n" in (tmp_path / "t.csv").read_text()


def test_formulas_are_told(run, tmp_path):
    (tmp_path / "t.csv").write_text("a,b\nx y,=y\np q,=q\nr s,\n-1 2,\n")
    _, _, err = run("fill", "t.csv")
    assert err.count("\n") == 1 and "a spreadsheet would compute, first in line 4: =s" in err


def test_ragged_rows_and_other_columns(run, tmp_path):
    text = "id;name;short;note\r\n1;Ada King;King;\r\n2;Al Bo;Bo\r\n3;Cy Dee\r\n\r\n4;Ed Fo;;a;b;c"
    (tmp_path / "t.csv").write_bytes(text.encode("utf-16"))
    status, out, _ = run("fill", "t.csv", "--target", "short", "--source", "2", "--in-place")
    assert status == 0 and "2 rows filled" in out
    filled = text.replace("3;Cy Dee", "3;Cy Dee;Dee").replace("Fo;;", "Fo;Fo;")
    assert (tmp_path / "t.csv").read_bytes() == filled.encode("utf-16")


def test_a_program_is_saved_and_applied(run, tmp_path):
    (tmp_path / "names.csv").write_text(NAMES)
    run("fill", "names.csv", "--save-program", "p.json")
    (tmp_path / "other.csv").write_text("n,name\n1,Emmy Noether\n2,Leonhard Euler\n")
    status, out, err = run("fill", "apply", "p.json", "other.csv")
    assert status == 0 and err == "2 rows filled\n"
    assert out == "n,name,short\n1,Emmy Noether,Noether\n2,Leonhard Euler,Euler\n"
    status, out, _ = run("fill", "apply", "p.json", "other.csv", "--target", "n", "--out", "o.csv")
    assert (status, out) == (0, "0 rows filled, 2 rows had a text already\n")
    assert (tmp_path / "o.csv").read_text() == (tmp_path / "other.csv").read_text()
    assert "PROGRAM" in run("fill", "apply", "--help")[1].upper()


def test_a_saved_program_reads_all_its_columns(run, tmp_path):
    (tmp_path / "prices.csv").write_text("a,b,least\n18,17,17\n9,12,9\n30,25,\n")
    run("fill", "prices.csv", "--save-program", "p.json")
    (tmp_path / "other.csv").write_text("b,x,a\n5,0,8\n7,0,6\n")
    status, out, _ = run("fill", "apply", "p.json", "other.csv")
    assert (status, out) == (0, "b,x,a,least\n5,0,8,5\n7,0,6,6\n")


@pytest.mark.skipif(sys.platform == "win32", reason="needs a terminal of Unix")
def test_progress_is_drawn_on_a_terminal(tmp_path):
    import pty
    import subprocess

    (tmp_path / "names.csv").write_text(NAMES)
    for words in (("names.csv", "--save-program", "p.json"), ("apply", "p.json", "names.csv")):
        ours, theirs = pty.openpty()
        command = [sys.executable, "-m", "aloex", "fill", *words]
        env = {**os.environ, "TERM": "xterm", "COLUMNS": "120", "PYTHONPATH": ":".join(sys.path)}
        done = subprocess.run(
            command, cwd=tmp_path, env=env, stdout=subprocess.PIPE, stderr=theirs, check=True
        )
        os.close(theirs)
        said = os.read(ours, 100_000).decode()
        os.close(ours)
        assert "rows, " in said and " per second" in said
        assert b"per second" not in done.stdout


def test_a_table_with_two_thousand_rows_asks_few_questions(run, tmp_path):
    """As many steps as rows, not as their square: answers are counted when they are made."""
    made = []
    rows = "".join(f"Ed Fo{i},\n" for i in range(2000))
    (tmp_path / "t.csv").write_text(NAMES + rows)
    with pytest.MonkeyPatch.context() as patch:
        from aloex.apps.fill.fill import column

        answer = column._answer
        patch.setattr(column, "_answer", lambda *given: made.append(1) or answer(*given))
        assert run("fill", "t.csv", "--out", "f.csv")[0] == 0
    assert len(made) < 3 * 2004
    assert (tmp_path / "f.csv").read_text().endswith("Ed Fo1999,Fo1999\n")


def test_mistakes_are_one_line(tmp_path):
    files = {
        "empty.csv": b"",
        "blank.csv": b"\n\n,\n",
        "none.csv": b"a,b\nc,\n",
        "full.csv": b"name,short\nAda King,King\n",
        "two.csv": b'name,short\n"a\nb",x\n\n"a\nb",y\nc,\n',
        "parts.csv": b"name,a,b\nAda,,x\nBo,y,\n",
        "binary.csv": b"a\x00b,a\n",
        "open.csv": b'a,b\nc,"d\n',
        "good.csv": b"name,short\na b,b\nc d,\n",
        "p.json": b'{"aloex_fill": 1, "columns": ["x"], "program": {"op": "Nothing"}}',
        "r.json": b'{"aloex_fill": 1, "columns": [], "program": {"op": "Cell", "column": 0}}',
        "t.json": b'{"aloex_fill": 1, "columns": ["x"], "program": {"op": "Join", "parts": []}}',
        "s.json": b'{"aloex_fill": 1, "target": 5, "columns": ["x"], '
        b'"program": {"op": "Cell", "column": 0}}',
        "q.json": b'{"aloex_fill": 1, "columns": ["x"], "program": {"op": "Cell", "column": 0}}',
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    cases = {
        ("missing.csv",): "there is no file missing.csv",
        (".",): ". is a folder",
        ("empty.csv",): "is empty",
        ("blank.csv",): "is empty",
        ("none.csv", "--target", "b"): "the column 'b' is empty",
        ("full.csv", "--target", "short"): "the column 'short' is full",
        ("two.csv",): "lines 2 and 5 contradict each other: for 'a\\\\nb' one has 'x'",
        ("parts.csv",): "Name it with --target; partly empty: a, b; the columns are: 1 name, 2 a",
        ("binary.csv",): "NUL bytes",
        ("open.csv",): "open.csv, line 2: a field begins with a quote that is never closed",
        ("good.csv", "--target", "shrot"): "did you mean 'short'?",
        ("good.csv", "--source", "city"): "there is no column 'city'",
        ("good.csv", "--source", "short", "--target", "short"): "--source has the target",
        ("good.csv", "--out", "good.csv"): "give --in-place",
        ("good.csv", "--out", "x.csv", "--in-place"): "exclude each other",
        ("good.csv", "--out", "-", "--json"): "would both write to standard output",
        ("good.csv", "--out", "good.csv/x.csv"): "good.csv",
        ("good.csv", "--encoding", "x"): "there is no encoding 'x'",
        ("apply", "missing.json", "good.csv"): "there is no file missing.json",
        ("apply", "good.csv", "good.csv"): "is no program",
        (
            "apply",
            "p.json",
            "good.csv",
        ): "p.json: this program is damaged: 'Nothing' is missing, or",
        ("apply", "r.json", "good.csv"): 'it reads a column that "columns" does not have; save it',
        (
            "apply",
            "t.json",
            "good.csv",
        ): "this program is damaged: Join has no parts; save it again",
        ("apply", "s.json", "good.csv"): '"target" must be the name of a column, got 5',
        ("apply", "q.json", "good.csv"): "there is no column 'x'",
        ("apply", "q.json", "good.csv", "--out", "good.csv"): "give --in-place",
    }
    assert_mistakes_are_one_line(("fill",), cases, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(files)  # nothing is left


def test_the_base_install_fills(tmp_path):
    """Without JAX, SciPy, numba, pandas and matplotlib: importing one of them fails."""
    (tmp_path / "t.csv").write_text("a b,b\nc d,\n")
    program = (
        "import sys\n"
        "heavy = ('jax', 'jaxlib', 'equinox', 'optax', 'scipy', 'numba', 'matplotlib', 'pandas')\n"
        "sys.modules.update(dict.fromkeys((*heavy, 'charset_normalizer')))\n"
        "from aloex.cli.main import app\n"
        "app(['fill', 't.csv', '--out', 'f.csv', '--save-program', 'p'], standalone_mode=False)\n"
        "app(['fill', 'apply', 'p', 't.csv', '--out', 'g.csv'], standalone_mode=False)\n"
    )
    done = python(program, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for name in ("f.csv", "g.csv"):
        assert (tmp_path / name).read_text() == "a b,b\nc d,d\n"
