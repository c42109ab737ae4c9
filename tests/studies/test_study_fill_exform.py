"""The column filler beside exform: how it is called, counts by hand, the page against its rows."""

import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from aloex.base.errors import InputError
from studies.fill import beside, exform, page, tasks
from studies.fill.__main__ import app
from studies.fill.exform import Exform, Reply
from studies.results import read
from studies.statistics import holm

ROOT = Path(__file__).parents[2]
LAST = tasks.Task(
    "last",
    "substring",
    ("name",),
    [("Ada King",), ("Al Bo",), ("Cy Dée",), ("Ed Fox",)],
    ["King", "Bo", "Dée", "Fox"],
)
HOPELESS = LAST._replace(name="hopeless", outputs=["q", "7", "zz", "w"])

# It fills with the last word, finds nothing to change in a line, and does as a first cell tells it.
FAKE = f"""#!{sys.executable}
import sys, time
words = sys.argv[1:]
if words == ["--version"]:
    sys.exit(print("exform 0.0.1"))
lines = open(words[-1], encoding="utf-8").read().splitlines()
if "late" in lines[0]:
    time.sleep(60)
if "large" in lines[0]:
    bytes(1 << 30)
if "--in-line" in words:
    sys.exit("exform: no match")
for line in lines:
    cell, given = line.split("\\x1f")
    print(cell, given or cell.split()[-1], sep="\\x1f")
"""


@pytest.fixture
def fake(tmp_path):
    """A program that is called as exform is."""
    program = tmp_path / "environment/bin/exform"
    program.parent.mkdir(parents=True)
    program.write_text(FAKE)
    program.chmod(0o755)
    return program


def test_it_is_given_all_cells_and_the_first_outputs(fake):
    filled, in_line = Exform(fake)(HOPELESS, 2)
    assert filled.values == ["q", "7", "Dée", "Fox"] and not filled.cut
    assert in_line.values is None and not in_line.cut


def test_limits_of_time_and_memory_end_a_call(fake):
    first = lambda text: LAST._replace(rows=[(text,), *LAST.rows[1:]])
    late = Exform(fake, seconds=0.5)(first("late"), 1)
    large = Exform(fake, memory=500 << 20)(first("large"), 1)
    assert all(reply.values is None and reply.cut for reply in [*late, *large])


def test_a_version_that_is_there_is_not_installed_again(fake, monkeypatch):
    folder, called = fake.parents[1], []
    tool = exform.run_tool
    monkeypatch.setattr(
        exform,
        "run_tool",
        lambda words, **how: tool(words, **how) if words[0] == fake else called.append(words),
    )
    assert exform.install(folder, "0.0.1") == fake and called == []
    assert exform.install(folder, "0.0.2") == fake
    assert [words[1:3] for words in called] == [["-m", "venv"], ["-m", "pip"]]
    assert called[1][-1] == "exform==0.0.2"


def test_tasks_that_can_be_told_to_it():
    assert exform.suits(LAST)
    assert not exform.suits(LAST._replace(rows=[("a\nb",), *LAST.rows[1:]]))
    assert not exform.suits(LAST._replace(rows=[("a", "b")] * 4))


def replies(*values):
    """A solver that answers so, whatever it is given."""
    return lambda task, number: [Reply(None if v is None else [*v], 0.25) for v in values]


def test_its_answer_is_that_of_the_first_way_that_finds_a_program():
    right, wrong = LAST.outputs, ["", "", "", ""]
    by = lambda *values: beside.compare([LAST], 2, replies(*values))[0]
    assert by(None, right).theirs and by(right, wrong).theirs
    assert not by(wrong, right).theirs and any(by(wrong, right).right)
    assert not by(None, None).theirs and not by(None, None).answered
    assert by(["", "", *right[2:]], None).theirs  # rows of examples do not count
    assert not by(right[:3], None).theirs


