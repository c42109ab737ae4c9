"""What the tests of campaigns share: small campaigns, and when two of them have ended the same."""

import json
from pathlib import Path
from typing import Any, NamedTuple

from aloex.apps.fuzz.campaign import Campaign
from aloex.apps.fuzz.target import Target

SEEDS = [b"--------", b"abcdefghijkl", b"short", b""]
NUM_INPUTS = 2600  # within an epoch


class End(NamedTuple):
    """How a campaign ended."""

    out: Path
    engine: bytes  # all that it knows
    bugs: list[tuple[str, str, int]]  # kind, function, inputs


def open_in(out: Path, target: Target, **changed: Any) -> Campaign:
    """A campaign in a folder."""
    options = {"seed": 1, "workers": 2, **changed}
    return Campaign(target, options.pop("seeds", SEEDS), out, **options)


def run_in(out: Path, target: Target, num_inputs: int = NUM_INPUTS, **changed: Any) -> End:
    """Run a campaign to its end."""
    with open_in(out, target, **changed) as campaign:
        assert campaign.run(num_inputs=num_inputs)
        return end_of(campaign)


def end_of(campaign: Campaign) -> End:
    """How it ended."""
    name = lambda bug: bug.top[0].function if bug.top else ""
    bugs = [(bug.kind, name(bug), bug.inputs) for bug in campaign.bugs.all()]
    return End(campaign.out, campaign.engine.pack(), bugs)


def told_in(out: Path) -> list[dict[str, Any]]:
    """The journal without times."""
    rows = [json.loads(line) for line in (out / "journal.jsonl").read_text().splitlines()]
    for row in rows:
        row.pop("seconds", None)
        row.pop("target_seconds", None)
    return rows


def files_in(folder: Path) -> dict[str, bytes]:
    """Contents by name."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def assert_same(end: End, reference: End) -> None:
    """Two campaigns have run the same mutants, found the same, and know the same.

    Which inputs of a bug are kept beside the first and the smallest may differ.
    """
    assert told_in(end.out) == told_in(reference.out)
    found, expected = files_in(end.out / "corpus"), files_in(reference.out / "corpus")
    assert sorted(found) == sorted(expected)
    assert found == expected
    assert sorted(end.bugs) == sorted(reference.bugs)
    assert end.engine == reference.engine
