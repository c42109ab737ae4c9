"""`aloex synth table`: how often the first of the ranked programs is right."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from aloex.cli.numbers import listed
from aloex.errors import require


def table(
    model: Annotated[
        list[str] | None, typer.Option(help="A model's name; may be repeated; default: all.")
    ] = None,
    public: Annotated[str, typer.Option(help="Numbers of public examples.")] = "1,2,3,4",
    number: Annotated[int, typer.Option("--number", "-n", help="Tasks of the set.")] = 10_000,
    of: Annotated[str, typer.Option("--set", help="test or validation.")] = "test",
    jobs: Annotated[int, typer.Option(help="Processes at work.")] = 1,
    out: Annotated[Path, typer.Option(help="Folder of the results.")] = Path("results/synth"),
) -> None:
    """Top-1 and Top-10 on the frozen tasks, by the number of public examples."""
    from aloex.apps.results import save
    from aloex.apps.synth import rank_study
    from aloex.apps.synth.tasks import frozen

    counts = listed(public, "--public")
    names = model or list(rank_study.MODELS)
    for name in names:
        known = ", ".join(map(repr, rank_study.MODELS))
        require(name in rank_study.MODELS, f"there is no model {name!r}; there are {known}")
    require(jobs > 0, f"--jobs must be positive, got {jobs}")
    require(number > 0, f"--number must be positive, got {number}")
    require(all(1 <= count <= 4 for count in counts), f"--public must be 1 to 4, got {public}")
    chosen = frozen(of)[:number]
    for name in names:
        for count in counts:
            row = {"set": of, **rank_study.evaluate(chosen, name, count, jobs)}
            top1, top10 = row["top1_beam1"], row["top10_beam10"]
            line = f"{name}, {count} public: top-1 {top1:.2%}, top-10 {top10:.2%}"
            print(f"{line}, {row['ms_mean']:.0f} ms a task", file=sys.stderr, flush=True)
            keys = ("set", "model", "public_examples")
            save(out / "summary.json", [row], keys, quiet=True)
    print(f"wrote {out / 'summary.json'}")