def test_counts_by_hand():
    """Ours solves LAST, but not HOPELESS."""
    solved = beside.compare([LAST, HOPELESS], 2, replies(HOPELESS.outputs, LAST.outputs))
    row = beside.counts([*solved, *solved[1:]])
    assert (row["tasks"], row["ours"], row["theirs"], row["both"]) == (3, 1, 2, 0)
    assert (row["only_ours"], row["only_theirs"], row["ratio"]) == (1, 2, 0.5)
    assert (row["theirs_any_way"], row["theirs_no_answer"], row["theirs_cut"]) == (3, 0, 0)
    assert row["theirs_max_seconds"] == 0.25
    none = beside.counts(beside.compare([LAST], 2, replies(None, None)))
    assert (none["ratio"], none["theirs_no_answer"]) == (None, 1)
    assert beside.compare([LAST], 4, replies(None)) == []  # no row would be left


def test_mcnemar_by_hand():
    assert beside.mcnemar(0, 0) == 1
    assert beside.mcnemar(3, 3) == 1
    assert beside.mcnemar(5, 0) == beside.mcnemar(0, 5) == pytest.approx(2 / 2**5)
    assert beside.mcnemar(5, 1) == pytest.approx(2 * (1 + 6) / 2**6)


def as_line(task):
    pairs = zip(task.rows, task.outputs, strict=True)
    rows = [{"in": cells, "out": output} for cells, output in pairs]
    return json.dumps({"name": task.name, "rows": rows})


def test_the_command_runs(fake, tmp_path, monkeypatch):
    monkeypatch.setattr(exform, "VERSION", "0.0.1")
    few = tmp_path / "few.jsonl"
    few.write_text("\n".join(map(as_line, (LAST, HOPELESS))), encoding="utf-8")
    folders = ["--environment", str(fake.parents[1]), "--out", str(tmp_path)]
    options = ["--set", str(few), "--examples", "2", "--verbose", *folders]
    done = CliRunner().invoke(app, ["exform", *options])
    assert done.exit_code == 0, done.output
    assert "2 examples, 2 tasks: Aloex 1, exform 1, both 1" in done.output
    (row,) = read(tmp_path / "exform.json")
    assert (row["exform"], row["examples"], row["both"]) == ("0.0.1", 2, 1)
    wrong = CliRunner().invoke(app, ["exform", "--examples", "0", *folders])
    assert isinstance(wrong.exception, InputError)


ROWS = read(ROOT / "results/fill/exform.json")
BY = {(page.NAMES[row["set"]], row["examples"]): row for row in ROWS}
SECTION = (ROOT / "docs/fill_study.md").read_text().partition("## Beside exform")[2]


def test_the_rows_add_up():
    assert set(BY) == {(name, n) for name in page.NAMES.values() for n in (1, 2, 3)}
    for row in ROWS:
        assert row["exform"] == exform.VERSION
        assert row["ours"] - row["only_ours"] == row["theirs"] - row["only_theirs"] == row["both"]
        assert row["ratio"] == pytest.approx(row["ours"] / row["theirs"], abs=1e-3)
        assert row["p"] == pytest.approx(beside.mcnemar(row["only_ours"], row["only_theirs"]))


def test_the_section_says_what_the_rows_say():
    text = " ".join(SECTION.split())
    later, held, bustle = BY["later", 2], BY["heldout", 2], BY["bustle", 2]
    for said in (
        f"Aloex solves {later['ours']} of {later['tasks']} tasks of `later` and exform "
        f"{later['theirs']}; of {held['tasks']} held-out tasks {held['ours']} and "
        f"{held['theirs']}; on bustle it is {bustle['ours']} and {bustle['theirs']} of "
        f"{bustle['tasks']}.",
        f"would have {held['theirs_any_way']} and {bustle['theirs_any_way']}.",
        f"finds no program for {held['theirs_no_answer']} of the held-out tasks",
        "none of the tasks met a limit",
    ):
        assert said in text, said
    assert sum(row["theirs_cut"] for row in ROWS) == 0
    others = (later, held, BY["test", 2], BY["dev", 2])
    assert bustle["ratio"] < min(row["ratio"] for row in others)  # as the page says
    assert exform.MAX_SECONDS == 20 and exform.MAX_BYTES == 4 * 2**30
    for row, p in zip(ROWS, holm([row["p"] for row in ROWS]), strict=True):
        counts = [row[k] for k in ("tasks", "ours", "theirs", "both", "only_ours", "only_theirs")]
        line = [page.NAMES[row["set"]], row["examples"], *counts, f"{row['ratio']:.2f}", f"{p:.1g}"]
        assert f"| {' | '.join(map(str, line))} |" in SECTION
