"""The pages on filling columns: sessions print what they show, and examples come true.

The demo fills a table, too.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from aloex.apps.fill import fill_column
from aloex.apps.fill.expressions.base import Row
from aloex.apps.fill.fill.confidence import CONSTANT, COPIED, DOUBTFUL, SURE, TOO_FEW, UNLIKE

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "fill.md"
CONFIDENCE = ROOT / "docs" / "fill_confidence.md"
TUTORIAL = ROOT / "docs" / "fill_tutorial.md"
SESSIONS = {PAGE: 5, CONFIDENCE: 3, TUTORIAL: 10}  # how many each page has
STEP = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
EMPTY, SPACE = "(empty)", "␣"


class Example(NamedTuple):
    """A line of one of the tables: rows and outputs, of which the first are given."""

    what: str
    rows: list[Row]
    outputs: list[str]
    num_given: int


class Limited(NamedTuple):
    """A line of one of the tables of limits: the last row is in doubt."""

    what: str
    rows: list[Row]
    outputs: list[str]
    limit: float


def blocks(page: Path, kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)


def cell(text: str) -> str:
    """The text that a cell of the page stands for."""
    if text == EMPTY:
        return ""
    assert re.fullmatch(r"`[^`]+`", text), f"no cell of a table: {text}"
    return text.strip("`").replace(SPACE, " ")


def examples() -> list[Example]:
    """The lines of all tables with "what", "given" and "found" at their head."""
    found, num_given = [], 0
    for line in PAGE.read_text().splitlines():
        what, *pairs = line.strip("| ").split(" | ")
        if what == "what":
            num_given = pairs.count("given")
        if "→" not in line:
            continue
        rows, outputs = read_pairs(pairs)
        found.append(Example(what, rows, outputs, num_given))
    return found


def read_pairs(pairs: list[str]) -> tuple[list[Row], list[str]]:
    sides = [pair.split(" → ") for pair in pairs]
    rows = [tuple(map(cell, cells.split(" + "))) for cells, _ in sides]
    return rows, [cell(output) for _, output in sides]


def limits() -> list[Limited]:
    """The lines of all tables with examples, a row in doubt and its limit."""
    found = []
    for line in CONFIDENCE.read_text().splitlines():
        cells = line.strip("| ").split(" | ")
        if "→" in line and len(cells) == 4:
            what, given, doubtful, limit = cells
            found.append(Limited(what, *read_pairs([*given.split("; "), doubtful]), float(limit)))
    return found


EXAMPLES = examples()
LIMITS = limits()


def test_the_tables_are_read():
    assert len(EXAMPLES) >= 55
    assert {(example.num_given, len(example.rows)) for example in EXAMPLES} == {(2, 3), (4, 6)}
    assert len({example.rows[0] + (example.outputs[0],) for example in EXAMPLES}) == len(EXAMPLES)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.what)
def test_the_tables_are_true(example: Example):
    columns = [f"column {i}" for i in range(len(example.rows[0]))]
    given: list[str | None] = [*example.outputs[: example.num_given]]
    missing = [None] * (len(example.rows) - len(given))
    filled = fill_column(example.rows, given + missing, columns)
    assert filled.values == example.outputs, filled.program.explain()


def test_the_limits_are_read():
    assert {each.limit for each in LIMITS} == {CONSTANT, COPIED, TOO_FEW, DOUBTFUL}
    assert len(LIMITS) == 12
    text = CONFIDENCE.read_text()
    assert f"a confidence below {SURE:.2f}" in text and f"{UNLIKE:.2f} of the votes" in text


@pytest.mark.parametrize("each", LIMITS, ids=lambda each: each.what)
def test_the_limits_are_true(each: Limited):
    columns = [f"column {i}" for i in range(len(each.rows[0]))]
    filled = fill_column(each.rows, [*each.outputs[:-1], None], columns)
    assert filled.values == each.outputs, filled.program.explain()
    assert filled.answers[-1].confidence == each.limit and filled.in_doubt == [len(each.rows) - 1]


@pytest.mark.parametrize("page", SESSIONS, ids=lambda page: page.name)
def test_the_sessions_print_what_the_page_shows(page, tmp_path):
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    sessions = blocks(page, "console")
    assert len(sessions) == SESSIONS[page]
    for command, shown in (step for session in sessions for step in STEP.findall(session)):
        file = tmp_path / command.split()[-1]
        if command.startswith("cat ") and not file.exists():
            file.write_text(shown)  # a table that the reader is given
        else:
            assert printed_by(command, tmp_path) == shown, command


def printed_by(command: str, folder: Path) -> str:
    command = re.sub(r"^aloex ", "python -m aloex ", command)
    command = re.sub(r"^python ", f"{sys.executable} ", command)
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("page", [PAGE, CONFIDENCE], ids=lambda page: page.name)
def test_the_python_of_the_page_runs(page):
    pytest.importorskip("pandas")
    exec(compile("\n".join(blocks(page, "python")), str(page), "exec"), {})  # noqa: S102


def test_the_demo_fills_its_table(tmp_path):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    commands = re.findall(r"^\t\$\(BIN\)/(aloex fill .*)$", (ROOT / "Makefile").read_text(), re.M)
    printed = [printed_by(command, tmp_path) for command in commands]
    assert len(printed) == 3 and all(" 0 in doubt" in text for text in printed)
    assert (tmp_path / "demo" / "orders.csv").read_text().splitlines()[5:] == [
        'Piano,3 Dec 2025,20999,3 Dec,"20,999.00",free',
        "Pencil,28 Feb 2026,0.7,28 Feb,0.70,4.90",
        "Stool,2026-01-31,79.99,31 Jan,79.99,4.90",
    ]
