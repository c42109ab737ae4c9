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
    """Write the page from the committed results."""
    from studies.speed.page import render

    out.write_text(render(results))
    print(f"page: {out}")


def use_threads(number: int) -> None:
    """Without a GPU, so many cores for everyone; to be called before JAX starts its threads."""
    require(number >= 1, f"--threads must be at least 1, got {number}")
    if hasattr(os, "sched_setaffinity") and shutil.which("nvidia-smi") is None:
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:number])


if __name__ == "__main__":
    run_app(app)
