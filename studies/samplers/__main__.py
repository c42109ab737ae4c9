"""`python -m studies.samplers`: sampling, families of energies, couplings; their pages."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from aloex.base.errors import require
from studies.command import command_line, run_app

app = command_line("Samplers of discrete energies, side by side, where the answers are known.")

RESULTS = Path("results/samplers")
COUPLINGS = RESULTS / "couplings.json"
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


@app.command()
def page(
    rows: Annotated[Path, typer.Option(help="Folder of the rows.")] = RESULTS,
    out: Annotated[Path, typer.Option(help="The page; its figure goes beside.")] = Path(
        "docs/samplers.md"
    ),
) -> None:
    """Write the page on sampling and families from their rows, and its figure."""
    from studies.samplers.page import write

    write(rows, out)


@app.command("couplings")
def couplings_(
    method: Annotated[
        list[str] | None,
        typer.Option(
            help="zero, known-pairs, pseudo-likelihood, refit; pcd- with gibbs, random-walk, gwg, "
            "dmala, path-auxiliary or hamming-ball; aloe, aloe-start, aloe-mlp, aloe-persistent. "
            "All unless given."
        ),
    ] = None,
    side: Annotated[int, typer.Option(min=3, help="Of the lattice, D x D with periods.")] = 10,
    sigma: Annotated[str, typer.Option(help="Couplings of neighbours, J = sigma A.")] = "0.1,0.2",
    seeds: Annotated[str, typer.Option(help="Of the samples and of training.")] = "0,1,2",
    l1: Annotated[
        str, typer.Option(help="Penalties; 'chosen': the one that is best on held-out samples.")
    ] = "0.01,chosen",
    steps: Annotated[int, typer.Option(min=10, help="Of training; a multiple of 10.")] = 2000,
    within: Annotated[float | None, typer.Option(help="Seconds; start no job later.")] = None,
    out: Annotated[Path, typer.Option(help="Where the rows go.")] = COUPLINGS,
) -> None:
    """Learn the couplings of an Ising model from samples. May be stopped and repeated."""
    from aloex.cli.options import listed
    from studies.samplers.couplings import study

    left = study.make(
        method or study.METHODS,
        [(side, value) for value in listed(sigma, "--sigma", float)],
        listed(seeds, "--seeds"),
        l1.split(","),
        out,
        num_steps=steps,
        within=within,
        tell=lambda line: print(line, file=sys.stderr, flush=True),
    )
    print(f"rows: {out}")
    if left:
        print(f"left: {left} jobs; repeat the command")


@app.command("couplings-page")
def couplings_page(
    rows: Annotated[Path, typer.Option(help="Where the rows are.")] = COUPLINGS,
    out: Annotated[Path, typer.Option(help="The page.")] = Path("docs/samplers_couplings.md"),
) -> None:
    """Write the page on couplings from its rows."""
    from aloex.base.files import write_file
    from studies.results import read
    from studies.samplers.couplings import page

    write_file(out, page.render(read(rows)))
    print(f"wrote {out}")


def known(chosen: list[str] | None, names: Iterable[str], what: str) -> None:
    """An error that lists the names if one is not among them."""
    listed = list(names)
    for name in chosen or []:
        require(name in listed, f"there is no {what} {name!r}; there are {', '.join(listed)}")


if __name__ == "__main__":
    run_app(app)
