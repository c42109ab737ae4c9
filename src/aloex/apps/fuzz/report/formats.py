"""Bugs as lists for other programs: SARIF 2.1.0 for code scanning, JUnit XML for tests, JSON.

`bugs_json` has the keys below, which stay as they are; others may be added.

    version   1
    tool      name, version
    target    its name
    bugs      a list; of each bug:
      id, name, kind      the id is the same in another run with the same lines
      function, file, line   where it is; an empty text and 0 if that is not known
      place               the frames that tell it from others: function, file, line, start, offset
      stack               all frames
      inputs              how many failed so
      kept                names of files in crashes/: the first found, then by size
      first, smallest, minimised   names among them; minimised ends in .min, or is empty
      reproduce           a command
      report              what the sanitizer wrote, or an empty text
      is_new              whether it is not in the baseline; null without one
"""

import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree as xml

from aloex import __version__
from aloex.apps.fuzz.bugs import Baseline, Bug, Frame
from aloex.base.words import count

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
ROOT, CRASHES = "%SRCROOT%", "CRASHES"  # folders that addresses of files are relative to
WARNINGS = ("hang", "oom", "exit")  # the other kinds are errors
NOT_IN_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd]")  # what XML 1.0 does not allow


def bugs_json(
    bugs: Sequence[Bug], target: str, *, baseline: Baseline | None = None
) -> dict[str, Any]:
    """All that is known of the bugs, under names that stay as they are."""
    names, new = unique_names(bugs), new_places(bugs, baseline)

    def described(bug: Bug) -> dict[str, Any]:
        top = bug.top[0] if bug.top else Frame("")
        return {
            **{"id": bug.id, "name": names[bug.place], "kind": bug.kind},
            **{"function": top.function, "file": top.file, "line": top.line},
            "place": [asdict(frame) for frame in bug.top],
            "stack": [asdict(frame) for frame in bug.frames],
            "inputs": bug.inputs,
            "kept": list(bug.kept),
            **{"first": bug.first, "smallest": bug.smallest, "minimised": bug.minimised},
            **{"reproduce": bug.reproduce, "report": bug.report},
            "is_new": None if new is None else bug.place in new,
        }

    tool = {"name": "aloex", "version": __version__}
    found = [described(bug) for bug in bugs]
    return {"version": 1, "tool": tool, "target": target, "bugs": found}


