"""Bugs in the formats of other programs: SARIF 2.1.0 for code scanning, JUnit XML for tests."""

import re
from typing import Any
from xml.etree import ElementTree as xml

from aloex import __version__
from aloex.apps.fuzz.campaign import Record

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
NOT_IN_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd]")  # what XML 1.0 does not allow


def sarif(record: Record, target: str) -> dict[str, Any]:
    """A result per bug; its location is the input, its stack the functions of the target."""
    kinds = sorted({kind_of(crash) for crash in record.crashes.values()})
    rules = [{"id": kind, "shortDescription": {"text": f"ends in {kind}"}} for kind in kinds]
    results = [result(bug, crash, record.bugs[bug]) for bug, crash in record.crashes.items()]
    driver = {"name": "aloex", "version": __version__, "rules": rules}
    properties = {"target": target, "inputs": record.num_run, "edges": record.now.edges}
    run = {"tool": {"driver": driver}, "results": results, "properties": properties}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def result(bug: str, crash: dict[str, Any], count: int) -> dict[str, Any]:
    """The SARIF result of one bug."""
    functions = [[{"fullyQualifiedName": name, "kind": "function"}] for name in crash["stack"]]
    location: dict[str, Any] = {
        "physicalLocation": {"artifactLocation": {"uri": f"crashes/{crash['input']}"}}
    }
    if functions:
        location["logicalLocations"] = functions[0]
    found = {
        "ruleId": kind_of(crash),
        "level": "error",
        "message": {"text": f"{bug}; reproduce: {crash['reproduce']}"},
        "locations": [location],
        "occurrenceCount": count,
        "partialFingerprints": {"bug/v1": bug},
    }
    if functions:
        frames = [{"location": {"logicalLocations": logical}} for logical in functions]
        found["stacks"] = [{"message": {"text": "innermost first"}, "frames": frames}]
    return found


def kind_of(crash: dict[str, Any]) -> str:
    """The kind of error, without the functions."""
    return crash["bug"].split()[0]


def junit(record: Record, target: str) -> bytes:
    """A failing test for each bug, or one test that passes."""
    seconds, num_bugs = f"{record.seconds:.3f}", len(record.crashes)
    counts = {"tests": str(max(num_bugs, 1)), "failures": str(num_bugs), "errors": "0"}
    name = f"aloex fuzz {target}"
    suites = xml.Element("testsuites", {"name": name, "time": seconds, **counts})
    suite = xml.SubElement(suites, "testsuite", {"name": name, "time": seconds, **counts})
    for bug, crash in record.crashes.items():
        case = xml.SubElement(suite, "testcase", {"classname": target, "name": clean(bug)})
        message = f"{record.bugs[bug]} inputs, the first: crashes/{crash['input']}"
        failure = xml.SubElement(case, "failure", {"type": kind_of(crash), "message": message})
        failure.text = clean("\n".join([crash["reproduce"], *crash["stack"]]))
    if num_bugs == 0:
        name = f"{record.num_run} inputs end well"
        xml.SubElement(suite, "testcase", {"classname": target, "name": name})
    xml.indent(suites)
    return xml.tostring(suites, encoding="utf-8", xml_declaration=True)


def clean(text: str) -> str:
    """Text that XML allows: names come from the target and may hold anything."""
    return NOT_IN_XML.sub("?", text)
