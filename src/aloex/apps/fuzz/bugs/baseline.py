"""Which bugs are new: not in the bugs.json or bugs.sarif of an earlier run.

Lines move when a file is edited, so a bug is known without its lines: by its kind, and by the
functions and files that tell it from others. Each known bug stands for one bug of now, so a second
fault in a function with a known one is new. Of several the nearest ones go together, by the lines
counted from the beginnings of their functions.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aloex.apps.fuzz.bugs.bug import Bug
from aloex.apps.fuzz.bugs.symbols import Frame
from aloex.base.errors import InputError, require
from aloex.base.words import count

FAIL_ON = ("bug", "new-bug")
NUM_NAMED = 3  # bugs in a message


@dataclass(frozen=True)
class KnownBug:
    """A bug of an earlier run."""

    kind: str
    top: tuple[Frame, ...]


@dataclass(frozen=True)
class Baseline:
    """The bugs of an earlier run."""

    bugs: tuple[KnownBug, ...]

    @classmethod
    def load(cls, path: Path) -> "Baseline":
        """Read a bugs.json or bugs.sarif."""
        try:
            content = json.loads(path.read_bytes())
        except OSError as error:
            raise InputError(
                f"cannot read the baseline {path}: {error.strerror}; give the bugs.json or "
                "bugs.sarif of an earlier run"
            ) from None
        except ValueError as error:
            raise InputError(f"the baseline {path} is damaged, it is no JSON: {error}") from None
        try:
            return cls(tuple(_of_sarif(content) if "runs" in content else _of_json(content)))
        except (KeyError, TypeError, ValueError, AttributeError):
            raise InputError(
                f"the baseline {path} has no bugs as aloex fuzz writes them; give the bugs.json or "
                "bugs.sarif of an earlier run"
            ) from None

    def new(self, bugs: Sequence[Bug]) -> list[Bug]:
        """The bugs that are not known."""
        pairs = [
            (_distance(known, bug), j, i)
            for j, known in enumerate(self.bugs)
            for i, bug in enumerate(bugs)
            if _may_be_same(known, bug)
        ]
        used: set[int] = set()
        found: set[int] = set()
        for _, j, i in sorted(pairs):
            if j not in used and i not in found:
                used.add(j)
                found.add(i)
        return [bug for i, bug in enumerate(bugs) if i not in found]


def fail_reason(
    bugs: Sequence[Bug], fail_on: str | None, baseline: Baseline | None = None
) -> str | None:
    """Why a run counts as failed, in a line; None if it does not.

    Args:
        bugs: that were found.
        fail_on: "bug", "new-bug", or None to count none as failed.
        baseline: the bugs that are known, for new-bug.
    """
    if fail_on is None:
        return None
    require(fail_on in FAIL_ON, f"--fail-on must be {' or '.join(FAIL_ON)}, got {fail_on!r}")
    if fail_on == "new-bug":
        if baseline is None:
            raise InputError(
                "--fail-on new-bug needs to know the old ones; add --baseline FILE with the "
                "bugs.json or bugs.sarif of an earlier run"
            )
        bugs = baseline.new(bugs)
    if not bugs:
        return None
    names = "; ".join(bug.name for bug in bugs[:NUM_NAMED])
    more = "; ..." if len(bugs) > NUM_NAMED else ""
    new = "new " if fail_on == "new-bug" else ""
    return f"{count(len(bugs), f'{new}bug')}: {names}{more}"


def _of_json(content: dict[str, Any]) -> list[KnownBug]:
    return [_known(bug["kind"], bug["place"]) for bug in content["bugs"]]


def _of_sarif(content: dict[str, Any]) -> list[KnownBug]:
    results = [result for run in content["runs"] for result in run["results"]]
    return [_known(result["ruleId"], result["properties"]["place"]) for result in results]


def _known(kind: str, place: list[dict[str, Any]]) -> KnownBug:
    return KnownBug(str(kind), tuple(Frame(**frame) for frame in place))


def _may_be_same(known: KnownBug, bug: Bug) -> bool:
    """Whether two bugs are the same but for their lines; offsets must be the same."""
    functions = lambda top: [(x.function, x.file_name, x.offset) for x in top]
    return known.kind == bug.kind and functions(known.top) == functions(bug.top)


def _distance(known: KnownBug, bug: Bug) -> int:
    """How far apart their lines are."""
    inside = lambda frame: frame.line - frame.start
    pairs = zip(known.top, bug.top, strict=True)
    return sum(abs(inside(a) - inside(b)) for a, b in pairs)
