"""What a campaign leaves: numbers, a page, a small corpus, line counts."""

import json
import os
import re
import signal
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from aloex import __version__
from aloex.apps.fuzz.campaign import Campaign, Wins, minimise, status_of
from aloex.apps.fuzz.campaign.minimise import cover
from aloex.apps.fuzz.campaign.progress import pace
from aloex.apps.fuzz.execute import Executor
from aloex.apps.fuzz.report import charts, report, write_line_coverage, write_report
from aloex.apps.fuzz.report.page import MAX_FILES, MAX_FRAMES, REFRESH, page, short
from aloex.base.errors import InputError
from aloex.base.words import count

SEEDS = [b"--------", b"abcdefghijkl"]
OUTPUTS = {"report.html", "report.json", "curve.json", "bugs.json", "bugs.sarif", "bugs.junit.xml"}


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
def campaign(stairs, tmp_path_factory):
    """A campaign that has written nothing yet."""
    target = replace(stairs, name="<stairs>", source="x & y")
    with Campaign(target, SEEDS, tmp_path_factory.mktemp("campaign"), workers=2) as campaign:
        campaign.run(num_inputs=3000)
        yield campaign


@pytest.fixture(scope="module")
def out(campaign) -> Path:
    """Its folder, with all outputs."""
    write_report(campaign)
    write_report(campaign)  # the outputs before are replaced
    return campaign.out


def read(path: Path):
    return json.loads(path.read_text())


# ---- numbers


def test_while_it_runs_the_report_costs_no_runs_of_the_target(campaign, monkeypatch):
    """All but the small corpus is there, and the page loads itself again."""
    for name in ("run", "lanes", "given"):
        monkeypatch.setattr(campaign.executor, name, None)
    monkeypatch.setattr(campaign.bugs, "minimise", None)
    numbers = write_report(campaign, False)
    assert {path.name for path in campaign.out.glob("*.*")} - {".lock"} >= OUTPUTS
    assert not (campaign.out / "minimised").exists() and numbers["minimised"] is None
    text = (campaign.out / "report.html").read_text()
    assert f'http-equiv="refresh" content="{REFRESH}"' in text and "running for" in text


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


def test_the_numbers_agree_with_the_curve_and_the_screen(campaign, out):
    numbers, curve = read(out / "report.json"), read(out / "curve.json")
    assert numbers["inputs"] == curve[-1]["inputs"] == 3000
    assert numbers["edges"] == curve[-1]["edges"] > numbers["edges_of_seeds"] == curve[0]["edges"]
    assert numbers["features"] == curve[-1]["features"]
    assert numbers["edges_gained"] == curve[-1]["edges"] - curve[0]["edges"] > 0
    assert all(a[key] <= b[key] for a, b in pairwise(curve) for key in a)
    status = status_of(campaign, Wins(), [])
    for name in ("seeds", "inputs", "corpus", "edges", "edges_of_target"):
        assert numbers[name] == getattr(status, name)
    assert numbers["executions_per_second"] == round(status.per_second, 1)
    wins = lambda arms: [(arm["name"], arm["wins"]) for arm in arms]
    assert wins(numbers["operators"]) == [(arm.name, arm.wins) for arm in status.operators]
    assert wins(numbers["operators_at_once"]) == [(arm.name, arm.wins) for arm in status.stacks]
    (source,) = numbers["sources"]
    edges = numbers["edges"], numbers["edges_of_target"]
    assert source["file"] == "stairs.c" and (source["covered"], source["edges"]) == edges


def test_bugs_are_those_of_the_lists_for_other_programs(out):
    numbers, listed = read(out / "report.json"), read(out / "bugs.json")["bugs"]
    assert [bug["kind"] for bug in listed] == [bug["kind"] for bug in numbers["bugs"]]
    assert {bug["kind"] for bug in listed} == {"abort", "SEGV"}
    assert numbers["failing_inputs"] == sum(bug["inputs"] for bug in listed) > 0
    for bug in numbers["bugs"]:
        assert (out / bug["file"]).is_file()
        assert bug["is_minimised"] == bug["file"].endswith(".min")
        assert re.fullmatch(r"stairs\.c:\d+", bug["place"]) and bug["stack"]
    (run,) = read(out / "bugs.sarif")["runs"]
    assert run["properties"]["inputs"] == 3000 and len(run["results"]) == 2
    suite = ElementTree.parse(out / "bugs.junit.xml").getroot()[0]
    assert suite.get("failures") == "2"


def stop_now(campaign, monkeypatch) -> None:
    """As if a signal had ended the campaign, and the time for what comes then had passed."""
    monkeypatch.setattr(campaign, "signal", 15)
    monkeypatch.setattr(report, "MAX_WAIT", -1.0)


def test_a_corpus_is_run_again_unless_somebody_waits(campaign, monkeypatch, capsys):
    """However long it takes: the next job begins with it."""
    monkeypatch.setattr(pace, "FIRST_LINE", 0.0)
    notes: list[str] = []
    num_kept = report.write_minimised(campaign, notes)
    assert num_kept and notes == []
    assert "running the corpus again, for minimised/: 0 of " in capsys.readouterr().err
    stop_now(campaign, monkeypatch)
    assert report.write_minimised(campaign, notes) is None
    (note,) = notes
    assert re.match(r"minimised/ is left out: it was stopped while \d+ inputs of the corpus", note)
    assert note.endswith("ran again; corpus/ has all that was found")


def test_an_interrupt_ends_the_running_again(campaign, monkeypatch):
    run = campaign.executor.run

    def interrupted(*args, **options):
        os.kill(os.getpid(), signal.SIGINT)
        return run(*args, **options)

    monkeypatch.setattr(campaign.executor, "run", interrupted)
    monkeypatch.setattr(minimise, "AT_ONCE", 1)
    notes: list[str] = []
    assert report.write_minimised(campaign, notes) is None
    assert "it was stopped while" in notes[0]


