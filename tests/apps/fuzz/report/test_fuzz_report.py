"""What a campaign leaves: a small corpus that covers all, lists of bugs, a page, line counts."""

import json
import re
import shutil
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from typer.testing import CliRunner

from aloex.apps.fuzz.campaign import Campaign
from aloex.apps.fuzz.campaign.minimise import cover
from aloex.apps.fuzz.campaign.record import Record
from aloex.apps.fuzz.campaign.status_line import StatusLine, clock
from aloex.apps.fuzz.execute import Executor
from aloex.apps.fuzz.mutate.mutators import ByteOfOtherSeed, Uniform
from aloex.apps.fuzz.report import charts, formats, report, write_line_coverage
from aloex.base.errors import InputError
from aloex.base.html import render
from aloex.cli.main import app

SEEDS = [b"--------", b"abcdefghijkl"]


def greedy(edges: list[set[int]], sizes: list[int]) -> list[int]:
    """Set cover, plainly."""
    chosen, covered = [], set()
    while covered != set().union(*edges):
        best = max(range(len(edges)), key=lambda i: (len(edges[i] - covered), -sizes[i], -i))
        chosen.append(best)
        covered |= edges[best]
    return chosen


def test_the_cover_is_the_greedy_one():
    rng = np.random.default_rng(0)
    for n in (0, 1, 5, 40, 40):
        edges = [rng.choice(50, size=rng.integers(0, 12)).astype(np.uint32) for _ in range(n)]
        sizes = rng.integers(1, 4, size=n).tolist()
        assert cover(edges, sizes, 50) == greedy([set(e.tolist()) for e in edges], sizes)


@pytest.fixture(scope="module")
def out(stairs, tmp_path_factory) -> Path:
    """A campaign with its outputs."""
    out = tmp_path_factory.mktemp("campaign")
    mutator = Uniform(edits=(1, 2, 4))
    with Campaign(stairs, mutator, SEEDS, out, settings={"mutator": "<uniform>"}) as campaign:
        campaign.run(num_inputs=3000)
        report.write_report(campaign)
        report.write_report(campaign)  # the outputs before are replaced
    return out


def read(path: Path):
    return json.loads(path.read_text())


def test_the_small_corpus_covers_what_the_large_one_covers(stairs, out):
    edges = []
    for folder in ("corpus", "minimised"):
        with Executor(stairs) as executor:
            executor.run([path.read_bytes() for path in (out / folder).iterdir()])
            edges.append(executor.seen > 0)
    assert np.array_equal(*edges)
    numbers = read(out / "report.json")
    assert numbers["edges"] == edges[0].sum()
    assert len(list((out / "minimised").iterdir())) == numbers["minimised"] < numbers["corpus"]


def test_the_numbers_and_the_curve_agree(out):
    numbers, curve = read(out / "report.json"), read(out / "curve.json")
    assert numbers["inputs"] == curve[-1]["inputs"] == 3000
    assert numbers["edges"] == curve[-1]["edges"] > numbers["edges_of_seeds"] == curve[0]["edges"]
    assert numbers["features"] == curve[-1]["features"]
    assert numbers["edges_gained"] == curve[-1]["edges"] - curve[0]["edges"] > 0
    page = (out / "report.html").read_text()
    assert f"\n{numbers['edges_gained']:,} more than the seeds" in page
    assert all(a[key] <= b[key] for a, b in pairwise(curve) for key in a)
    assert numbers["failing_inputs"] == sum(bug["inputs"] for bug in numbers["bugs"]) > 0


def test_bugs_for_other_programs(out):
    bugs = {bug["bug"]: bug for bug in read(out / "report.json")["bugs"]}
    log = read(out / "bugs.sarif")
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    assert run["tool"]["driver"]["name"] == "aloex"
    assert {r["partialFingerprints"]["bug/v1"] for r in run["results"]} == bugs.keys()
    for result in run["results"]:
        assert result["ruleId"] in {rule["id"] for rule in run["tool"]["driver"]["rules"]}
        bug = bugs[result["partialFingerprints"]["bug/v1"]]
        assert result["occurrenceCount"] == bug["inputs"]
        assert bug["first"]["reproduce"] in result["message"]["text"]
        uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        assert (out / uri).is_file()
        names = [
            f["location"]["logicalLocations"][0]["fullyQualifiedName"]
            for f in result["stacks"][0]["frames"]
        ]
        assert names == bug["first"]["stack"]
    suite = ElementTree.parse(out / "bugs.junit.xml").getroot()[0]
    assert suite.get("tests") == suite.get("failures") == str(len(bugs)) == "2"
    for case in suite:
        assert case.get("name") in bugs
        assert bugs[case.get("name")]["first"]["reproduce"] in (case[0].text or "")


