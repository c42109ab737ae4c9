"""Numbers that the page's prose names, from the rows; tests hold the rest against the rows."""

import math
from typing import Any

import numpy as np

from aloex.apps.synthetic.data import DATA_SETS
from studies.synthetic import verdicts
from studies.synthetic.headline import headline
from studies.synthetic.verdicts import ENERGIES, Line, Rows, of_seeds

SEARCH = "aloe-fac-edit"
BOUNDED, FREE = "paper, max_stop_prob=0.95", "paper, max_stop_prob=1.0"
FACTORIZED = ("ade-fac", "aloe-fac-edit", "aloe-fac-noedit")
NUM_BITS = 32


def values(rows: Rows, *, data: Rows, floors: Rows, tuning: Rows, ablation: Rows) -> dict[str, Any]:
    """All that the template asks for beside tables; None or "" where there are no rows yet."""
    stop = {recipe: of_seeds(tuning, (SEARCH, recipe), "2spirals") for recipe in (BOUNDED, FREE)}
    ratio = [np.mean(stop[recipe]) for recipe in (BOUNDED, FREE) if stop[recipe]]
    above = [NUM_BITS * math.log(2) - row["floor"] for row in floors]
    return {
        "best": headline(rows),
        "autoregressive": autoregressive(rows),
        "verdict": lambda *methods: verdicts.in_words(
            verdicts.judge(rows, *((method, "paper") for method in methods))
        ),
        "diverged": lambda method: verdicts.diverged(rows, method),
        "uniform": f"{min(above):.1f} to {max(above):.1f}" if above else "some 2",
        "stop_cost": f"{ratio[0] / ratio[1]:.1f}" if len(ratio) == 2 else "",
        "stop_steps": _steps([row for row in tuning if row["method"] == SEARCH]),
        "ablation_steps": _steps(ablation),
        "linear_data": f"{1e3 * max((abs(row['mmd_linear']) for row in data), default=0):.1f}",
        "linear_factorized": f"{linear_factorized(rows):.0f}",
    }


def autoregressive(rows: Rows) -> dict[str, int] | None:
    """How often the autoregressive model is ahead of an energy, with the paper's settings."""
    line: Line = ("autoregressive", "paper")
    found = [verdicts.judge(rows, line, (method, "paper")) for method in ENERGIES]
    counted = verdicts.counts(found)
    total = sum(counted.values()) - counted[verdicts.NONE]
    one_family = verdicts.ahead_in_one_family(rows, line)
    return {**counted, "total": total, "one_family": one_family} if total else None


def linear_factorized(rows: Rows) -> float:
    """The smallest mean of the paper's metric, times 1000, of lines with a factorized sampler."""
    means = [
        np.mean([row["short_mmd_linear"] for row in own])
        for method in FACTORIZED
        for name in DATA_SETS
        if (own := [r for r in rows if (r["method"], r["data"]) == (method, name)])
        and all("short_mmd_linear" in row for row in own)
    ]
    return 1e3 * float(min(means, default=0.0))


def _steps(rows: Rows) -> str:
    return " or ".join(f"{steps:,}" for steps in sorted({row["steps"] for row in rows}))


def sets_where_edits_help(rows: Rows) -> str:
    """Of independent starts, on how many sets the search with edits is nearer to the floor."""
    nll = {(row["method"], row["data"]): row["nll_minus_floor"] for row in rows}
    pairs = [(nll.get((SEARCH, data)), nll.get(("aloe-fac-noedit", data))) for data in DATA_SETS]
    compared = [(edits, none) for edits, none in pairs if edits is not None and none is not None]
    return f"{sum(edits < none for edits, none in compared)} of {len(compared)}"
