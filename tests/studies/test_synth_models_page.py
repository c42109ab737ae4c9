"""What the page on networks says of their training is in the rows."""

import re
from pathlib import Path

from studies.results import read

ROOT = Path(__file__).parents[2]
TEXT = " ".join((ROOT / "docs/synth_models.md").read_text().split())


def test_the_speed_of_training_is_that_of_the_rows():
    rows = {row["run"]: row for row in read(ROOT / "results/synth/training.json")}
    first, editor, best = (
        rows[name] for name in ("q0 of the paper", "its editor", "editor of best")
    )
    said = [
        int(number.replace(",", "")) for number in re.findall(r"([\d,]+)(?: examples)?/s", TEXT)
    ]
    rates = [round(row["examples_per_second"], -2) for row in (first, editor, best)]
    assert said == rates
    assert f"busy {first['gpu_utilisation']:.0%} of the time" in TEXT
    assert "less than 0.1% of it" in TEXT and first["starved"] < 0.001
