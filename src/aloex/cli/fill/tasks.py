"""`aloex synth tasks`: make tasks of program synthesis."""

from pathlib import Path
from typing import Annotated

import typer


def tasks(
    out: Annotated[Path, typer.Option(help="Where to write them; it should end in .tsv.xz.")],
    number: Annotated[int, typer.Option("--number", "-n", help="How many.")] = 10_000,
    seed: Annotated[int, typer.Option(help="Of the endless set that they are taken from.")] = 100,
    first: Annotated[int, typer.Option(help="The number of the first.")] = 0,
) -> None:
    """Make tasks: programs with ten examples each."""
    from aloex.apps.fill.tasks.tasks import generate, require_free, save

    require_free(seed)
    save(out, generate(number, seed=seed, first=first).tasks())
    print(f"{number} tasks: {out}")
