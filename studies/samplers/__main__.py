"""`python -m studies.samplers`: samplers of discrete energies compared, and the pages on them."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from studies.command import command_line, run_app

app = command_line("Which sampler for which energy? Rows and pages of the studies of samplers.")

COUPLINGS = Path("results/samplers/couplings.json")


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


if __name__ == "__main__":
    run_app(app)
