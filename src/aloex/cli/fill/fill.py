"""`aloex fill`: fill a column of a table from a few examples."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aloex.base.errors import require
from aloex.cli.choices import Choice, help_with_choices
from aloex.cli.options import Seed

if TYPE_CHECKING:
    from aloex.apps.fill import FilledTable, Row

SHOWN = 50  # rows on the screen


class ScoreChoice(Choice):
    """What rates the programs that fit the examples."""

    TABLES = "tables", "a score tuned by hand for tables"
    LEARNED = "learned", "the energy that was trained on random tasks"


def fill(
    table: Annotated[
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
    seed: Seed = 0,
    score: Annotated[
        ScoreChoice,
        typer.Option(help=help_with_choices("What rates the programs.", ScoreChoice)),
    ] = ScoreChoice.TABLES,
) -> None:
    """Fill the empty cells of a column by the program behind the others."""
    from aloex.apps.fill import fill_table

    require(samples > 0, f"--samples must be positive, got {samples}")
    require(alternatives >= 0, f"--alternatives must not be negative, got {alternatives}")
    filled = fill_table(
        table,
        out,
        header=header,
        score="learned" if score is ScoreChoice.LEARNED else "tables",
        num_alternatives=alternatives,
        num_samples=samples,
        seed=seed,
    )
    if as_json:
        print(json.dumps(filled.solution.to_json(), ensure_ascii=False, indent=1))
        return
    _show(filled)
    if out is not None:
        print(f"\nfilled table: {out}")


def _show(filled: "FilledTable") -> None:
    """Print the program, its alternatives and the rows."""
    from aloex.apps.fill.language import in_words, show

    table, solution = filled
    number = len(table.examples)
    print(f"program: {in_words(solution.program)}\n         {show(solution.program)}")
    fit = "fits the example" if number == 1 else f"fits all of {number} examples"
    print(f"         {fit}, as do {_rounded(solution.num_programs - 1)} other programs")
    if table.heading is not None:
        cells = ", ".join(cell for cell in table.heading if cell)
        print(f"         the first row is taken for a header: {cells}")
    for i, (program, outputs) in enumerate(solution.alternatives, 1):
        print(f"or ({i}):  {in_words(program)}")
        other = next(j for j, row in enumerate(solution.rows) if row.output != outputs[j])
        print(f"         {solution.rows[other].input!r} would be {outputs[other]!r}")
    doubtful = [row for row in solution.rows if row.in_doubt]
    print(f"\n{len(solution.rows)} rows filled, {len(doubtful)} in doubt (marked ?)")
    shown = solution.rows if len(solution.rows) <= SHOWN else [*doubtful, *solution.rows][:SHOWN]
    width = max((len(row.input) for row in shown), default=0)
    for row in shown:
        print(_line(row, width))
    if len(shown) < len(solution.rows):
        hidden = len(solution.rows) - len(shown)
        print(f"  ... {hidden} more rows; see them all with --out or --json")


def _line(row: "Row", width: int) -> str:
    """A row on the screen, with the other outputs where it is in doubt."""
    output = "(does not apply)" if row.output is None else row.output
    line = f"{'?' if row.in_doubt else ' '} {row.input:{width}}  ->  {output}   {row.share:.0%}"
    if row.in_doubt and row.others:
        line += "   or " + ", ".join(f"{text} {share:.0%}" for text, share in row.others.items())
    return line


def _rounded(number: int) -> str:
    """A number of programs, which may have dozens of digits."""
    return f"{number:,}" if number < 10**7 else f"about 10^{len(str(number)) - 1}"
