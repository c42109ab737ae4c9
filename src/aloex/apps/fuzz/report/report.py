"""The outputs of a campaign: numbers, a small corpus, lists of bugs, and a page with charts.

report.html   the page             report.json   the numbers        curve.json   coverage
minimised/    a covering corpus    bugs.sarif    bugs.junit.xml
"""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from aloex.apps.fuzz.campaign import (
    Campaign,
    Record,
    minimise_corpus,
    read_input,
    speed,
    write_inputs,
    writing_to,
)
from aloex.apps.fuzz.campaign.record import CurvePoint
from aloex.apps.fuzz.report import charts, formats
from aloex.base.files import write_file
from aloex.base.html import html_page, render
from aloex.base.provenance import provenance

TEMPLATE = Path(__file__).with_name("report.html.j2")
CSS = "code { font-size: .85em; overflow-wrap: anywhere; }\n"
NUM_BINS = 60


def write_report(campaign: Campaign) -> dict[str, Any]:
    """Write all outputs into the campaign's folder. Returns the numbers."""
    out, record = campaign.out, campaign.record
    names = [found["input"] for found in record.found]
    inputs = {name: read_input(out / "corpus" / name) for name in names}
    kept = minimise_corpus(campaign.executor, inputs)
    numbers = summarise(campaign, len(kept))
    with writing_to(out):
        write_inputs(out / "minimised", {name: inputs[name] for name in kept})
        write_json(out / "curve.json", [point._asdict() for point in curve_of(record)])
        write_json(out / "report.json", numbers)
        write_json(out / "bugs.sarif", formats.sarif(record, campaign.target.name))
        write_file(out / "bugs.junit.xml", formats.junit(record, campaign.target.name))
        write_file(out / "report.html", page(record, numbers))
    return numbers


def write_json(path: Path, value: Any) -> None:
    """Write a value as readable JSON."""
    write_file(path, json.dumps(value, indent=1) + "\n")


def summarise(campaign: Campaign, num_minimised: int) -> dict[str, Any]:
    """The numbers of a campaign."""
    record, executor = campaign.record, campaign.executor
    return {
        "target": campaign.target.name,
        "source": campaign.target.source,
        "inputs": record.num_run,
        "seeds": record.num_seeds,
        "seconds": round(record.seconds, 2),
        "inputs_per_second": round(speed(record), 1),
        "edges": record.now.edges,
        "edges_of_seeds": record.edges_after(0),
        "edges_gained": record.now.edges - record.edges_after(0),
        "edges_of_target": len(executor.seen),
        "features": record.now.features,
        "corpus": len(record.found),
        "minimised": num_minimised,
        "failing_inputs": sum(record.bugs.values()),
        "bugs": [
            {"bug": bug, "inputs": record.bugs[bug], "first": crash}
            for bug, crash in record.crashes.items()
        ],
        "settings": campaign.settings,
        **provenance(),
    }


def page(record: Record, numbers: dict[str, Any]) -> str:
    """The page as one file."""
    points, of_seeds = curve_of(record), record.edges_after(0)
    body = render(
        TEMPLATE.read_text(),
        numbers=numbers,
        bugs=sorted(numbers["bugs"], key=lambda bug: -bug["inputs"]),
        settings={"source": numbers["source"], **numbers["settings"]},
        over_inputs=charts.curve_chart(
            "edges over inputs",
            "inputs",
            [(point.inputs, point.edges) for point in points],
            dashed=of_seeds,
            is_log=True,
        ),
        over_time=charts.curve_chart(
            "edges over time",
            "seconds",
            [(point.seconds, point.edges) for point in points],
            dashed=of_seeds,
        ),
        num_edits=charts.bar_chart("mutants by number of edits", "edits", edit_counts(record)),
        positions=charts.bar_chart(
            "mutants by the position of their edits", "offset in the input", edit_positions(record)
        ),
    )
    return html_page(f"Fuzzing {numbers['target']}", body, CSS + charts.CSS)


def curve_of(record: Record) -> list[CurvePoint]:
    """The coverage after the seeds, after each finding, and now."""
    return [*record.curve, record.now]


def edit_counts(record: Record) -> list[tuple[str, int | float]]:
    """How many mutants with new coverage have each number of edits."""
    counts = Counter(len(found["edits"]) for found in record.found if found["number"] >= 0)
    return [(str(num_edits), count) for num_edits, count in sorted(counts.items())]


def edit_positions(record: Record) -> list[tuple[str, int | float]]:
    """A histogram of the offsets of edits; each mutant counts as one, which its edits share."""
    mutants = [found["edits"] for found in record.found if found["number"] >= 0]
    positions = [position for edits in mutants for position, _ in edits]
    weights = [1 / len(edits) for edits in mutants for _ in edits]
    num_bins = min(NUM_BINS, max(positions, default=0) + 1)
    heights, borders = np.histogram(
        positions, bins=num_bins, range=(0, max(positions, default=0) + 1), weights=weights
    )
    labels = [f"{border:,.0f}" for border in borders[:-1]]
    return list(zip(labels, heights.tolist(), strict=True))