def test_no_bugs_are_a_test_that_passes_and_odd_names_are_no_trouble():
    record = Record(num_seeds=1)
    suite = ElementTree.fromstring(formats.junit(record, "x"))[0]
    assert (suite.get("tests"), suite.get("failures"), len(suite)) == ("1", "0", 1)
    assert formats.sarif(record, "x")["runs"][0]["results"] == []
    odd = {"bug": "SEGV <\x00&>", "input": "i", "stack": ["<\x01"], "reproduce": "a & b"}
    row = {"number": 0, "site": "p", **odd}
    record.add({"stop": 1, "seconds": 1.0, "found": [], "failed": [row]})
    case = ElementTree.fromstring(formats.junit(record, "x"))[0][0]
    assert case.get("name") == "SEGV <?&>"
    html = render(report.TEMPLATE.read_text(), **values_of_page(record))
    assert "SEGV &lt;" in html and "a &amp; b" in html


def values_of_page(record: Record) -> dict:
    bugs = [{"bug": bug, "inputs": 1, "first": first} for bug, first in record.crashes.items()]
    names = ("target", "command", "inputs", "seeds", "seconds", "inputs_per_second", "edges")
    numbers = dict.fromkeys((*names, "edges_of_target", "edges_gained", "minimised"), 1)
    charts = dict.fromkeys(("over_inputs", "over_time", "num_edits", "positions"), "")
    return {"numbers": numbers | {"bugs": bugs}, "bugs": bugs, "settings": {}, **charts}


def test_each_mutant_counts_as_one_where_its_edits_are():
    """By hand: edits at 0 and 1 share a mutant, the edit at 1 has one of its own; no seeds."""
    record = Record(num_seeds=1)
    found = lambda number, *edits: {
        "number": number, "input": "i", "edits": edits, "new_edges": 1, "features": [8]
    }  # fmt: skip
    seed = {"number": -1, "input": "s", "new_edges": 1, "features": [0]}
    record.add({"stop": 0, "seconds": 1.0, "found": [seed], "failed": []})
    mutants = [found(0, (0, 7), (1, 7)), found(3, (1, 9)), found(4, (3, 1), (3, 2), (3, 3), (0, 1))]
    record.add({"stop": 9, "seconds": 2.0, "found": mutants, "failed": []})
    assert report.edit_positions(record) == [("0", 0.75), ("1", 1.5), ("2", 0.0), ("3", 0.75)]
    assert report.edit_counts(record) == [("1", 1), ("2", 1), ("4", 1)]
    assert report.edit_positions(Record(num_seeds=1)) == [("0", 0.0)]


def test_charts():
    """A curve goes right, then up; values are mapped to pixels; labels are escaped."""
    scale = charts.Scale(0, 100, 400, 0)
    assert [scale(value) for value in (0, 25, 100)] == [400, 300, 0]
    assert charts.tick_values(scale) == [0, 20, 40, 60, 80, 100]
    log = charts.Scale(1, 1000, 0, 300, is_log=True)
    assert [log(value) for value in (0, 1, 10, 1000)] == [0, 0, 100, 300]
    assert charts.tick_values(log) == [1, 10, 100, 1000]
    svg = charts.curve_chart("a < b", "x", [(0, 1), (5, 2), (10, 4)], dashed=1)
    ElementTree.fromstring(svg)
    points = re.findall(r'class="curve" points="([^"]+)"', svg)[0].split()
    x, y = zip(*(map(float, point.split(",")) for point in points), strict=True)
    assert len(points) == 5 and x[0] < x[1] == x[2] < x[3] == x[4]
    assert y[0] == y[1] > y[2] == y[3] > y[4]
    bars = charts.bar_chart("bars", "x", [("one", 1.0), ("two", 2.0)])
    heights = [float(h) for h in re.findall(r'height="([\d.]+)"/>', bars)]
    assert heights[1] == 2 * heights[0] > 0
    for empty in (charts.bar_chart("", "", []), charts.curve_chart("", "", [], dashed=0)):
        ElementTree.fromstring(empty)


