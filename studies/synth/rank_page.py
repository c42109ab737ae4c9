"""The section on what a learned energy adds to the version space."""

from pathlib import Path
from typing import Any

from studies.results import markdown
from studies.synth.study import MODELS
from studies.template import fill

Rows = list[dict[str, Any]]

KNOWN = "version space + energy, inputs known"


def render(rows: Rows) -> str:
    """The section, from the rows of `python -m studies.synth table`."""
    rows = [row for row in rows if row["model"] in MODELS and row.get("set") == "test"]
    models = {
        name: sorted(
            (row for row in rows if row["model"] == name), key=lambda row: row["public_examples"]
        )
        for name in MODELS
        if any(row["model"] == name for row in rows)
    }
    known = models[KNOWN]
    shares = lambda name: ", ".join(f"{100 * row[name]:.1f}" for row in known) + "%"
    return fill(
        Path(__file__).with_name("ranking.md.j2"),
        train=f"{known[0]['train_examples']:,}",
        n=f"{max(row['n_tasks'] for row in rows):,}",
        ranking=_ranking(models),
        margins=_margins(models),
        counts=", ".join(str(row["public_examples"]) for row in known),
        expected=shares("expected"),
        actual=shares("top1_beam1"),
    )


def _ranking(models: dict[str, Rows]) -> str:
    counts = [row["public_examples"] for row in models[KNOWN]]
    head = ["", *(f"top-1, {n}" for n in counts), *(f"top-10, {n}" for n in counts), "ms a task"]
    body = []
    for name, rows in models.items():
        shares = [row[key] for key in ("top1_beam1", "top10_beam10") for row in rows]
        times = [row["ms_mean"] for row in rows]
        percent = [f"{100 * share:.1f}%" for share in shares]
        body.append([name, *percent, f"{min(times):.0f} to {max(times):.0f}"])
    return markdown(head, body)


def _margins(models: dict[str, Rows]) -> str:
    alone, *others = models.values()
    above = lambda row, base: f"{100 * (row['top1_beam1'] - base['top1_beam1']):+.1f}"
    body = [[rows[0]["model"], *map(above, rows, alone)] for rows in others]
    return markdown(["", *(f"{row['public_examples']} public" for row in alone)], body)
