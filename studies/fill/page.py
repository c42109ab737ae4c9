"""The page: how many tasks are solved, and what "sure" is worth."""

from pathlib import Path
from typing import Any

from studies.results import markdown, read
from studies.template import fill

Row = dict[str, Any]
BUSTLE = "build/bustle.jsonl"
NAMES = {"heldout": "heldout", "dev": "dev", BUSTLE: "bustle"}


def render(results: Path) -> str:
    """The page, from the rows of `results/fill`."""
    rows, counted = read(results / "summary.json"), read(results / "corrections.json")
    by = {(NAMES[row["set"]], row["examples"]): row for row in rows}
    return fill(
        Path(__file__).with_name("page.md.j2"),
        dev=by["dev", 2],
        heldout=by["heldout", 2],
        bustle=by["bustle", 2],
        table=_table(by),
        percent=lambda row: f"{row['solved'] / row['tasks']:.0%}",
        share=lambda row: f"{row['sure_and_right'] / row['solved']:.0%}",
        corrections={NAMES[row["set"]]: row["median"] for row in counted},
        kinds=_kinds(by["heldout", 2]),
        commands="\n".join(sorted({row["command"] for row in [*rows, *counted]})),
    )


def _table(by: dict[tuple[str, int], Row]) -> str:
    head = ["tasks", "examples", "solved", "sure", "of these right", "limits"]
    lines = []
    for (name, number), row in sorted(by.items()):
        limits = f"{row['sure_right_low']:.0%} to {row['sure_right_high']:.0%}"
        solved = f"{row['solved']} of {row['tasks']}"
        right = [row["sure"], row["sure_and_right"], limits if row["sure"] else "–"]
        lines.append([name, number, solved, *right])
    return markdown(head, lines)


def _kinds(row: Row) -> str:
    kinds = sorted(row["kinds"].items(), key=lambda item: -item[1][1])
    return markdown(["kind", "solved", "of"], [[kind, *counts] for kind, counts in kinds])