def test_the_page_stands_alone(out):
    page = (out / "report.html").read_text()
    assert not re.search(r"https?://|<script|<link", page)
    assert page.count("<svg") == page.count("</svg>") == 4 and "src=" not in page
    assert "&lt;uniform&gt;" in page  # what was given is escaped
    for bug in read(out / "report.json")["bugs"]:
        assert bug["bug"] in page


def test_the_status_line():
    record = Record(num_seeds=1)
    record.add({"stop": 0, "seconds": 1.0, "found": [], "failed": []})
    status = StatusLine(3000, None)
    status(record)
    record.add({"stop": 2000, "seconds": 5.0, "found": [], "failed": []})
    line = "2,000 inputs · 500/s · 0 edges · 0 bugs (0 inputs) · 0:05 · 0:02 left"
    assert status.line(record) == line
    assert clock(3723.0) == "1:02:03"


def test_lines_that_inputs_reach(tiny, tmp_path):
    for name, data in {"empty": b"", "found": b"nAL", "crash": b"s"}.items():
        (tmp_path / name).write_bytes(data)
    files = [tmp_path / "empty", tmp_path / "crash"]
    few = write_line_coverage(tiny, files, tmp_path / "few")
    many = write_line_coverage(tiny, [*files, tmp_path / "found"], tmp_path / "many")
    assert 0 < few["lines"][0] < many["lines"][0] < many["lines"][1]
    assert few["lines"][1] == many["lines"][1]
    assert (tmp_path / "many" / "index.html").is_file()
    with pytest.raises(InputError, match="all 1 inputs make tiny fail"):
        write_line_coverage(tiny, [tmp_path / "crash"], tmp_path / "none")
    with pytest.raises(InputError, match="aloex fuzz build tiny --coverage"):
        write_line_coverage(replace(tiny, coverage=None), files, tmp_path / "none")


def test_the_command(stairs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "seeds").mkdir()
    library = str(stairs.library)

    def call(*words: str):
        return CliRunner().invoke(app, ["fuzz", "run", library, *words])

    seeds = ("--seeds", "seeds")
    (tmp_path / "seeds/a").write_bytes(SEEDS[0])
    for words, error in (
        ((), "library has no seeds; name a folder of inputs: --seeds FOLDER"),
        ((*seeds, "--edits", "1,x"), "--edits must be numbers such as 10 or 1,3,10, got '1,x'"),
        (
            (*seeds, "--edits", "0"),
            "whole numbers from 1, or fractions below 1, got (0.0,)",
        ),
        ((*seeds, "--edits", "1.5"), "edits must be whole numbers from 1"),
        ((*seeds, "--inputs", "-1"), "--inputs must not be negative, got -1"),
        ((*seeds, "--batch", "0"), "a batch must have at least one mutant, got 0"),
        ((*seeds, "--keep", "50", "--inputs", "9"), "none of the 1 seeds is"),
    ):
        assert error in str(call(*words).exception)
    for words, choices in ((("--mutator", "worst"), "'resample'"), (("--repair", "zip"), "'png'")):
        refused = call(*seeds, *words)
        assert refused.exit_code == 2 and choices in refused.output
    shutil.rmtree(tmp_path / "runs")
    done = call(*seeds, "--mutator", "other-seed", "--inputs", "1000", "--edits", "2", "--no-grow")
    assert done.exit_code == 0
    assert "inputs: 1000 mutants of 1 seeds" in done.stdout
    out = tmp_path / "runs/library-other-seed"
    assert read(out / "report.json")["settings"]["grow"] is False
    once = tmp_path / "once"
    with Campaign(
        replace(stairs, name="library"),
        ByteOfOtherSeed(edits=(2,)),
        SEEDS[:1],
        once,
        settings={"any": "other"},
        grow=False,
    ) as campaign:
        campaign.run(num_inputs=1000)
    names = lambda folder: sorted(path.name for path in (folder / "corpus").iterdir())
    assert names(out) == names(once)
    ended = call(*seeds, "--mutator", "other-seed", "--seconds", "0", "--edits", "2", "--no-grow")
    assert "inputs: 1000 mutants" in ended.stdout  # there were more seconds than 0
