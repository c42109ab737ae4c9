"""The outputs of a campaign: numbers, a small corpus, lists of bugs, a page with pictures.

report.html   the page             report.json   the numbers        curve.json   coverage
minimised/    a covering corpus    bugs.sarif    bugs.junit.xml
"""

import html
import json
from pathlib import Path
from typing import Any

from markupsafe import Markup

from aloex.apps.fuzz.campaign import minimise
from aloex.apps.fuzz.campaign.campaign import Campaign, read_input, writing_to
from aloex.apps.fuzz.campaign.record import Record
from aloex.apps.fuzz.campaign.status import speed
from aloex.apps.fuzz.report import charts, formats
from aloex.base.files import write_file
from aloex.base.html import html_page
from aloex.base.provenance import provenance

CSS = "code { font-size: .85em; overflow-wrap: anywhere; }\n"
BODY = """\
<h1>Fuzzing {target}</h1>
<p>{summary}</p>
<h2>Coverage</h2>
{coverage}
<p>An edge is a place in the control flow of the target; libFuzzer's <i>cov</i> counts the same. The
dashed line is what the seeds cover. A curve that still rises on the right, where the scale of the
inputs is logarithmic, has more to find.</p>
<h2>What failed</h2>
{bugs}
<h2>What found something new</h2>
{found}
<p>{reading}</p>
<h2>Settings</h2>
<table>{settings}</table>
<p>{command}</p>
"""


def write(campaign: Campaign) -> dict[str, Any]:
    """Write all of them into the campaign's folder; returns the numbers."""
    out, record = campaign.out, campaign.record
    names = [found["input"] for found in record.found]
    inputs = {name: read_input(out / "corpus" / name) for name in names}
    kept = minimise.minimise(campaign.executor, inputs)
    numbers = summarise(campaign, len(kept))
    with writing_to(out):
        minimise.write_all(out / "minimised", {name: inputs[name] for name in kept})
        curve = [point._asdict() for point in [*record.curve, record.now]]
        write_json(out / "curve.json", curve)
        write_json(out / "report.json", numbers)
        write_json(out / "bugs.sarif", formats.sarif(record, campaign.target.name))
        write_file(out / "bugs.junit.xml", formats.junit(record, campaign.target.name))
        write_file(out / "report.html", page(record, numbers))
    return numbers


def write_json(path: Path, value: Any) -> None:
    """One value, readable."""
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
    gained = numbers["edges"] - numbers["edges_of_seeds"]
    summary = (
        f"{numbers['inputs']:,} mutants of {numbers['seeds']} seeds in "
        f"{record.seconds:,.1f} seconds, {numbers['inputs_per_second']:,.0f} per second. They "
        f"cover <b>{numbers['edges']:,}</b> of {numbers['edges_of_target']:,} edges, "
        f"{gained:,} more than the seeds; {numbers['minimised']} inputs cover "
        f"them all (minimised/). <b>{len(record.bugs)}</b> ways to fail were found."
    )
    body = BODY.format(
        target=html.escape(numbers["target"]),
        summary=summary,
        coverage=charts.coverage_chart(record),
        bugs=bug_table(record),
        found=charts.found_chart(record),
        reading="On the left, how many edits the mutants with new coverage had. On the right, "
        "where in the input their edits were; a mutant counts as one, shared between its edits. "
        "Each of them is in journal.jsonl, with its parent.",
        settings="".join(
            f"<tr><td>{html.escape(key)}</td><td>{html.escape(str(value))}</td></tr>"
            for key, value in {"source": numbers["source"], **numbers["settings"]}.items()
        ),
        command=f"Made by <code>{html.escape(numbers['command'])}</code>",
    )
    return html_page(f"Fuzzing {numbers['target']}", Markup(body), CSS)


def bug_table(record: Record) -> str:
    """The bugs, those with most inputs first."""
    if not record.bugs:
        return "<p>Nothing: all inputs ended well.</p>"
    head = "<tr><th>bug</th><th class=n>inputs</th><th>how to see it</th></tr>"
    row = "<tr><td><code>{}</code></td><td class=n>{:,}</td><td><code>{}</code></td></tr>"
    rows = [
        row.format(html.escape(bug), count, html.escape(record.crashes[bug]["reproduce"]))
        for bug, count in record.bugs.most_common()
    ]
    return f"<table>{head}{''.join(rows)}</table>"