@pytest.mark.parametrize(
    ("seeds", "seconds", "why"),
    [
        ([b"%d" % i for i in range(100)], 1e-9, "there was no time for 68 seeds"),
        ([b"abc0000\xff", b"abc0001\xff"], 1e9, "no seed could be used"),
    ],
)
def test_seeds_that_cover_nothing_yet_are_not_forgotten(stairs, tmp_path, seeds, seconds, why):
    """What replaces a corpus by minimised/ keeps those that were not run, and those that failed."""
    with Campaign(stairs, seeds, tmp_path, workers=1) as campaign:
        campaign.run(num_inputs=100, max_seconds=seconds)
        notes = write_report(campaign)["notes"]
    assert f"minimised/ is left out: {why}; corpus/ has all that was found" in notes
    assert not (tmp_path / "minimised").exists()


def test_a_corpus_that_is_damaged_does_not_cost_the_report(campaign, out, monkeypatch):
    path = next((out / "corpus").iterdir())
    content = path.read_bytes()
    path.write_bytes(b"other")
    notes = write_report(campaign)["notes"]
    path.write_bytes(content)
    assert any("minimised/ is left out" in x and "not as it was written" in x for x in notes)
    assert write_report(campaign)["notes"] == []


# ---- the page


def test_the_page_stands_alone(out):
    text, numbers = (out / "report.html").read_text(), read(out / "report.json")
    assert not re.search(r"https?://|<script|<link|src=|@import|url\(", text)
    assert "refresh" not in text and 'name="viewport"' in text
    assert "prefers-color-scheme: dark" in text
    assert text.count("<svg") == text.count("</svg>") == 2
    assert "&lt;stairs&gt;" in text and "x &amp; y" in text and "<stairs>" not in text
    tags = ("table", "tr", "td", "th", "div", "dl", "details", "p", "h2")
    for tag in tags:
        assert len(re.findall(rf"<{tag}\b", text)) == text.count(f"</{tag}>") > 0, tag
    words = [f"{numbers['edges_gained']:,} more than the seeds", "stairs.c", __version__]
    words += [bug[key] for bug in numbers["bugs"] for key in ("name", "place", "file", "reproduce")]
    words += [arm["name"] for arm in numbers["operators"]]
    for word in words:
        assert word in text, word


def test_odd_names_and_an_empty_campaign_are_no_trouble(campaign, out):
    numbers = read(out / "report.json")
    bug = {**numbers["bugs"][0], "name": "SEGV <b>", "reproduce": "a & b", "report": "<i>\n"}
    bug["stack"] = [f"frame {i}." for i in range(MAX_FRAMES + 5)]
    sources = [{"file": f"f{i}.c", "covered": 0, "edges": 1} for i in range(MAX_FILES + 3)]
    text = page(campaign.record, {**numbers, "bugs": [bug], "sources": sources}, is_final=True)
    assert "SEGV &lt;b&gt;" in text and "a &amp; b" in text and "&lt;i&gt;" in text
    assert f"frame {MAX_FRAMES - 1}." in text and f"frame {MAX_FRAMES}." not in text
    assert "and 5 more" in text
    assert f"f{MAX_FILES - 1}.c" in text and f"f{MAX_FILES}.c" not in text
    assert "3 smaller files are in report.json" in text
    nothing = {
        "bugs": [],
        "sources": [],
        "operators": [],
        "operators_at_once": [],
        "notes": ["n <"],
    }
    text = page(campaign.record, {**numbers, **nothing}, is_final=True)
    assert "all inputs ended well" in text and "By source file" not in text and "n &lt;" in text


def test_words_of_the_page():
    assert (count(1, "seed"), count(2000, "seed")) == ("1 seed", "2,000 seeds")
    paths = {"a/b/c.c": "a/b/c.c", "/usr/include/x/y.h": ".../x/y.h", "/x/y.h": "/x/y.h"}
    assert {path: short(path) for path in paths} == paths


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
    ElementTree.fromstring(charts.curve_chart("", "", [], dashed=0))


def test_a_long_curve_has_a_point_for_each_pixel():
    points = [(i, i // 2) for i in range(10_000)]
    thin = charts.thinned(points, charts.Scale(0, 9999, 0, 100))
    assert len(thin) == 102 and thin[0] == points[0] and thin[-1] == points[-1]
    assert all(a[0] < b[0] for a, b in pairwise(thin))
    assert charts.thinned(points[:3], charts.Scale(0, 2, 0, 100)) == points[:3]


# ---- lines


def test_lines_that_inputs_reach(tiny, tmp_path):
    for name, data in {"empty": b"", "found": b"nAL", "crash": b"s"}.items():
        (tmp_path / name).write_bytes(data)
    files = [tmp_path / "empty", tmp_path / "crash"]
    few = write_line_coverage(tiny, files, tmp_path / "few")
    many = write_line_coverage(tiny, [*files, tmp_path / "found"], tmp_path / "many")
    assert 0 < few["lines"][0] < many["lines"][0] < many["lines"][1]
    assert few["lines"][1] == many["lines"][1]
    assert (tmp_path / "many" / "index.html").is_file()
    with pytest.raises(InputError, match=r"tiny fails on all inputs given \(1\)"):
        write_line_coverage(tiny, [tmp_path / "crash"], tmp_path / "none")
    with pytest.raises(InputError, match="--coverage"):
        write_line_coverage(replace(tiny, coverage=None), files, tmp_path / "none")
