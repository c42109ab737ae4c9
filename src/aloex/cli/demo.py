"""`aloex demo`: train on built-in data and leave a report with pictures."""

from pathlib import Path
from typing import Annotated

import typer

from aloex.cli.choices import DataName, help_with_choices
from aloex.cli.options import Seed


def demo(
    out: Annotated[Path, typer.Option(help="Folder of the run and its report.")] = Path("demo"),
    data: Annotated[
        DataName, typer.Option(help=help_with_choices("The picture to learn.", DataName))
    ] = DataName.PINWHEEL,
    steps: Annotated[int, typer.Option(min=1, help="Training steps.")] = 3000,
    seed: Seed = 0,
) -> None:
    """Learn a picture from 32 bits a point and report how well: two to three minutes on two cores.

    Called again with the same options, it goes on with the run in --out.
    """
    from aloex.apps.synthetic.demo import (
        make_demo,  # matplotlib loads slowly: only for those who plot
    )

    print(f"report: {make_demo(out, data=data.value, num_steps=steps, seed=seed)}")
