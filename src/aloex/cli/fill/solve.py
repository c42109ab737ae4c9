"""`aloex synth`: programs from examples."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from aloex.base.errors import require
from aloex.cli.fill import energy, networks, tasks

app = typer.Typer(
    help="Program synthesis: fill a column from a few examples.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.command("tasks")(tasks.tasks)
app.add_typer(networks.train, name="train")
networks.train.command("energy")(energy.energy)

SHOWN = 50  # rows on the screen


@app.command()
def solve(
    examples: Annotated[
        Path, typer.Argument(help="A CSV file: inputs, and outputs for some of them.")
    ],
    out: Annotated[Path | None, typer.Option(help="Where to write the filled table.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Answer in JSON, for programs.")] = False,
    header: Annotated[
        bool | None,
        typer.Option("--header/--no-header", help="Is the first row a header? Default: a guess."),
    ] = None,
    alternatives: Annotated[int, typer.Option(help="Other programs to show.")] = 3,
    samples: Annotated[int, typer.Option(help="Programs that vote on each row.")] = 200,
    seed: Annotated[int, typer.Option(help="Seed of the draws.")] = 0,
    score: Annotated[
        str, typer.Option(help="tables, or learned: the energy, for tasks like the study's.")
    ] = "tables",
) -> None:
    """Find the program behind some examples, and fill in the missing outputs."""
    from aloex.apps.fill.tables import table_file

    require(samples > 0, f"--samples must be positive, got {samples}")
    require(alternatives >= 0, f"--alternatives must not be negative, got {alternatives}")
    require(score in ("tables", "learned"), f"--score is tables or learned, got {score!r}")
    table = table_file.read(examples, header)
    settings: dict[str, Any] = {"num_alternatives": alternatives, "num_samples": samples}
    settings["seed"] = seed
    if score == "learned":
        from aloex.apps.fill.energy.learned import Learned

        settings["score"] = lambda space: Learned(space, table.inputs)
    solution = table_file.fill(table, **settings)
    if out is not None:
        table_file.write(out, table, solution)
    if as_json:
        print(json.dumps(solution.to_json(), ensure_ascii=False, indent=1))
        return
    show(table, solution)
    if out is not None:
        print(f"\nfilled table: {out}")


def show(table, solution) -> None:
    """The answer on the screen."""
    from aloex.apps.fill.language import in_words
    from aloex.apps.fill.language import show as as_text

    number = len(table.examples)
    print(f"program: {in_words(solution.program)}\n         {as_text(solution.program)}")
    fit = "fits the example" if number == 1 else f"fits all of {number} examples"
    print(f"         {fit}, as do {rounded(solution.num_programs - 1)} other programs")
    if table.heading is not None:
        print(f"         the first row is taken for a header: {', '.join(table.heading)}")
    for i, (program, outputs) in enumerate(solution.alternatives, 1):
        print(f"or ({i}):  {in_words(program)}")
        other = next(j for j, row in enumerate(solution.rows) if row.output != outputs[j])
        print(f"         {solution.rows[other].input!r} would be {outputs[other]!r}")
    doubtful = [row for row in solution.rows if row.in_doubt]
    print(f"\n{len(solution.rows)} rows filled, {len(doubtful)} in doubt (marked ?)")
    shown = solution.rows if len(solution.rows) <= SHOWN else [*doubtful, *solution.rows][:SHOWN]
    width = max((len(row.input) for row in shown), default=0)
    for row in shown:
        line = f"{'?' if row.in_doubt else ' '} {row.input:{width}}  ->  "
        line += "(does not apply)" if row.output is None else row.output
        line += f"   {row.share:.0%}"
        if row.in_doubt and row.others:
            line += "   or " + ", ".join(
                f"{text} {share:.0%}" for text, share in row.others.items()
            )
        print(line)
    if len(shown) < len(solution.rows):
        print(
            f"  ... {len(solution.rows) - len(shown)} more rows; see them all with --out or --json"
        )


def rounded(number: int) -> str:
    """A number of programs, which may have dozens of digits."""
    return f"{number:,}" if number < 10**7 else f"about 10^{len(str(number)) - 1}"
