"""Fill the second column of a CSV file: read, tell the header from the rows, solve, write."""

from pathlib import Path
from typing import Literal, NamedTuple

from aloex.apps.fill.energy import Learned
from aloex.apps.fill.fill.solver import Solution, solve
from aloex.apps.fill.tables import Table, read, split_header, write
from aloex.base.errors import require
from aloex.base.seeds import check_seed


class FilledTable(NamedTuple):
    """A table and what was found for it."""

    table: Table
    solution: Solution


def fill_table(
    path: Path,
    out: Path | None = None,
    *,
    header: bool | None = None,
    score: Literal["tables", "learned"] = "tables",
    num_alternatives: int = 3,
    num_samples: int = 200,
    seed: int = 0,
) -> FilledTable:
    """Fill the missing outputs of a CSV file.

    Args:
        path: a file with two columns, inputs and outputs; some outputs are there, others are empty.
        out: where to write the filled table, if anywhere.
        header: whether the first row is a header; None to guess.
        score: `tables`, tuned by hand for tables; or `learned`, the energy trained on random tasks.
        num_alternatives: how many other programs to return.
        num_samples: how many programs vote on each row.
        seed: of the draws.
    """
    check_seed(seed)
    table = split_header(read(path), header)
    require(
        len(table.examples) > 0,
        "no row has an output; fill in some by hand, and the others will follow them",
    )
    solution = solve(
        table.examples,
        table.inputs,
        num_alternatives=num_alternatives,
        num_samples=num_samples,
        seed=seed,
        score=(lambda space: Learned(space, table.inputs)) if score == "learned" else None,
    )
    if out is not None:
        write(out, table, [(row.output, row.share) for row in solution.rows])
    return FilledTable(table, solution)
