"""How `aloex fill` ends when something outside of it goes wrong: signals, pipes, disks, rights."""

import os
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from aloex.apps.fill.tables import source as source_file
from commands import python

ROOT = Path(__file__).parents[3]
NAMES = "name,short\nAda King,King\nAl Bo,Bo\nCy Dee,\n"
FILLED = NAMES.replace("Cy Dee,", "Cy Dee,Dee")

LIGHT = {"aloex", "importlib", "warnings"}
# ctrl-C at the moment when a module is looked for.
INTERRUPTED = """
import os, signal, sys

class CtrlC:
    name = sys.argv.pop()
    def find_spec(self, name, *rest):
        if name == self.name:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, CtrlC())
from aloex.__main__ import main
main()
"""
# A signal at the moment when half of a table is written.
HALF = """
import os, sys
from aloex.apps.fill import tables
from aloex.cli import main

def half(source, out, *rest, **more):
    out.write(b"half")
    out.flush()
    os.kill(os.getpid(), number)

number = int(sys.argv.pop())
tables.apply_to_table = half
main()
"""


@pytest.fixture
def folder(tmp_path, run):
    """A folder with a table and a program."""
    (tmp_path / "t.csv").write_text(NAMES)
    assert run("fill", "t.csv", "--save-program", "p.json")[0] == 0
    return tmp_path


def files(folder):
    return sorted(path.name for path in folder.iterdir())


def shell(line, folder):
    """A line of the shell, in which `$aloex` is the command."""
    env = {**os.environ, "aloex": f"{sys.executable} -m aloex"}
    return subprocess.run(["sh", "-c", line], cwd=folder, env=env, capture_output=True, text=True)


@pytest.mark.parametrize(
    "module", ["aloex.cli", "typer", "aloex.cli.main", "aloex.apps.fill.tables", "rich.cells"]
)
def test_ctrl_c_while_it_starts_is_one_line(folder, module):
    done = python(INTERRUPTED, "fill", "t.csv", "--out", "o.csv", module, cwd=folder)
    assert (done.returncode, done.stderr) == (130, "interrupted\n")
    assert files(folder) == ["p.json", "t.csv"]


def test_the_script_starts_where_ctrl_c_is_told():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["scripts"] == {"aloex": "aloex.__main__:main"}


def test_little_is_imported_before_ctrl_c_is_told():
    new = "import sys; old = {*sys.modules}; import aloex.__main__; print(*({*sys.modules} - old))"
    done = python(new)
    assert {name.partition(".")[0] for name in done.stdout.split()} <= LIGHT


@pytest.mark.parametrize(
    ("number", "said"),
    [(signal.SIGINT, "interrupted\n"), (signal.SIGTERM, ""), (signal.SIGHUP, "")],
)
@pytest.mark.parametrize("words", [("--out", "o.csv"), ("--in-place",)])
def test_a_signal_leaves_no_half_a_table(folder, number, said, words):
    done = python(HALF, "fill", "apply", "p.json", "t.csv", *words, str(int(number)), cwd=folder)
    assert (done.returncode, done.stderr) == (128 + number, said)
    assert files(folder) == ["p.json", "t.csv"] and (folder / "t.csv").read_text() == NAMES


@pytest.mark.parametrize(
    "words",
    ["t.csv", "t.csv --out -", "t.csv --json", "apply p.json t.csv", "apply p.json long.csv"],
)
def test_a_reader_that_leaves_is_no_error(folder, words):
    (folder / "long.csv").write_text(NAMES + "Cy Dee,\n" * 50_000)
    done = shell(f"$aloex fill {words} | true", folder)
    said = [line for line in done.stderr.splitlines() if not line.startswith((" ", "program: "))]
    assert all("filled" in line for line in said), done.stderr


SPACE = "No space left on device; free some space"
ENDS = {  # what is said on standard error; with <&- and >&- a stream is closed
    "$aloex fill t.csv --out /dev/full": f"cannot write /dev/full: {SPACE}",
    "$aloex fill t.csv --out - >/dev/full": f"cannot write standard output: {SPACE}",
    "$aloex fill t.csv >/dev/full": SPACE,
    "$aloex fill apply p.json t.csv >/dev/full": f"cannot write standard output: {SPACE}",
    "ulimit -f 1; $aloex fill apply p.json big.csv --out o.csv": "o.csv: File too large; free",
    "ulimit -f 1; $aloex fill apply p.json big.csv --in-place": "big.csv: File too large; free",
    "$aloex fill - <&-": "standard input is closed; give a file with a table",
    "$aloex fill t.csv --out - >&-": "standard output is closed; give --out a file",
    "$aloex fill apply p.json t.csv >&-": "standard output is closed; give --out a file",
}


@pytest.mark.parametrize("line", ENDS)
def test_what_cannot_be_written_or_read_is_one_line(folder, line):
    big = NAMES + "Cy Dee,\n" * 1000
    (folder / "big.csv").write_text(big)
    done = shell(line, folder)
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
    assert done.stderr.startswith("error: ") and ENDS[line] in done.stderr
    assert files(folder) == ["big.csv", "p.json", "t.csv"]
    assert (folder / "big.csv").read_text() == big


def test_standard_output_by_its_path(folder):
    for words in ("t.csv", "apply p.json t.csv"):
        done = shell(f"$aloex fill {words} --out /dev/stdout | cat", folder)
        assert done.stdout == FILLED and "1 row filled" in done.stderr


def test_without_standard_error_the_rows_are_alone(folder):
    done = shell("$aloex fill apply p.json t.csv 2>&-", folder)
    assert (done.returncode, done.stdout) == (0, FILLED)


def test_links_and_modes_stay(folder, run):
    (folder / "t.csv").chmod(0o640)
    (folder / "link.csv").symlink_to("t.csv")
    assert run("fill", "link.csv", "--in-place")[0] == 0
    assert (folder / "link.csv").is_symlink() and (folder / "t.csv").read_text() == FILLED
    assert (folder / "t.csv").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("words", [("--in-place",), ("--out", "o.csv")])
def test_what_is_read_only_is_not_replaced(folder, run, monkeypatch, words):
    """A rename would do so, if the folder can be written to."""
    (folder / "o.csv").write_text("kept")
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name not in ("t.csv", "o.csv"))
    status, _, err = run("fill", "t.csv", *words)
    assert status == 2 and "csv is read-only; change its permissions" in err
    assert (folder / "t.csv").read_text() == NAMES and (folder / "o.csv").read_text() == "kept"


def test_what_may_not_be_read_is_told(folder, run, monkeypatch):
    def denied(path, mode):
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(source_file, "open", denied, raising=False)
    status, _, err = run("fill", "t.csv")
    words = "error: cannot read t.csv: Permission denied; change its permissions, or ask its owner"
    assert status == 2 and err.startswith(words)


def test_a_disk_that_cannot_be_read_is_not_taken_for_one_that_cannot_be_written(
    folder, run, monkeypatch
):
    def broken(*_):
        raise OSError(5, "Input/output error")
        yield

    monkeypatch.setattr(source_file, "record_blocks", broken)
    status, _, err = run("fill", "apply", "p.json", "t.csv", "--out", "o.csv")
    assert status == 2 and err.startswith("error: cannot read t.csv: Input/output error")
    assert files(folder) == ["p.json", "t.csv"]
