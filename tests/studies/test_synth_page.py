"""The pages on tasks and networks against their rows, and statistics of tasks."""

import math
from pathlib import Path

from commands import python
from studies.results import read
from studies.synth import models_page
from studies.synth.frozen import frozen
from studies.synth.statistics import statistics

ROOT = Path(__file__).parents[2]


def test_statistics_of_tasks():
    found = statistics(frozen("validation")[:200])
    assert math.isclose(sum(found["expressions"].values()), 1)
    assert math.isclose(sum(found["positions"].values()), 1)
    assert found["input_max"] <= 20 and found["output_max"] <= 50


def test_the_pages_show_the_committed_results(tmp_path):
    page = tmp_path / "page.md"
    main = "from studies.synth.__main__ import app, run_app; run_app(app)"
    done = python(main, "page", "--out", str(page), cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert (ROOT / "docs/synth_tasks.md").read_text() == page.read_text()
    models = page.with_name("synth_models.md")
    assert (ROOT / "docs/synth_models.md").read_text() == models.read_text()


def test_the_speed_of_training_is_that_of_the_rows():
    text = models_page.render(read(ROOT / "results/synth/training.json"))
    assert "42,500 examples/s, their editor 32,200/s, the editor of `best` 11,300/s" in words(text)
    assert "busy 94% of the time (by `nvidia-smi`), and waits for new tasks 0.06% of it" in (
        words(text)
    )


def words(text):
    return " ".join(text.split())
