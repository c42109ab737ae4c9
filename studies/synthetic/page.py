"""The results page, docs/synthetic.md, from the committed results: every number has its command."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from aloex.apps.synthetic.data import DATA_SETS
from studies import results
from studies.results import markdown
from studies.synthetic import claims, verdicts
from studies.synthetic.cells import cell, mean_cell
from studies.synthetic.claims import SEARCH
from studies.synthetic.verdicts import ALPHA, DIVERGED
from studies.template import fill

Rows = list[dict[str, Any]]

PAPER = {  # Table 1 of the paper: MMD with the linear kernel, times 1000, in the order of DATA_SETS
    "pcd": (34.73, 0.3, -0.3, 0.48, -0.42, -0.49, -1.04),
    "ade": (33.4, -0.28, 2.01, 2.16, 7.64, 6.12, -0.69),
    "aloe": (30.37, -0.97, -0.83, -0.64, -0.64, -0.58, -1.7),
    "ade-fac": (236.6, 65.7, 261.7, 248.6, 187.2, 95.3, 78.2),
    "aloe-fac-noedit": (51.24, 91.2, 5.97, 76.8, 59.7, 15, 2.98),
    "aloe-fac-edit": (32.6, 3, -1.5, 1.27, 5.02, 0.44, -2.03),
    "autoregressive": (32.7, -0.3, -0.8, -0.45, -1.27, 0.31, -0.2),
    "vae": (35.2, 2.09, 0.16, 1.1, 0.85, 2.05, -0.77),
}


def render(folder: Path) -> str:
    """The page; a section whose rows are not there yet is left out."""
    read = lambda name: results.read(folder / name) if (folder / name).exists() else []
    rows, data, floors = read("summary.json"), read("data.json"), read("floor.json")
    ablation, tuning = read("ablation.json"), read("tuning.json")
    variance, full = read("gradient_variance.json"), read("full_length.json")
    ours = [row for row in tuning if row["method"] == "cd"]
    grid = [row for row in tuning if row["method"] not in (SEARCH, "cd")]
    best = [row for row in rows if row["recipe"] == "best"]
    sampled = [row for row in rows if "q_mmd_exp" in row]
    nll = partial(by_data, column="nll_minus_floor", scale=1e3, form=".1f")
    mmd = partial(by_data, column="mmd_exp", scale=1e5, form=".1f")
    taken = ("seconds", _time)
    return fill(
        Path(__file__).with_name("page.md.j2"),
        seeds=len({row["seed"] for row in rows}),
        alpha=f"{ALPHA:.0%}",
        nll=nll(rows, limit=1e3 * DIVERGED, last=("steps", _steps)),
        seconds=_seconds(rows),
        full=nll(full, limit=1e3 * DIVERGED),
        full_seconds=_seconds(full),
        full_lines=verdicts.listed(sorted({f"`{row['method']}`" for row in full})),
        full_edits_help=claims.sets_where_edits_help(full),
        mmd=mmd(rows, reference=data),
        q_mmd=mmd(sampled, column="q_mmd_exp"),
        chains=mmd(best, column="short_mmd_exp"),
        linear=by_data(rows, "short_mmd_linear", 1e3, ".1f", beside=_paper),
        ablation=nll(ablation, last=taken),
        tuning=nll(grid, limit=1e3 * DIVERGED, last=taken),
        cd_grid=nll(ours),
        stop=_stop(tuning),
        variance=_variance(variance),
        log_z=_log_z(rows),
        floor=_floor(floors),
        commands=_commands(rows, variance, ablation, tuning, full),
        verdicts=verdicts.table(rows),
        **claims.values(rows, data=data, floors=floors, tuning=tuning, ablation=ablation),
    )


def _commands(*tables: Rows) -> str:
    return "\n".join(sorted({row["command"] for rows in tables for row in rows}))


def by_data(
    rows: Rows,
    column: str,
    scale: float,
    form: str,
    *,
    reference: Sequence[dict[str, Any]] = (),
    limit: float = math.inf,
    beside: Callable[[str, str, str], str] = lambda *_: "",
    last: tuple[str, Callable[[Rows], str]] | None = None,
) -> str:
    """A table with a line per method and recipe and a column per data set; no rows, no table."""
    if not rows:
        return ""
    lines = sorted({(row["method"], row["recipe"]): None for row in rows})
    names = [name for name in DATA_SETS if any(row["data"] == name for row in rows)]
    value = lambda row: row.get(column, row.get(column.removeprefix("short_")))
    of = lambda line, name: [
        row for row in rows if (row["method"], row["recipe"], row["data"]) == (*line, name)
    ]
    pick = lambda line, name: [value(row) for row in of(line, name) if value(row) is not None]
    table = []
    if reference:
        known = {row["data"]: row for row in reference}
        shown = lambda row: cell(scale * row[column], scale * row[f"{column}_se"], form)
        table.append(["data", *(shown(known[n]) if n in known else "" for n in names)])
    for line in lines:
        cells = []
        for name in names:
            values = scale * np.array(pick(line, name), float)
            text = mean_cell(values, form)
            if (lost := int(np.sum(values > limit))) > 0:
                text = f"diverged ({lost} of {values.size})"
            cells.append(text + beside(*line, name))
        own = [row for row in rows if (row["method"], row["recipe"]) == line]
        table.append([verdicts.label(line), *cells, *([last[1](own)] if last else [])])
    return markdown(["", *names, *([last[0]] if last else [])], table)


def _paper(method: str, recipe: str, name: str) -> str:
    figures = PAPER.get(method) if recipe == "paper" else None
    return f" ({figures[DATA_SETS.index(name)]})" if figures else ""


def _stop(tuning: Rows) -> str:
    """The search with and without a bound on its probability to stop."""
    named = {claims.BOUNDED: "bounded", claims.FREE: "free"}
    shown = [{**row, "recipe": named[row["recipe"]]} for row in tuning if row["method"] == SEARCH]
    return by_data(shown, "nll_minus_floor", 1e3, ".1f")


def _steps(rows: Rows) -> str:
    """The steps of a line, the fewest first where they differ."""
    return " or ".join(f"{steps:,}" for steps in sorted({row["steps"] for row in rows}))


def _time(rows: Rows) -> str:
    return f"{rows[0]['train_seconds'] - rows[0]['compile_seconds']:.0f}"


def _seconds(rows: Rows) -> str:
    """What each line took; one whose models had different numbers of steps is there twice."""
    kind = lambda row: (row["method"], row["recipe"], row["steps"])
    table = []
    for method, recipe, steps in sorted({kind(row) for row in rows}):
        mine = [row for row in rows if kind(row) == (method, recipe, steps)]
        row, compiling = mine[0], mine[0]["compile_seconds"]
        took = [f"{row['train_seconds'] - compiling:.0f}", f"{compiling:.0f}"]
        table.append(
            [
                f"{method}, {recipe}",
                f"{steps:,}",
                row["group_size"],
                *took,
                row["device"],
                _how(mine),
            ]
        )
    head = ["", "steps", "models at once", "seconds", "compilation", "on", "log Z"]
    return markdown(head, table)


def _how(rows: Rows) -> str:
    """How log Z was found for a line."""
    diverged = lambda row: row["nll_minus_floor"] > DIVERGED
    estimated = [row for row in rows if row["log_z_by"] == "importance sampling"]
    errors = [row["importance_se"] for row in estimated if not diverged(row)]
    exact = sum(row["log_z_by"] == "enumeration" for row in rows)
    if errors:
        some = f"exact for {exact} of {len(rows)}, else " if exact else ""
        return f"{some}estimated, error up to {max(errors):.1g}"
    by = "diverged" if all(map(diverged, rows)) else str(rows[0]["log_z_by"])
    return "exact" if by == "enumeration" else by


def _variance(rows: Rows) -> str:
    """The noise of the gradients at each step that both methods were measured at."""
    methods = list(dict.fromkeys(row["method"] for row in rows))
    steps = [{row["step"] for row in rows if row["method"] == method} for method in methods]

    def cells(step: int, column: str, scale: float, form: str) -> list[str]:
        at = lambda m: [r[column] for r in rows if (r["method"], r["step"]) == (m, step)]
        return [mean_cell(scale * np.array(at(method)), form) for method in methods]

    table = [
        [
            step,
            *cells(step, "gradient_variance", 1.0, ".1f"),
            *cells(step, "nll_minus_floor", 1e3, ".0f"),
        ]
        for step in sorted(set.intersection(*steps) if steps else ())
    ]
    head = [*(f"variance, {m}" for m in methods), *(f"NLL minus floor, {m}" for m in methods)]
    return markdown(["step", *head], table) if table else ""


def _log_z(rows: Rows) -> str:
    """Exact and estimated log Z of the best recipe's first models."""
    shown = [
        row
        for row in rows
        if (row["method"], row["recipe"], row["seed"]) == ("aloe", "best", 0) and "log_z" in row
    ]
    kinds = ("importance", "ais_lower", "ais_upper")
    table = [
        [
            row["data"],
            f"{row['log_z']:.4f}",
            *(cell(row[kind], row[f"{kind}_se"], ".4f") for kind in kinds if kind in row),
        ]
        for row in shown
        if row["log_z_by"] == "enumeration"
    ]
    head = ["", "exact", "importance sampling", "AIS, lower", "AIS, upper"]
    return markdown(head, table) if table else ""


def _floor(rows: Rows) -> str:
    table = [
        [
            row["data"],
            f"{row['floor']:.5f}",
            f"{max(row['change_when_spacing_halves'], row['quantisation_bound']):.0e}",
        ]
        for row in rows
    ]
    return markdown(["", "floor, nats", "error"], table)
