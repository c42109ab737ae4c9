"""The outputs of a campaign: numbers, a page with charts, a small corpus, lists of bugs.

report.html   the page             report.json   the numbers        curve.json   coverage
minimised/    a covering corpus    bugs.json, bugs.sarif, bugs.junit.xml    see `formats.py`

All but the small corpus are written as the campaign goes.
"""

import json
import sys
import time
from pathlib import Path
from typing import Any

from aloex.apps.fuzz.bugs import Baseline, Bug
from aloex.apps.fuzz.campaign import (
    BugCount,
    Campaign,
    Pace,
    Status,
    Wins,
    minimise_corpus,
    notes_of,
    read_input,
    status_of,
    write_inputs,
    writing_to,
)
from aloex.apps.fuzz.report import formats
from aloex.apps.fuzz.report.page import page
from aloex.apps.fuzz.report.sources import coverage_by_source
from aloex.base.errors import CheckpointError
from aloex.base.files import write_file
from aloex.base.provenance import provenance
from aloex.base.signals import StopSignals
from aloex.base.words import count

MAX_SHRINKING = 30.0  # seconds that it may take to make failing inputs smaller
MAX_WAIT = 5.0  # for that, and for running the corpus again, if somebody has asked us to stop


def write_report(
    campaign: Campaign, is_final: bool = True, *, baseline: Baseline | None = None
) -> dict[str, Any]:
    """Write the outputs into the campaign's folder. Returns the numbers.

    Args:
        campaign: the campaign.
        is_final: whether it is over; if not, the page loads itself again, and neither the corpus
            nor failing inputs are minimised.
        baseline: the bugs that are known.
    """
    out, record = campaign.out, campaign.record
    if is_final:
        seconds = MAX_SHRINKING if campaign.signal is None else MAX_WAIT
        if campaign.bugs.num_to_minimise:
            print(f"making failing inputs smaller, for up to {seconds:.0f} s", file=sys.stderr)
        campaign.bugs.minimise(max_total=seconds, workers=campaign.executor.num_workers)
    bugs = campaign.bugs.all(max_seconds=float("inf") if is_final else MAX_WAIT)
    numbers = summarise(campaign, bugs)
    if is_final:
        with writing_to(out):
            numbers["minimised"] = write_minimised(campaign, numbers["notes"])
    with writing_to(out):
        write_bugs(out, bugs, numbers, baseline)
        write_json(out / "curve.json", [point._asdict() for point in record.curve])
        write_json(out / "report.json", numbers)
        write_file(out / "report.html", page(record, numbers, is_final=is_final))
    return numbers


def write_bugs(
    out: Path, bugs: list[Bug], numbers: dict[str, Any], baseline: Baseline | None
) -> None:
    """Write the lists of bugs for other programs."""
    target, counts = numbers["target"], {name: numbers[name] for name in ("inputs", "edges")}
    as_sarif = formats.sarif(
        bugs, target, crashes=out / "crashes", baseline=baseline, properties=counts
    )
    as_junit = formats.junit(bugs, target, seconds=numbers["seconds"], num_inputs=numbers["inputs"])
    write_json(out / "bugs.json", formats.bugs_json(bugs, target, baseline=baseline))
    write_json(out / "bugs.sarif", as_sarif)
    write_file(out / "bugs.junit.xml", as_junit)


def write_json(path: Path, value: Any) -> None:
    """Write a value as readable JSON."""
    write_file(path, json.dumps(value, indent=1) + "\n")


def summarise(campaign: Campaign, bugs: list[Bug]) -> dict[str, Any]:
    """The numbers of a campaign: what the screen shows, and more."""
    record, library = campaign.record, campaign.target.library
    names = formats.unique_names(bugs)
    counts = [BugCount(names[bug.place], bug.inputs) for bug in bugs]
    sources = coverage_by_source(library, campaign.engine.seen)
    status = status_of(campaign, Wins(), counts)
    return {
        "target": status.target,
        "source": campaign.target.source,
        "inputs": status.inputs,
        "seeds": status.seeds,
        "seconds": round(status.seconds, 2),
        "workers": status.num_workers,
        "executions_per_second": round(status.per_second, 1),
        "executions_per_second_and_worker": round(status.per_worker, 1),
        "cut_short": record.num_cut,
        "edges": status.edges,
        "edges_of_seeds": record.edges_after(0),
        "edges_gained": status.edges - record.edges_after(0),
        "edges_of_target": status.edges_of_target,
        "features": record.now.features,
        "seconds_since_find": round(status.since_find, 2),
        "corpus": status.corpus,
        "minimised": None,
        "failing_inputs": sum(count.inputs for count in counts),
        "bugs": [about(bug, names[bug.place]) for bug in bugs],
        **paying(status),
        "sources": [source._asdict() for source in sources.files],
        "notes": [x for x in (*notes_of(campaign), sources.note, *campaign.bugs.notes) if x],
        "settings": campaign.settings,
        **provenance(),
    }


def about(bug: Bug, name: str) -> dict[str, Any]:
    """The numbers of a bug; its file is relative to the campaign's folder."""
    top = bug.top[0] if bug.top else None
    return {
        "id": bug.id,
        "name": name,
        "kind": bug.kind,
        "function": top.function if top else "",
        "place": top.where if top else "",
        "inputs": bug.inputs,
        "file": f"crashes/{bug.minimised or bug.smallest}",
        "is_minimised": bool(bug.minimised),
        "reproduce": bug.reproduce,
        "stack": [str(frame) for frame in bug.frames],
        "report": bug.report,
    }


def paying(status: Status) -> dict[str, Any]:
    """What pays: the operators, and numbers of them on one mutant."""
    rounded = lambda arms: [{**arm._asdict(), "share": round(arm.share, 4)} for arm in arms]
    return {"operators": rounded(status.operators), "operators_at_once": rounded(status.stacks)}


def write_minimised(campaign: Campaign, notes: list[str]) -> int | None:
    """Write a small corpus, unless somebody waits for us. Returns how many inputs it has."""
    record, names = campaign.record, [found["input"] for found in campaign.record.found]
    if campaign.num_seeds_left:
        why = f"there was no time for {count(campaign.num_seeds_left, 'seed')}"
    elif not names or record.num_seeds_run > record.num_seeds:  # nobody is to forget them for it
        why = "no seed could be used"
    else:
        try:
            inputs = {name: read_input(campaign.out / "corpus" / name) for name in names}
            kept = chosen(campaign, inputs)
            if kept is not None:
                write_inputs(campaign.out / "minimised", {name: inputs[name] for name in kept})
                return len(kept)
            why = f"it was stopped while {count(len(names), 'input')} of the corpus ran again"
        except CheckpointError as error:
            why = str(error)
    notes.append(f"minimised/ is left out: {why}; corpus/ has all that was found")
    return None


def chosen(campaign: Campaign, inputs: dict[str, bytes]) -> list[str] | None:
    """The names of a small corpus; None if we are to stop."""
    pace, stop = Pace(), time.monotonic() + MAX_WAIT
    with StopSignals() as signals:

        def may_go_on(num_run: int) -> bool:
            if pace.is_due():
                of_all = f"{num_run:,} of {count(len(inputs), 'input')}"
                print(f"running the corpus again, for minimised/: {of_all}", file=sys.stderr)
            is_late = campaign.signal is not None and time.monotonic() > stop
            return not signals.received and not is_late

        return minimise_corpus(campaign.executor, inputs, may_go_on=may_go_on)
