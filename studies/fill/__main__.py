"""`python -m studies.fill`: the column filler on tasks as people have them."""

from pathlib import Path
from typing import Annotated

import typer

from aloex.base.errors import require
from aloex.cli.options import listed
from studies.command import command_line, run_app

app = command_line("The column filler on tasks as people have them.")


@app.command()
def table(
    of: Annotated[str, typer.Option("--set", help="dev, heldout, or a file of tasks.")] = "heldout",
    examples: Annotated[str, typer.Option(help="Numbers of examples.")] = "1,2,3",
    corrections: Annotated[
        bool, typer.Option("--corrections", help="Also count corrections until all is right.")
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="Name the tasks that fail.")] = False,
    out: Annotated[Path, typer.Option(help="Folder of the results.")] = Path("results/fill"),
) -> None:
    """Tasks solved from their first rows, and how often "sure" is right."""
    from studies.fill.rate import corrections as count
    from studies.fill.rate import rate, summary
    from studies.fill.tasks import load
    from studies.results import save

    tasks = load(of)
    for number in listed(examples, "--examples"):
        require(number >= 1, f"--examples must be positive, got {number}")
        rated = [rate(task, number) for task in tasks if len(task.rows) > number]
        row = {"set": of, "examples": number, **summary(rated)}
        kinds = sorted({each.task.kind for each in rated})
        row["kinds"] = {
            kind: [
                sum(e.solved for e in rated if e.task.kind == kind),
                sum(e.task.kind == kind for e in rated),
            ]
            for kind in kinds
        }
        save(out / "summary.json", [row], ("set", "examples"), quiet=True)
        print(
            f"{of}, {number} examples: {row['solved']} of {row['tasks']} solved; "
            f"sure {row['sure']}, right {row['sure_and_right']}"
        )
        if verbose:
            print("  not solved:", ", ".join(e.task.name for e in rated if not e.solved))
            print(
                "  sure and wrong:",
                ", ".join(e.task.name for e in rated if e.sure and not e.solved),
            )
    if corrections:
        counts = sorted(count(task) for task in tasks)
        row = {"set": of, "corrections": counts, "median": counts[len(counts) // 2]}
        save(out / "corrections.json", [row], ("set",), quiet=True)
        print(f"{of}: corrections until right: median {row['median']}")


@app.command()
def learn(
    of: Annotated[str, typer.Option("--set", help="dev, or a file of tasks.")] = "dev",
    rounds: Annotated[int, typer.Option(min=1, help="Searches, each with the costs so far.")] = 2,
    out: Annotated[Path, typer.Option(help="Where to write the costs.")] = Path("build/costs.json"),
) -> None:
    """Learn what features of programs cost; they are then copied into `search/costs.py` by hand."""
    import json

    from aloex.base.files import make_folder, write_file
    from studies.fill.learn import learn as learn_costs
    from studies.fill.tasks import load

    costs, reports = learn_costs(load(of), rounds)
    make_folder(out.parent)
    write_file(out, json.dumps(costs, indent=1) + "\n")
    for report in reports:
        print("right program first: {right_before} -> {right} of {choices}".format(**report))
    print(f"costs: {out}")


@app.command()
def page(
    results: Annotated[Path, typer.Option(help="Folder of the rows.")] = Path("results/fill"),
    out: Annotated[Path, typer.Option(help="The page.")] = Path("docs/fill_study.md"),
) -> None:
    """Write the page from the committed rows."""
    from aloex.base.files import write_file
    from studies.fill.page import render

    write_file(out, render(results))
    print(f"page: {out}")


if __name__ == "__main__":
    run_app(app)
