"""What the page says first: CD, ALOE and PCD with their best settings, from the rows."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from aloex.apps.synthetic.data import DATA_SETS
from studies.synthetic import verdicts
from studies.synthetic.cells import mean_cell
from studies.synthetic.verdicts import Line, Rows

CD, ALOE, PCD = LINES = ("cd", "best"), ("aloe", "best"), ("pcd", "best")
BOARD = "checkerboard"
NLL = "nll_minus_floor"
CHAINS, DRAWS = "short_mmd_exp", "q_mmd_exp"  # of short chains on f; of q alone


def headline(rows: Rows) -> dict[str, Any] | None:
    """The values that the text names; None unless all three lines have rows of all sets."""
    if not all(of(rows, line, name, NLL).size for line in LINES for name in DATA_SETS):
        return None
    others = [name for name in DATA_SETS if name != BOARD]
    far, gap = largest_gap(rows)
    board = [of(rows, line, BOARD, NLL) for line in LINES]
    missed = sets_where_chains_miss(rows, CD)
    show = lambda line, name, column: mean_cell(1e5 * of(rows, line, name, column), ".1f")
    return {
        "cd": _over_sets(rows, CD, DATA_SETS),
        "aloe": _over_sets(rows, ALOE, DATA_SETS),
        "others": {line[0]: _over_sets(rows, line, others) for line in LINES},
        "seconds": {line[0]: _seconds(rows, line) for line in LINES},
        "verdict": verdicts.in_words(verdicts.judge(rows, CD, ALOE)),
        "far": far,
        "gap": f"{1e3 * gap:.2f}",
        "far_cd": mean_cell(1e3 * of(rows, CD, far, NLL), ".2f"),
        "far_aloe": mean_cell(1e3 * of(rows, ALOE, far, NLL), ".2f"),
        "missed": verdicts.listed(missed),
        "chains": verdicts.listed([show(CD, name, CHAINS) for name in missed]),
        "draws": verdicts.listed([show(ALOE, name, DRAWS) for name in missed]),
        "apart": f"{board[2].min() - max(board[0].max(), board[1].max()):.2f}",
        "error": f"{max(of(rows, PCD, BOARD, 'importance_se')):.4f}",
    }


def row_of(row: dict[str, Any], line: Line) -> bool:
    """Whether a row belongs to a line."""
    return (row["method"], row["recipe"]) == line


def of(rows: Rows, line: Line, name: str, column: str) -> np.ndarray:
    """A column of a line on a set, a value for each seed that has it."""
    own = [row for row in rows if row_of(row, line) and row["data"] == name and column in row]
    return np.array([row[column] for row in sorted(own, key=lambda row: row["seed"])], float)


def largest_gap(rows: Rows) -> tuple[str, float]:
    """The set on which the means of CD and ALOE differ most, and by how many nats."""
    gap = {n: abs(of(rows, CD, n, NLL).mean() - of(rows, ALOE, n, NLL).mean()) for n in DATA_SETS}
    far = max(gap, key=gap.__getitem__)
    return far, float(gap[far])


def sets_where_chains_miss(rows: Rows, line: Line) -> list[str]:
    """Where short chains on f of every seed are worse than the draws of q of any seed of ALOE."""
    pairs = {
        name: (of(rows, line, name, CHAINS), of(rows, ALOE, name, DRAWS)) for name in DATA_SETS
    }
    return [
        name
        for name, (chains, draws) in pairs.items()
        if chains.size and draws.size and chains.min() > draws.max()
    ]


def _over_sets(rows: Rows, line: Line, names: Sequence[str]) -> str:
    """The mean over sets, in thousandths of a nat, with the spread of the seeds."""
    return mean_cell(1e3 * np.mean([of(rows, line, name, NLL) for name in names], axis=0), ".2f")


def _seconds(rows: Rows, line: Line) -> str:
    """What the line's models took together, without compilation."""
    row = next(row for row in rows if row_of(row, line))
    return f"{row['train_seconds'] - row['compile_seconds']:.0f}"
