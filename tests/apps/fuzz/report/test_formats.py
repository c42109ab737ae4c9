"""Bugs as lists for other programs, and which of them are new."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree

import jsonschema
import pytest

from aloex.apps.fuzz.bugs import Baseline, Bug, Bugs, Frame, fail_reason
from aloex.apps.fuzz.execute import Executor
from aloex.apps.fuzz.report import formats
from aloex.base.errors import InputError
from sarif_schema import sarif_schema

SOURCE = Path("/src/of <lib>/parse é.c")
INPUTS = [b"w1", b"w1 again", b"w2", b"g1", b"g2", b"a1", b"ss", b"m1", b"xx"]


def bug(kind: str, *top: Frame, number: int = 0, **fields: Any) -> Bug:
    """A bug, with what does not matter filled in."""
    name = f"{kind}-{number:016x}"
    values: dict[str, Any] = {
        "place": f"{kind} {number} {top}",
        "has_lines": True,
        "frames": (*top, Frame("LLVMFuzzerTestOneInput", str(SOURCE), 99, 90)),
        "inputs": 3,
        "kept": (name, f"{kind}-other"),
        "smallest": f"{kind}-other",
        "minimised": "",
        "reproduce": f"/bin/asan '/it is/{name}'",
    }
    return Bug(kind=kind, top=top, **{**values, **fields})


def at(line: int, function: str = "parse", start: int = 10) -> Frame:
    return Frame(function, str(SOURCE), line, start)


BUGS = [
    bug("heap-buffer-overflow", at(12), at(40, "main"), number=1, report="==1==ERROR: ASan"),
    bug("heap-buffer-overflow", at(15), at(40, "main"), number=2, minimised="x.min"),
    bug("hang", at(20), number=3, has_lines=False),
    bug("SEGV", Frame("f", offset="library.so+0x12"), number=4),
    bug("exit", number=5, frames=()),
]


def check_sarif(log: dict[str, Any]) -> dict[str, Any]:
    """Check a log against the schema. Returns its only run."""
    jsonschema.Draft7Validator(sarif_schema()).validate(log)
    (run,) = log["runs"]
    return run


def sarif(bugs: Sequence[Bug], **how: Any) -> dict[str, Any]:
    return formats.sarif(bugs, "x", crashes=Path("/out/crashes"), **how)


def test_the_schema_finds_mistakes():
    for damage in ({"version": "2.0.0"}, {"runs": [{}]}, {"runs": None}):
        with pytest.raises(jsonschema.ValidationError):
            check_sarif({**sarif(BUGS), **damage})
    broken = sarif(BUGS)
    location = broken["runs"][0]["results"][0]["locations"][0]
    location["physicalLocation"]["region"]["startLine"] = 0
    with pytest.raises(jsonschema.ValidationError):
        check_sarif(broken)


def test_sarif_says_where_a_bug_is_and_how_to_reproduce_it():
    run = check_sarif(sarif(BUGS, root=Path("/src"), properties={"edges": 7}))
    assert run["tool"]["driver"]["name"] == "aloex"
    assert run["properties"] == {"target": "x", "edges": 7}
    assert run["originalUriBaseIds"] == {
        "%SRCROOT%": {"uri": "file:///src/"},
        "CRASHES": {"uri": "file:///out/crashes/"},
    }
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert rules == ["SEGV", "exit", "hang", "heap-buffer-overflow"]
    for found, result in zip(BUGS, run["results"], strict=True):
        assert result["ruleId"] == found.kind
        assert result["level"] == ("warning" if found.kind in ("hang", "exit") else "error")
        assert result["partialFingerprints"] == {"bug/v1": found.id}
        assert result["occurrenceCount"] == 3
        assert found.reproduce in result["message"]["text"]
        assert found.reproduce == result["properties"]["reproduce"]
        frames = [x["location"] for x in result.get("stacks", [{"frames": []}])[0]["frames"]]
        names = [frame["logicalLocations"][0]["fullyQualifiedName"] for frame in frames]
        assert names == [frame.function for frame in found.frames]
        assert "baselineState" not in result
    where = [result["locations"][0]["physicalLocation"] for result in run["results"]]
    assert [x.get("region") for x in where] == [
        {"startLine": 12}, {"startLine": 15}, {"startLine": 20}, None, None,
    ]  # fmt: skip
    for location in where[:3]:
        artifact = location["artifactLocation"]
        assert artifact["uriBaseId"] == "%SRCROOT%"
        assert unquote(artifact["uri"]) == "of <lib>/parse é.c" != artifact["uri"]
    assert where[3]["artifactLocation"] == {"uri": "SEGV-other", "uriBaseId": "CRASHES"}
    files = [x["artifactLocation"]["uri"] for x in run["results"][1]["attachments"]]
    assert files == [BUGS[1].first, BUGS[1].smallest, "x.min"]


def test_sources_outside_the_root_are_absolute_and_the_root_is_the_checkout(tmp_path, monkeypatch):
    run = check_sarif(sarif(BUGS[:1], root=tmp_path))
    artifact = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert artifact == {"uri": "file:///src/of%20%3Clib%3E/parse%20%C3%A9.c"}
    (tmp_path / "checkout/.git").mkdir(parents=True)
    (tmp_path / "checkout/deep/er").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "checkout/deep/er")
    assert formats.source_root() == tmp_path / "checkout"


def test_junit_gives_files_as_sarif_does(tmp_path):
    for root, file in ((Path("/src"), "of <lib>/parse é.c"), (tmp_path, str(SOURCE))):
        listed = formats.junit(BUGS[:1], "x", seconds=1.0, num_inputs=5, root=root)
        assert ElementTree.fromstring(listed)[0][0].get("file") == file


def test_one_input_is_no_inputs():
    one = [replace(BUGS[0], inputs=1), BUGS[1]]
    suite = ElementTree.fromstring(formats.junit(one, "x", seconds=1.0, num_inputs=5))[0]
    messages = [case[0].get("message") for case in suite]
    assert messages == [
        f"1 input, the smallest: crashes/{BUGS[0].smallest}",
        "3 inputs, the smallest: crashes/x.min",
    ]
    suite = ElementTree.fromstring(formats.junit([], "x", seconds=1.0, num_inputs=1))[0]
    assert suite[0].get("name") == "1 input ends well"


def test_no_bugs_at_all():
    assert check_sarif(sarif([]))["results"] == []
    assert formats.bugs_json([], "x")["bugs"] == []
    suite = ElementTree.fromstring(formats.junit([], "x", seconds=1.0, num_inputs=5))[0]
    assert (suite.get("tests"), suite.get("failures"), len(suite)) == ("1", "0", 1)
    assert suite[0].get("name") == "5 inputs end well"


def test_junit_has_a_failing_test_for_each_bug():
    odd = bug("SEGV", Frame("<\x01&>", "a\x02.c", 3), number=9, reproduce="a & b\x00", report="]]>")
    suites = ElementTree.fromstring(formats.junit([*BUGS, odd], "x", seconds=1.5, num_inputs=5))
    suite = suites[0]
    assert suite.get("tests") == suite.get("failures") == "6" and suite.get("time") == "1.500"
    for found, case in zip(BUGS, suite, strict=False):
        assert (case.get("name") or "").startswith(found.name)
        assert found.reproduce in (case[0].text or "")
        assert case[0].get("type") == found.kind
    assert (suite[0].get("line"), suite[3].get("line")) == ("12", None)
    assert suite[5].get("name") == "SEGV in <?&> (a?.c:3)"
    assert "a & b?" in (suite[5][0].text or "") and "]]>" in (suite[5][0].text or "")


def test_bugs_that_differ_in_their_callers_have_different_names():
    entry = at(90, "main")
    near = [bug("SEGV", at(12), at(line, "read"), entry, number=line) for line in (40, 41)]
    far = [bug("FPE", at(12), at(40, "read"), at(line, "main"), number=line) for line in (90, 91)]
    names = formats.unique_names([*near, *far, BUGS[3]])
    assert list(names.values()) == [
        "SEGV in parse (parse é.c:12), called in read (parse é.c:40)",
        "SEGV in parse (parse é.c:12), called in read (parse é.c:41)",
        "FPE in parse (parse é.c:12), called in read (parse é.c:40), called in main (parse é.c:90)",
        "FPE in parse (parse é.c:12), called in read (parse é.c:40), called in main (parse é.c:91)",
        "SEGV in f (library.so+0x12)",
    ]


def test_the_keys_of_the_summary_stay():
    summary = formats.bugs_json(BUGS, "x")
    assert list(summary) == ["version", "tool", "target", "bugs"]
    assert summary["version"] == 1
    assert list(summary["bugs"][0]) == [
        *("id", "name", "kind", "function", "file", "line", "place", "stack", "inputs", "kept"),
        *("first", "smallest", "minimised", "reproduce", "report", "is_new"),
    ]
    found = summary["bugs"][0]
    assert (found["function"], found["file"], found["line"]) == ("parse", str(SOURCE), 12)
    assert found["is_new"] is None
    documented = formats.__doc__ or ""
    assert all(key in documented for key in (*summary, *found))


# ---- what is new


@pytest.fixture(params=["json", "sarif"])
def baseline_of(request, tmp_path):
    """Writes bugs as an earlier run does, and reads them as a baseline."""

    def write(bugs: Sequence[Bug]) -> Baseline:
        content = formats.bugs_json(bugs, "x") if request.param == "json" else sarif(bugs)
        path = tmp_path / f"bugs.{request.param}"
        path.write_text(json.dumps(content))
        return Baseline.load(path)

    return write


def test_known_bugs_are_not_new(baseline_of):
    baseline = baseline_of(BUGS)
    assert baseline.new(BUGS) == []
    assert baseline.new(BUGS[::-1]) == []
    assert baseline_of([]).new(BUGS) == BUGS
    other = bug("heap-use-after-free", at(12), at(40, "main"))
    assert baseline.new([*BUGS, other]) == [other]


def test_a_known_bug_may_move_and_a_second_in_its_function_is_new(baseline_of):
    one, two, *_ = BUGS
    moved = [
        replace(x, top=tuple(replace(f, line=f.line + 100, start=f.start + 100) for f in x.top))
        for x in (one, two)
    ]
    baseline = baseline_of([one, two])
    assert baseline.new(moved) == []
    for line in (111, 118):  # the others are nearer, within the function
        third = bug("heap-buffer-overflow", at(line, start=110), at(140, "main", 110), number=7)
        assert baseline.new([third, *moved]) == [third]
    assert baseline_of([one]).new([third, *moved]) == [third, moved[1]]
    renamed = bug("heap-buffer-overflow", at(12, "parse_all"), at(40, "main"))
    assert baseline.new([renamed]) == [renamed]
    offset = replace(BUGS[3], top=(Frame("f", offset="library.so+0x13"),))
    assert baseline_of(BUGS).new([offset]) == [offset]


def test_what_was_the_same_to_the_line_stays_known(baseline_of):
    """A new fault above a known one must not take its place."""
    known = bug("SEGV", at(20))
    above = bug("SEGV", at(19), number=2)
    assert baseline_of([known]).new([above, known]) == [above]


def test_both_formats_say_which_bugs_are_new(baseline_of):
    baseline = baseline_of(BUGS[:2])
    is_new = [False, False, True, True, True]
    summary = formats.bugs_json(BUGS, "x", baseline=baseline)
    assert [found["is_new"] for found in summary["bugs"]] == is_new
    run = check_sarif(sarif(BUGS, baseline=baseline))
    states = [result["baselineState"] for result in run["results"]]
    assert states == ["new" if new else "unchanged" for new in is_new]


def test_why_a_run_fails(baseline_of):
    baseline = baseline_of(BUGS[1:])
    assert fail_reason(BUGS, None) is None
    assert fail_reason([], "bug") is None
    assert fail_reason(BUGS[1:], "new-bug", baseline) is None
    assert fail_reason(BUGS, "new-bug", baseline) == f"1 new bug: {BUGS[0].name}"
    named = "; ".join(bug.name for bug in BUGS[:3])
    assert fail_reason(BUGS, "bug") == f"5 bugs: {named}; ..."
    assert fail_reason(BUGS[:3], "bug", baseline) == f"3 bugs: {named}"
    with pytest.raises(InputError, match="add --baseline FILE"):
        fail_reason(BUGS, "new-bug")
    with pytest.raises(InputError, match="must be bug or new-bug, got 'any'"):
        fail_reason([], "any")


@pytest.mark.parametrize(
    "content",
    [
        "[]", "7", "{}", '{"bugs": 3}', '{"bugs": [{"kind": "a"}]}',
        '{"runs": [{"results": [{}]}]}', '{"bugs": [{"kind": "b", "place": [{"nothing": 1}]}]}',
    ],
)  # fmt: skip
def test_a_baseline_that_is_none_is_told(content, tmp_path):
    (tmp_path / "old.json").write_text(content)
    with pytest.raises(InputError, match=r"old\.json has no bugs as aloex fuzz writes them") as e:
        Baseline.load(tmp_path / "old.json")
    assert "\n" not in str(e.value)


def test_a_baseline_that_is_missing_or_cut_short_is_told(tmp_path):
    with pytest.raises(InputError, match=r"cannot read the baseline .*none\.json: No such file"):
        Baseline.load(tmp_path / "none.json")
    (tmp_path / "cut.json").write_bytes(json.dumps(formats.bugs_json(BUGS, "x")).encode()[:-9])
    with pytest.raises(InputError, match=r"cut\.json is damaged, it is no JSON"):
        Baseline.load(tmp_path / "cut.json")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="is damaged"):
        Baseline.load(tmp_path / "binary")


# ---- the whole way


def test_bugs_of_a_target(faults, tmp_path):
    """Found, listed, and known the next time; the files that the lists name are there."""
    limits = {"timeout": 0.5, "memory_mb": 512}
    target = replace(faults, sanitized=None)
    with Executor(target, workers=2, **limits) as executor:
        failures = executor.run(INPUTS).failures
    with Bugs(tmp_path / "crashes", target, **limits) as bugs:
        for failure in failures:
            bugs.add(INPUTS[failure.index], failure)
        found = bugs.all()
    root = Path(__file__).parents[3]
    run = check_sarif(formats.sarif(found, "faults", crashes=tmp_path / "crashes", root=root))
    assert len(run["results"]) == len(found) == 8
    source = (root / "targets/faults.c").read_text().splitlines()
    lines: dict[str, list[str]] = {}
    for result in run["results"]:
        location = result["locations"][0]["physicalLocation"]
        assert location["artifactLocation"]["uri"] == "targets/faults.c"
        text = source[location["region"]["startLine"] - 1].strip()
        lines.setdefault(result["ruleId"], []).append(text)
        for attached in result["attachments"]:
            assert (tmp_path / "crashes" / attached["artifactLocation"]["uri"]).is_file()
    assert lines["SEGV"] == [
        "if (which == '1') *nowhere = 1;", "if (which == '2') *nowhere = 2;",
        "return p[i];", "return p[i];",
    ]  # fmt: skip
    assert lines["abort"] == ["if (!ok) abort();"]
    assert lines["oom"] == ["if (which == '1') last = malloc((size_t)1 << 40);"]
    (tmp_path / "bugs.json").write_text(json.dumps(formats.bugs_json(found, "faults")))
    baseline = Baseline.load(tmp_path / "bugs.json")
    assert fail_reason(found, "new-bug", baseline) is None
    assert fail_reason(found, "bug") is not None
