"""The page on the networks: what they are, how to train and measure them, how fast that is."""

from pathlib import Path
from typing import Any

from studies.template import fill

Rows = list[dict[str, Any]]


def render(training: Rows) -> str:
    """The page, from the rows of `results/synth/training.json`, one for each run."""
    runs = {row["run"]: row for row in training}
    first = runs["q0 of the paper"]
    return fill(
        Path(__file__).with_name("models.md.j2"),
        rate={run: f"{round(row['examples_per_second'], -2):,}" for run, row in runs.items()},
        busy=f"{first['gpu_utilisation']:.0%}",
        starved=f"{first['starved']:.2%}",
    )
