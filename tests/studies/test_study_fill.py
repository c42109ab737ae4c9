"""The study of the column filler: its counts by hand, and the page against its rows."""

import hashlib
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from aloex.apps.fill.fill.confidence import SURE
from aloex.apps.fill.search.costs import COSTS
from aloex.base.errors import InputError
from studies.fill import page, rate, reliability, tasks
from studies.fill.__main__ import app
from studies.fill.learn import Choice, fit
from studies.results import read

ROOT = Path(__file__).parents[2]
EASY = tasks.Task(
    "last",
    "substring",
    ("name",),
    [("Ada King",), ("Al Bo",), ("Cy Dee",), ("Ed Fox",)],
    ["King", "Bo", "Dee", "Fox"],
)
HOPELESS = EASY._replace(name="hopeless", outputs=["q", "7", "zz", "w"])


def test_a_task_is_solved_if_all_other_rows_are_right():
    assert rate.rate(EASY, 2).solved and not rate.rate(HOPELESS, 2).solved


def test_corrections_are_examples_beyond_the_first():
    assert rate.corrections(EASY) == 0
    assert rate.corrections(HOPELESS) == len(HOPELESS.rows) - 1


def test_counts_and_limits_by_hand():
    made = [
        rate.Rated(EASY, solved, sure, 0.1) for solved, sure in ((1, 1), (1, 0), (0, 1), (0, 0))
    ]
    found = rate.summary(
        [each._replace(solved=bool(each.solved), sure=bool(each.sure)) for each in made]
    )
    assert (found["solved"], found["sure"], found["sure_and_right"]) == (2, 2, 1)
    assert rate.limits(0, 0) == (0, 1)
    assert rate.limits(10, 10) == (pytest.approx(0.025 ** (1 / 10)), 1)


def test_sets_are_disjoint_and_the_split_is_by_name():
    seen: set[str] = set()
    for name in tasks.SETS:
        names = {task.name for task in tasks.load(name)}
        assert not names & seen
        seen |= names
        if name != "later":  # all of it is for tests
            firsts = [hashlib.sha256(each.encode()).digest()[0] for each in names]
            assert all((first < 86) == (name != "dev") for first in firsts)


def test_reliability_by_hand():
    sure, unsure = [(1.0, True), (SURE, True)], [(SURE, False), (0.2, True)]
    points = reliability.reliability([sure, unsure])
    assert [(p["rows"], p["confidence"], p["right"]) for p in points] == [
        (1, 0.2, 1.0),
        (2, SURE, 0.5),  # an edge belongs to the upper bin
        (1, 1.0, 1.0),
    ]
    assert points[1]["low"] == 0 and points[1]["high"] == 1  # drawn are both tasks, or one of them
    pairs = reliability.confidence_and_truth(EASY, 2)
    assert len(pairs) == 2 and all(right for _, right in pairs)
    assert reliability.confidence_and_truth(EASY._replace(outputs=["a", "b", "c", "d"]), 2) != pairs


def test_the_plot_is_drawn(tmp_path):
    points = reliability.reliability([[(0.9, True)], [(0.5, False)]])
    rows = [{"set": "test", "num_rows": 2, "points": points}]
    reliability.draw(rows, {"test": "test"}, tmp_path / "images" / "plot.png")
    assert (tmp_path / "images" / "plot.png").read_bytes().startswith(b"\x89PNG")


def test_what_is_no_set_is_told():
    with pytest.raises(InputError, match="there is no set and no file nowhere"):
        tasks.load("nowhere")


def test_costs_move_towards_the_right_programs():
    wrong_first = Choice([{"a": 1.0}, {"b": 1.0}], np.array([False, True]))
    costs, report = fit([wrong_first] * 3, {"a": 1.0, "b": 2.0})
    assert costs["a"] > 1 and costs["b"] < 2
    assert report["right_before"] == 0 and report["right"] == 3


def test_the_commands_run(tmp_path):
    lines = (tasks.FOLDER / "text_dev.jsonl").read_text(encoding="utf-8").splitlines()[:3]
    few = tmp_path / "few.jsonl"
    few.write_text("\n".join(lines), encoding="utf-8")
    runner = CliRunner()
    out = ["--out", str(tmp_path)]
    table = runner.invoke(
        app, ["table", "--set", str(few), "--examples", "2", "--corrections", *out]
    )
    assert table.exit_code == 0, table.output
    (row,) = read(tmp_path / "summary.json")
    assert row["tasks"] == 3
    plotted = runner.invoke(app, ["reliability", "--set", str(few), *out])
    assert plotted.exit_code == 0, plotted.output
    (row,) = read(tmp_path / "reliability.json")
    assert row["num_rows"] == sum(point["rows"] for point in row["points"]) > 3
    costs = tmp_path / "costs.json"
    before = dict(COSTS)
    options = ["--set", str(few), "--rounds", "1", "--out", str(costs)]
    learned = runner.invoke(app, ["learn", *options])
    assert before == COSTS  # the learned ones are only written
    assert learned.exit_code == 0 and costs.exists(), learned.output


def test_speed_is_measured_beside_a_script(tmp_path):
    options = ["--programs", "two columns", "--rows", "30", "--out", str(tmp_path)]
    done = CliRunner().invoke(app, ["speed", *options])
    assert done.exit_code == 0, done.output
    rows = read(tmp_path / "speed.json")
    assert [row["how"] for row in rows] == ["apply", "fill"]
    assert all(row["same_cells"] and row["megabytes"] > 1 for row in rows)
    wrong = CliRunner().invoke(app, ["speed", "--programs", "none"])
    assert wrong.exit_code != 0 and "there is no program 'none'" in str(wrong.exception)


def test_the_page_is_written(tmp_path):
    out = tmp_path / "page.md"
    options = ["--results", str(ROOT / "results/fill"), "--out", str(out)]
    done = CliRunner().invoke(app, ["page", *options])
    assert done.exit_code == 0, done.output
    assert out.read_text() == (ROOT / "docs/fill_study.md").read_text()


def test_the_claims_of_the_page_hold():
    rows = {
        (page.NAMES[r["set"]], r["examples"]): r for r in read(ROOT / "results/fill/summary.json")
    }
    assert rows["heldout", 2]["sure_and_right"] < 0.97 * rows["heldout", 2]["sure"]
    shares = page.not_in_doubt(read(ROOT / "results/fill/reliability.json"))
    assert set(shares) == {"later", "test", "heldout", "bustle"}


def test_rows_not_in_doubt_by_hand():
    doubtful = (SURE - 0.01, True)
    points = reliability.reliability([[(1.0, True), (SURE, False), doubtful], [(0.96, True)]])
    assert page.not_in_doubt([{"set": "test", "points": points}]) == {"test": "2 of 3 (67%)"}