def sarif(
    bugs: Sequence[Bug],
    target: str,
    *,
    crashes: Path,
    root: Path | None = None,
    baseline: Baseline | None = None,
    properties: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """A result per bug, with the file and line of its place.

    Args:
        bugs: to list.
        target: its name.
        crashes: the folder of failing inputs.
        root: of the source tree; files in it are given relative to it. None: see `source_root`.
        baseline: the bugs of an earlier run.
        properties: of the run.
    """
    root = source_root() if root is None else root
    names, new = unique_names(bugs), new_places(bugs, baseline)
    results: list[dict[str, Any]] = []
    for bug in bugs:
        state = None if new is None else "new" if bug.place in new else "unchanged"
        results.append(result(bug, names[bug.place], root, state))
    kinds = sorted({bug.kind for bug in bugs})
    rules = [{"id": kind, "shortDescription": {"text": f"ends in {kind}"}} for kind in kinds]
    driver = {"name": "aloex", "semanticVersion": __version__, "rules": rules}
    bases = {ROOT: root, CRASHES: crashes}
    run = {
        "tool": {"driver": driver},
        "originalUriBaseIds": {name: {"uri": f"{uri_of(path)}/"} for name, path in bases.items()},
        "results": results,
        "properties": {"target": target, **(properties or {})},
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def result(bug: Bug, name: str, root: Path, state: str | None) -> dict[str, Any]:
    """The SARIF result of one bug."""
    input_at = lambda file: {"uri": quote(file), "uriBaseId": CRASHES}
    if bug.top and bug.top[0].line:
        location = location_of(bug.top[0], root)
    else:
        location = {"physicalLocation": {"artifactLocation": input_at(bug.smallest)}}
    inputs = {"the first input": bug.first, "the smallest input": bug.smallest}
    inputs |= {"the input made small": bug.minimised} if bug.minimised else {}
    found = {
        "ruleId": bug.kind,
        "level": "warning" if bug.kind in WARNINGS else "error",
        "message": {"text": f"{name}. To reproduce it: {bug.reproduce}"},
        "locations": [location],
        "occurrenceCount": bug.inputs,
        "partialFingerprints": {"bug/v1": bug.id},
        "attachments": [
            {"description": {"text": text}, "artifactLocation": input_at(file)}
            for text, file in inputs.items()
        ],
        "properties": {
            "place": [asdict(frame) for frame in bug.top],
            "reproduce": bug.reproduce,
            **({"report": bug.report} if bug.report else {}),
        },
    }
    if bug.frames:
        frames = [{"location": location_of(frame, root)} for frame in bug.frames]
        found["stacks"] = [{"message": {"text": "innermost first"}, "frames": frames}]
    return found if state is None else {**found, "baselineState": state}


def location_of(frame: Frame, root: Path) -> dict[str, Any]:
    """The SARIF location of a frame."""
    logical = {"fullyQualifiedName": frame.function, "kind": "function"}
    location: dict[str, Any] = {"logicalLocations": [logical]}
    if frame.line:
        path = below(root, frame.file)
        if path.is_absolute():
            artifact = {"uri": uri_of(path)}
        else:
            artifact = {"uri": quote(path.as_posix()), "uriBaseId": ROOT}
        region = {"startLine": frame.line}
        location["physicalLocation"] = {"artifactLocation": artifact, "region": region}
    return location


def below(root: Path, file: str) -> Path:
    """A file relative to the root; absolute if it is not below it."""
    path = Path(os.path.normpath(root / file))
    return path.relative_to(root) if path.is_relative_to(root) else path


def uri_of(path: Path) -> str:
    """The address of a file or folder."""
    return path.absolute().as_uri()


def source_root() -> Path:
    """The folder above the working folder that is a checkout; the working folder if none is."""
    here = Path.cwd()
    return next((path for path in (here, *here.parents) if (path / ".git").exists()), here)


def junit(
    bugs: Sequence[Bug], target: str, *, seconds: float, num_inputs: int, root: Path | None = None
) -> bytes:
    """A failing test for each bug, or one test that passes.

    Args:
        bugs: to list.
        target: its name.
        seconds, num_inputs: that the campaign took.
        root: as of `sarif`.
    """
    root = source_root() if root is None else root
    time, num_bugs = f"{seconds:.3f}", len(bugs)
    counts = {"tests": str(max(num_bugs, 1)), "failures": str(num_bugs), "errors": "0"}
    name = f"aloex fuzz {clean(target)}"
    suites = xml.Element("testsuites", {"name": name, "time": time, **counts})
    suite = xml.SubElement(suites, "testsuite", {"name": name, "time": time, **counts})
    names = unique_names(bugs)
    for bug in bugs:
        about = {"classname": clean(target), "name": clean(names[bug.place])}
        if bug.top and bug.top[0].line:
            file = below(root, bug.top[0].file).as_posix()
            about |= {"file": clean(file), "line": str(bug.top[0].line)}
        case = xml.SubElement(suite, "testcase", about)
        smallest = f"crashes/{bug.minimised or bug.smallest}"
        message = f"{count(bug.inputs, 'input')}, the smallest: {smallest}"
        failure = xml.SubElement(case, "failure", {"type": clean(bug.kind), "message": message})
        lines = [bug.reproduce, *map(str, bug.frames), bug.report]
        failure.text = clean("\n".join(line for line in lines if line))
    if not bugs:
        name = f"{count(num_inputs, 'input')} {'ends' if num_inputs == 1 else 'end'} well"
        xml.SubElement(suite, "testcase", {"classname": clean(target), "name": name})
    xml.indent(suites)
    return xml.tostring(suites, encoding="utf-8", xml_declaration=True)


def unique_names(bugs: Sequence[Bug]) -> dict[str, str]:
    """A name for each place. To those that are the same, callers are added until they differ."""
    names = {bug.place: bug.name for bug in bugs}
    for i in range(1, max((len(bug.top) for bug in bugs), default=0)):
        counts = Counter(names.values())
        for bug in bugs:
            if counts[names[bug.place]] > 1 and i < len(bug.top):
                names[bug.place] += f", called in {bug.top[i]}"
    return names


def new_places(bugs: Sequence[Bug], baseline: Baseline | None) -> set[str] | None:
    """The places of the new bugs; None if nothing tells."""
    return None if baseline is None else {bug.place for bug in baseline.new(bugs)}


def clean(text: str) -> str:
    """Text that XML allows: names come from the target and may hold anything."""
    return NOT_IN_XML.sub("?", text)
