"""`python -m studies.speed`: against PyTorch, with growing sizes, log Z, mutants; and the page."""

import os
import shutil
from pathlib import Path
from typing import Annotated

import typer

from aloex.base.errors import require
from studies.command import command_line, run_app

app = command_line("How fast a training step, the exact log Z and the fuzzer's mutants are.")

Out = Annotated[Path, typer.Option(help="Folder of the results.")]
RESULTS = Path("results/speed")


@app.command()
def compare(
    blocks: Annotated[
        int | None, typer.Option(help="How often ours and the peers take turns; default: enough.")
    ] = None,
    threads: Annotated[
        int, typer.Option(help="Of a CPU; with one, processor time is measured instead of time.")
    ] = 2,
    out: Out = RESULTS,
) -> None:
    """One training step against two layouts of it in PyTorch, on this machine's device."""
    use_threads(threads)
    from studies.speed.compare import compare

    compare(out, blocks, threads)


@app.command()
def scaling(out: Out = RESULTS) -> None:
    """How the time of a step grows with each size."""
    use_threads(2)
    from studies.speed.scaling import scaling

    scaling(out)


@app.command()
def kernels(
    names: Annotated[
        str | None,
        typer.Option("--only", help="Kernels and energies, such as Gibbs,mlp; default: all."),
    ] = None,
    within: Annotated[float | None, typer.Option(help="Seconds; begin no case later.")] = None,
    threads: Annotated[
        int, typer.Option(help="Of a CPU; with one, processor time is measured instead of time.")
    ] = 1,
    max_seconds: Annotated[
        float, typer.Option(help="Sizes whose step would take longer are left out.")
    ] = 1.0,
    out: Out = RESULTS,
) -> None:
    """A step of each kernel and of ALOE: seconds and memory; goes on where it was cut short."""
    use_threads(threads)
    from studies.speed.kernels import measure

    chosen = names.split(",") if names else ()
    measure(out, names=chosen, within=within, threads=threads, max_seconds=max_seconds)


@app.command("log-z")
def log_z(
    bits: Annotated[int, typer.Option(help="The energy is of so many bits.")] = 32,
    out: Out = RESULTS,
) -> None:
    """Exact log Z over all states; 2^32 of them need a GPU."""
    from studies.speed.log_z import log_z

    log_z(out, bits)


@app.command()
def fuzz(
    model: Annotated[Path, typer.Argument(help="A model of libpng's seeds, of aloex fuzz learn.")],
    out: Out = RESULTS,
) -> None:
    """Mutants of libpng's seeds, made and run; needs `aloex fuzz build libpng`."""
    from studies.speed.fuzz import compare

    compare(model, out)


@app.command()
def page(
    results: Annotated[Path, typer.Option(help="Folder of the results.")] = RESULTS,
    out: Annotated[Path, typer.Option(help="The page to write.")] = Path("docs/speed.md"),
) -> None:
    """Write the page and its figure from the committed results."""
    from studies.results import read
    from studies.speed.kernels_figure import draw
    from studies.speed.page import render

    out.write_text(render(results))
    draw(read(results / "kernels.json"), out.parent / "images/speed/kernels.png")
    print(f"page: {out}")


def use_threads(number: int) -> None:
    """Without a GPU, so many cores for everyone; to be called before JAX starts its threads."""
    require(number >= 1, f"--threads must be at least 1, got {number}")
    if hasattr(os, "sched_setaffinity") and shutil.which("nvidia-smi") is None:
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:number])


if __name__ == "__main__":
    run_app(app)
