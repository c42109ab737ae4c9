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
    of: Annotated[
        str, typer.Option("--set", help="dev, heldout, test, later, or a file of tasks.")
    ] = "heldout",
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
def exform(
    of: Annotated[
        str, typer.Option("--set", help="dev, heldout, test, later, or a file of tasks.")
    ] = "dev",
    examples: Annotated[str, typer.Option(help="Numbers of examples.")] = "1,2,3",
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Name the tasks that exform alone solves.")
    ] = False,
    environment: Annotated[
        Path, typer.Option(help="Virtual environment for exform; made if it is not there.")
    ] = Path("build/exform-venv"),
    out: Annotated[Path, typer.Option(help="Folder of the results.")] = Path("results/fill"),
) -> None:
    """Tasks of one column, solved by Aloex and by exform from the same rows."""
    from studies.fill.beside import compare, counts
    from studies.fill.exform import VERSION, Exform, install, suits
    from studies.fill.tasks import load
    from studies.results import save

    tasks = [task for task in load(of) if suits(task)]
    numbers = listed(examples, "--examples")
    require(min(numbers) >= 1, f"--examples must be positive, got {min(numbers)}")
    solver = Exform(install(environment, VERSION))
    for number in numbers:
        pairs = compare(tasks, number, solver)
        row = {"set": of, "examples": number, "exform": VERSION, **counts(pairs)}
        save(out / "exform.json", [row], ("set", "examples"), quiet=True)
        print(
            f"{of}, {number} examples, {row['tasks']} tasks: Aloex {row['ours']}, "
            f"exform {row['theirs']}, both {row['both']}"
        )
        if verbose:
            print("  only exform:", ", ".join(p.task.name for p in pairs if p.theirs > p.ours))


@app.command()
def reliability(
    of: Annotated[
        str, typer.Option("--set", help="dev, heldout, test, later, or a file.")
    ] = "heldout",
    examples: Annotated[int, typer.Option(min=1, help="Number of examples.")] = 2,
    out: Annotated[Path, typer.Option(help="Folder of the results.")] = Path("results/fill"),
) -> None:
    """How often rows of some confidence are right."""
    from studies.fill.reliability import confidence_and_truth
    from studies.fill.reliability import reliability as points_of
    from studies.fill.tasks import load
    from studies.results import save

    tasks = [task for task in load(of) if len(task.rows) > examples]
    pairs = [confidence_and_truth(task, examples) for task in tasks]
    row = {"set": of, "examples": examples, "num_rows": sum(map(len, pairs))}
    save(out / "reliability.json", [{**row, "points": points_of(pairs)}], ("set", "examples"))


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
def speed(
    programs: Annotated[str, typer.Option(help="Some of them: word,date. Default: all.")] = "",
    rows: Annotated[int, typer.Option(min=10, help="Rows of the tables.")] = 1_000_000,
    seed: Annotated[int, typer.Option(help="Of the tables.")] = 0,
    out: Annotated[Path, typer.Option(help="Folder of the results.")] = Path("results/fill"),
) -> None:
    """Rows per second and memory of `aloex fill` and `aloex fill apply`, beside plain scripts."""
    from tempfile import TemporaryDirectory

    from studies.fill.speed import measure, names
    from studies.results import save

    for name in names(programs):
        with TemporaryDirectory() as folder:
            for row in measure(Path(folder), name, rows, seed):
                save(out / "speed.json", [row], ("how", "program", "rows"), quiet=True)
                print(
                    "{how} {program}: {rows_per_cpu_second:,} rows/s, {times_the_peer} times the "
                    "peer, {megabytes} MB; same cells: {same_cells}".format(**row)
                )


@app.command()
def energy_train(
    tasks: Annotated[int, typer.Option(min=1, help="Generated tasks to learn from.")] = 3000,
    valid: Annotated[int, typer.Option(min=1, help="Generated tasks that say when to stop.")] = 400,
    seeds: Annotated[int, typer.Option(min=1, help="Networks that stand together.")] = 3,
    of: Annotated[str, typer.Option("--set", help="Tasks to fine-tune on.")] = "dev",
    out: Annotated[Path, typer.Option(help="Folder of the weights.")] = Path("build/fill_energy"),
) -> None:
    """Train energies of programs, the challengers of the linear costs."""
    from studies.fill.energy.train_all import train_all
    from studies.fill.tasks import load

    for name, told in train_all(load(of), tasks, valid, seeds, out).items():
        print(f"{name}: {told}")
    print(f"weights: {out}")


@app.command()
def energy_eval(
    of: Annotated[
        str, typer.Option("--set", help="dev, heldout, test, later, or a file of tasks.")
    ] = "heldout",
    examples: Annotated[str, typer.Option(help="Numbers of examples.")] = "1,2,3",
    weights: Annotated[Path, typer.Option(help="Folder of the weights.")] = Path(
        "build/fill_energy"
    ),
    out: Annotated[Path, typer.Option(help="Folder of the results.")] = Path("results/fill"),
) -> None:
    """Linear costs and energies on the same programs: whose first one is right on all rows?"""
    from studies.fill.energy.evaluate import rankers, summary
    from studies.fill.energy.pools import pools
    from studies.fill.tasks import load
    from studies.results import save

    tasks = load(of)
    for number in listed(examples, "--examples"):
        require(number >= 1, f"--examples must be positive, got {number}")
        found = pools(tasks, [number])
        for row in summary(found, rankers(found, weights, by_fold=of == "dev")):
            row = {"set": of, "examples": number, **row}
            save(out / "energy.json", [row], ("set", "examples", "ranker"), quiet=True)
            print(
                f"{of}, {number} examples, {row['ranker']}: first right {row['first_right']} of "
                f"{row['some_right']} that can be, {row['tasks']} in all; "
                f"log-likelihood {row['log_likelihood']}"
            )


@app.command()
def energy_extras(
    of: Annotated[str, typer.Option("--set", help="dev, or a file of tasks.")] = "dev",
    number: Annotated[int, typer.Option(min=1, help="How many.")] = 8,
    products: Annotated[
        bool, typer.Option("--products", help="Also features times those of the table.")
    ] = False,
) -> None:
    """Which features seen on rows would help the linear costs most, one after the other."""
    from studies.fill.energy.extras import extras
    from studies.fill.energy.pools import pools
    from studies.fill.tasks import load

    for row in extras(pools(load(of)), number, products):
        print(
            f"{row['extra']} {row.get('weight', 0.0):+.2f}: first right {row['first_right']}, "
            f"log-likelihood {row['log_likelihood']:.4f}"
        )


@app.command()
def page(
    results: Annotated[Path, typer.Option(help="Folder of the rows.")] = Path("results/fill"),
    out: Annotated[Path, typer.Option(help="The page.")] = Path("docs/fill_study.md"),
) -> None:
    """Write the page from the committed rows."""
    from aloex.base.files import write_file
    from studies.fill.page import draw, render

    write_file(out, render(results))
    draw(results, out.parent / "images" / "fill" / "reliability.png")
    print(f"page: {out}")


if __name__ == "__main__":
    run_app(app)
