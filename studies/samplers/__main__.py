"""`python -m studies.samplers`: sampling, families; their page."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from aloex.base.errors import require
from studies.command import command_line, run_app

app = command_line("Samplers of discrete energies, side by side, where the answers are known.")

RESULTS = Path("results/samplers")
Seeds = Annotated[int, typer.Option(help="Number of seeds, from 0.")]
Within = Annotated[float, typer.Option(help="Begin no job after so many seconds.")]
Methods = Annotated[list[str] | None, typer.Option("--method", help="Default: all.")]


@app.command()
def sampling(
    problem: Annotated[list[str] | None, typer.Option(help="Default: all.")] = None,
    method: Methods = None,
    seeds: Seeds = 5,
    steps: Annotated[int, typer.Option(help="Of learning.")] = 4_000,
    batch: Annotated[int, typer.Option(help="Draws in a step of learning.")] = 512,
    hidden: Annotated[int, typer.Option(help="Width of learned networks.")] = 128,
    within: Within = float("inf"),
    out: Annotated[Path, typer.Option(help="File of the rows.")] = RESULTS / "sampling.json",
) -> None:
    """Every method on every problem; may be stopped and repeated."""
    from studies.samplers.methods import METHODS, Settings
    from studies.samplers.problems import PROBLEMS
    from studies.samplers.sampling import sampling

    known(problem, PROBLEMS, "problem")
    known(method, METHODS, "method")
    settings = Settings(num_steps=steps, batch=batch, hidden=hidden)
    sampling(out, problem or [], method, settings, num_seeds=seeds, within=within)


@app.command()
def families(
    family: Annotated[list[str] | None, typer.Option(help="Default: all.")] = None,
    method: Methods = None,
    seeds: Seeds = 5,
    steps: Annotated[int, typer.Option(help="Of learning.")] = 10_000,
    batch: Annotated[int, typer.Option(help="Draws in a step of learning.")] = 1_024,
    hidden: Annotated[int, typer.Option(help="Width of learned networks.")] = 256,
    conditions: Annotated[int, typer.Option(help="Unseen z to be asked for.")] = 20,
    within: Within = float("inf"),
    out: Annotated[Path, typer.Option(help="File of the rows.")] = RESULTS / "families.json",
) -> None:
    """One learned sampler for all z against starting anew for each; may be stopped and repeated."""
    from studies.samplers.conditions import METHODS, Settings, families
    from studies.samplers.families import FAMILIES

    known(family, FAMILIES, "family")
    known(method, METHODS, "method")
    settings = Settings(num_conditions=conditions, num_steps=steps, batch=batch, hidden=hidden)
    families(out, family or [], method or [], settings, num_seeds=seeds, within=within)


def known(chosen: list[str] | None, names: Iterable[str], what: str) -> None:
    """An error that lists the names if one is not among them."""
    listed = list(names)
    for name in chosen or []:
        require(name in listed, f"there is no {what} {name!r}; there are {', '.join(listed)}")


if __name__ == "__main__":
    run_app(app)
