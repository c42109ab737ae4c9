"""The page on tasks and programs against its rows, and statistics of tasks."""

import math
from pathlib import Path

from commands import python
from studies.synth.frozen import frozen
from studies.synth.statistics import statistics

ROOT = Path(__file__).parents[2]


def test_statistics_of_tasks():
    found = statistics(frozen("validation")[:200])
    assert math.isclose(sum(found["expressions"].values()), 1)
    assert math.isclose(sum(found["positions"].values()), 1)
    assert found["input_max"] <= 20 and found["output_max"] <= 50


def test_the_page_shows_the_committed_results(tmp_path):
    page = tmp_path / "page.md"
    main = "from studies.synth.__main__ import app, run; run(app)"
    done = python(main, "page", "--out", str(page), cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert (ROOT / "docs/synth_tasks.md").read_text() == page.read_text()
