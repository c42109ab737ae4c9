"""`python -m studies.fuzz run` and `page`: methods compared, and the page on them."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from aloex.base.errors import InputError
from aloex.cli.options import listed, whole_or_share
from studies.command import command_line, run_app

app = command_line("Which mutants cover most? Methods, libFuzzer and AFL++ on the same targets.")


@app.command("run")
def study(
    target: Annotated[list[str], typer.Argument(help="Built targets, with seeds.")],
    method: Annotated[
        list[str] | None,
        typer.Option(
            help="uniform, other-seed, numbers, libfuzzer, aflpp, no-model; with --models how they "
            "were learned: masked, aloe, ..."
        ),
    ] = None,
    mode: Annotated[
        list[str] | None,
        typer.Option(
            help="Of a model: mixed, place, context, best, paper, adaptive, adaptive-relearn, "
            "union (with libFuzzer)."
        ),
    ] = None,
    models: Annotated[
        Path | None, typer.Option(help="A folder with files TARGET.METHOD.safetensors.")
    ] = None,
    edits: Annotated[
        str, typer.Option(help="Edits of a mutant, or shares of its bytes below 1, each a line.")
    ] = "1,3,10,30,100",
    inputs: Annotated[str, typer.Option(help="When to read off the coverage.")] = (
        "300,1000,3000,10000"
    ),
    trials: Annotated[int, typer.Option(help="Repeats with other seeds of randomness.")] = 10,
    first_trial: Annotated[
        int, typer.Option(help="The first of these seeds: others than a method was tuned with.")
    ] = 0,
    timeout: Annotated[float, typer.Option(help="Seconds for one input.")] = 1.0,
    memory: Annotated[int, typer.Option(help="MiB that an input may allocate.")] = 2048,
    workers: Annotated[int | None, typer.Option(help="Processes; default: all cores.")] = None,
    out: Annotated[Path, typer.Option(help="Where the rows go.")] = (
        Path("results/fuzz/summary.json")
    ),
) -> None:
    """Compare methods: what do as many inputs of each cover? May be stopped and repeated."""
    from aloex.apps.fuzz.mutate import PLAIN_MUTATORS
    from aloex.apps.fuzz.target import Target
    from studies.fuzz import rivals
    from studies.fuzz import study as comparison
    from studies.fuzz.compare import table
    from studies.results import read

    sweep = listed(edits, "--edits", whole_or_share)
    counts = listed(inputs, "--inputs")
    wanted = method or [*PLAIN_MUTATORS, *rivals.RIVALS, "no-model"]
    by_model = [name for name in wanted if name in comparison.LEARNED]
    if by_model and models is None:
        raise InputError(f"{by_model[0]} needs --models FOLDER, with what aloex fuzz learn wrote")
    special = ("no-model", *comparison.LEARNED)
    plain = comparison.lines([name for name in wanted if name not in special], sweep)
    limits: dict[str, Any] = {"timeout": timeout, "memory_mb": memory, "workers": workers}
    for loaded in [Target.load(name) for name in target]:
        todo = list(plain)
        if "no-model" in wanted:
            todo.append(comparison.no_model_line(loaded.max_len))
        for name in by_model if method else comparison.LEARNED:
            file = (models or Path()) / f"{loaded.name}.{name}.safetensors"
            if method or (models and file.exists()):  # one that is asked for is missed
                todo += comparison.model_lines(file, loaded.max_len, sweep, mode)
        tell = lambda line, name=loaded.name: print(f"{name}: {line}", file=sys.stderr, flush=True)
        how: dict[str, Any] = {
            "trials": trials,
            "first_trial": first_trial,
            "counts": counts,
            "tell": tell,
        }
        comparison.make(loaded, todo, out, **how, **limits)
    print(table(read(out), max(counts)))


@app.command()
def page(
    results: Annotated[Path, typer.Option(help="What the study wrote.")] = (
        Path("results/fuzz/summary.json")
    ),
    out: Annotated[Path, typer.Option(help="The page to write.")] = Path("docs/fuzz_study.md"),
) -> None:
    """Write the study's page and figure from its rows."""
    from matplotlib import rc_context

    from studies.fuzz import page
    from studies.results import read

    images = out.parent / "images/fuzz"
    images.mkdir(parents=True, exist_ok=True)
    rows = read(results)
    out.write_text(page.render(rows))
    drawn = page.figure(rows)
    with rc_context({"svg.hashsalt": "aloex"}):  # the same file each time it is written
        for path in (images / "study.png", *map(results.with_name, ("study.png", "study.svg"))):
            drawn.savefig(path, dpi=150, metadata={"Date": None} if path.suffix == ".svg" else None)
    print(f"page: {out}")


if __name__ == "__main__":
    run_app(app)
