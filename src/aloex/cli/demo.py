"""`aloex demo`: train on built-in data and leave a report with pictures."""

from pathlib import Path
from typing import Annotated

import typer


def demo(
    out: Annotated[Path, typer.Option(help="Folder of the run and its report.")] = Path("demo"),
    steps: Annotated[int, typer.Option(help="Training steps.")] = 4000,
    seed: Annotated[int, typer.Option(help="Seed of all randomness.")] = 0,
) -> None:
    """Learn a picture in 16 bits and report how well: about two minutes on two cores."""
    from aloex.apps.demo import run  # matplotlib loads slowly: only for those who plot

    print(f"report: {run(out, num_steps=steps, seed=seed)}")
