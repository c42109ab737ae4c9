"""The page: how many tasks are solved, what "sure" is worth, and how exform does."""

from pathlib import Path
from typing import Any

from aloex.apps.fill.fill.confidence import SURE
from studies.fill.energy import section
from studies.results import markdown, read
from studies.statistics import holm
from studies.template import fill

Row = dict[str, Any]
BUSTLE = "build/bustle.jsonl"
NAMES = {"later": "later", "heldout": "heldout", "test": "test", "dev": "dev", BUSTLE: "bustle"}
FIGURE = Path("docs/images/fill/reliability.png")


def render(results: Path) -> str:
    """The page, from the rows of `results/fill`."""
    rows, counted = read(results / "summary.json"), read(results / "corrections.json")
    by, exform = _by(rows), read(results / "exform.json")
    energies, speeds = read(results / "energy.json"), read(results / "speed.json")
    reliable = read(results / "reliability.json")
    return fill(
        Path(__file__).with_name("page.md.j2"),
        dev=by["dev", 2],
        heldout=by["heldout", 2],
        bustle=by["bustle", 2],
        test=by["test", 2],
        later=by["later", 2],
        by=by,
        sure=_sure,
        table=_table(by),
        speed_table=_speeds(speeds),
        certain=not_in_doubt(reliable),
        percent=lambda row: f"{row['solved'] / row['tasks']:.0%}",
        share=lambda row: f"{row['sure_and_right'] / row['solved']:.0%}",
        corrections={NAMES[row["set"]]: row["median"] for row in counted},
        kinds=_kinds(by["heldout", 2]),
        beside=_by(exform),
        beside_table=_beside(exform),
        version=", ".join(sorted({row["exform"] for row in exform})),
        cut=sum(row["theirs_cut"] for row in exform),
        commands="\n".join(
            sorted({row["command"] for row in [*rows, *counted, *reliable, *exform, *speeds]})
        ),
        energy=section.values(energies, NAMES),
        energy_commands="\n".join(sorted({row["command"] for row in energies})),
    )


def _by(rows: list[Row]) -> dict[tuple[str, int], Row]:
    return {(NAMES[row["set"]], row["examples"]): row for row in rows}


def _table(by: dict[tuple[str, int], Row]) -> str:
    head = ["tasks", "examples", "solved", "sure", "of these right", "limits"]
    lines = []
    for (name, number), row in sorted(by.items()):
        limits = f"{row['sure_right_low']:.0%} to {row['sure_right_high']:.0%}"
        solved = f"{row['solved']} of {row['tasks']}"
        right = [row["sure"], row["sure_and_right"], limits if row["sure"] else "–"]
        lines.append([name, number, solved, *right])
    return markdown(head, lines)


def _sure(row: Row) -> str:
    """47 of 48 (89% to 100%)."""
    limits = f"{row['sure_right_low']:.0%} to {row['sure_right_high']:.0%}"
    return f"{row['sure_and_right']} of {row['sure']} ({limits})"


def _speeds(rows: list[Row]) -> str:
    """Rows per CPU second of both commands, as a share of what a script by hand does."""
    programs = list(dict.fromkeys(row["program"] for row in rows))
    found = {(row["how"], row["program"]): row for row in rows}
    lines = []
    for program in programs:
        line: list[Any] = [program]
        for how in ("apply", "fill"):
            row = found[how, program]
            line += [f"{row['times_the_peer']:.2f}", f"{row['megabytes']} MB"]
        lines.append(line)
    head = ["program", "apply", "its memory", "fill", "its memory"]
    return markdown(head, lines)


def not_in_doubt(rows: list[Row]) -> dict[str, str]:
    """For each set the rows that are not in doubt, and how many of them are right."""
    found = {}
    for row in rows:
        points = [point for point in row["points"] if point["confidence"] >= SURE]
        number = sum(point["rows"] for point in points)
        right = round(sum(point["rows"] * point["right"] for point in points))
        found[NAMES[row["set"]]] = f"{right} of {number} ({right / number:.0%})"
    return found


def draw(results: Path, path: Path = FIGURE) -> None:
    """The reliability plot."""
    from studies.fill.reliability import draw as draw_points

    draw_points(read(results / "reliability.json"), NAMES, path)


def _kinds(row: Row) -> str:
    kinds = sorted(row["kinds"].items(), key=lambda item: -item[1][1])
    return markdown(["kind", "solved", "of"], [[kind, *counts] for kind, counts in kinds])


def _beside(rows: list[Row]) -> str:
    """Aloex and exform; the tests of all lines are one family."""
    head = ["tasks", "examples", "of", "Aloex", "exform", "both"]
    head += ["only Aloex", "only exform", "ratio", "p"]
    keys = ("tasks", "ours", "theirs", "both", "only_ours", "only_theirs")
    adjusted = holm([row["p"] for row in rows])
    lines = []
    for row, p in zip(rows, adjusted, strict=True):
        ratio = "–" if row["ratio"] is None else f"{row['ratio']:.2f}"
        counts = [row[key] for key in keys]
        lines.append([NAMES[row["set"]], row["examples"], *counts, ratio, f"{p:.1g}"])
    return markdown(head, sorted(lines, key=lambda line: line[:2]))
