"""The charts of a campaign's page: marks where the numbers say, and round ticks."""

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aloex.apps.fuzz.campaign.record import Record
from aloex.apps.fuzz.report import charts


def found(number, new_edges, edits):
    return {
        "number": number,
        "input": str(number),
        "from": None,
        "edits": edits,
        "new_edges": new_edges,
        "features": [],
    }


@pytest.fixture
def record():
    """Seeds with 100 edges, and two mutants that add 10 and 40 after 10 and 1,000 inputs."""
    record = Record(num_seeds=1)
    seeds = [found(-1, 100, [])]
    record.add({"stop": 0, "seconds": 1.0, "found": seeds, "failed": []})
    mutants = [found(9, 10, [[0, 1]]), found(999, 40, [[0, 1], [59, 1]])]
    record.add({"stop": 10_000, "seconds": 2.0, "found": mutants, "failed": []})
    return record


def test_the_curve_rises_where_the_edges_are_found(record):
    [left, _] = ElementTree.fromstring(charts.coverage_chart(record))
    curve = left[1].get("d")
    numbers = [float(number) for number in re.findall(r"[\d.]+", curve)]
    xs, ys = numbers[::2], numbers[1::2]
    width = charts.WIDTH - charts.LEFT - charts.RIGHT
    shares = [(x - charts.LEFT) / width for x in xs]
    assert shares == pytest.approx([0, 0.25, 0.75, 1], abs=1e-3)  # 1, 10, 1,000 and 10,000 inputs
    rises = [(ys[0] - y) / (ys[0] - ys[-1]) for y in ys]
    assert rises == pytest.approx([0, 0.2, 1, 1], abs=1e-3)  # 100, 110, 150 and 150 edges
    assert float(re.search(r"M[\d.]+ ([\d.]+)", left[0].get("d"))[1]) == ys[0]  # the dashes


def test_a_mutant_counts_as_one_shared_between_its_edits(record):
    mutants = [one["edits"] for one in record.found if one["number"] >= 0]
    heights, width = charts.offset_histogram(mutants)
    assert width == 1.0  # 60 bins for the offsets 0 to 59
    assert heights == [1.5, *[0.0] * 58, 0.5]


def test_bars_stand_on_the_axis_with_their_heights(record):
    [left, right] = ElementTree.fromstring(charts.found_chart(record))
    heights = [float(bar.get("height")) for bar in left.findall("rect")]
    assert heights[0] == heights[1] > 0  # a mutant with one edit, a mutant with two
    assert [text.text for text in left.findall("text")][3:5] == ["1", "2"]
    heights = [float(bar.get("height")) for bar in right.findall("rect")]
    assert heights[0] == pytest.approx(3 * heights[-1], abs=0.2) and sum(heights[1:-1]) == 0


@pytest.mark.parametrize("num_run", [0, 1, 5])
def test_an_empty_campaign_has_charts(num_run):
    record = Record(num_seeds=0)
    record.add({"stop": num_run, "seconds": 0.0, "found": [], "failed": []})
    for chart in (charts.coverage_chart(record), charts.found_chart(record)):
        assert len(ElementTree.fromstring(chart)) == 2


@given(st.floats(0, 1e9), st.floats(1e-3, 1e9))
def test_ticks_are_few_and_inside(low, length):
    ticks = [value for value, _ in charts.round_ticks(low, low + length)]
    assert len(ticks) <= 7
    assert all(low - 1e-6 * length <= tick <= low + length * (1 + 1e-6) for tick in ticks)
    if low == 0:
        assert len(ticks) >= 3 and ticks[0] == 0
