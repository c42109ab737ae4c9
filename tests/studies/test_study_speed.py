"""The speed page: its numbers are those of the rows, and what it says of them holds."""

from pathlib import Path

import numpy as np
import pytest

from studies.results import read
from studies.speed import page

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results/speed"
ROWS = read(RESULTS / "summary.json")


def test_the_page_in_the_docs_shows_the_committed_rows():
    assert (ROOT / "docs/speed.md").read_text() == page.render(RESULTS)


def test_what_the_page_says_of_a_cpu():
    """Hardly faster than the vectorised peer; short of 3 even against the authors' layout."""
    on_cpu = [row for row in ROWS if row["device"].startswith("cpu")]
    timed = [row for row in on_cpu if "vectorised_ratio" in row]
    assert {row["case"] for row in timed} == {page.FACTORIZED, page.MLP}
    assert all(1 < row["vectorised_ratio"] < 1.6 for row in timed)
    assert all(row["vectorised_ratio"] < row["ratio"] < 3 for row in on_cpu if row in timed)
    assert all(row["ratio"] < 3 for row in on_cpu)


def test_what_the_page_says_of_a_gpu():
    """Ten times and more, whichever peer; seven problems at once are worth it."""
    rows = page.on(ROWS, cpu=False)
    ratios = [
        row[name] for row in rows.values() for name in ("ratio", "vectorised_ratio") if name in row
    ]
    assert min(ratios) > 10
    assert rows[page.SEVEN]["ours_ms"] < 7 * rows[page.MLP]["ours_ms"]


def test_mean_lengths_of_the_inverse_proposal():
    """Geometric with 1/2, cut at max_edits: 0.84 at 4 and 1 at 32, as the page says."""
    at = lambda most: np.average(np.arange(most + 1), weights=0.5 ** np.arange(most + 1))
    assert (round(at(4), 2), round(at(32), 2)) == (0.84, 1.0)
    assert "grows from 0.84 at 4 to\n1 at 32" in page.render(RESULTS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['case']}, {row['device']}")
def test_ratios_are_those_of_the_times(row):
    for time, ratio in (("peer_ms", "ratio"), ("vectorised_ms", "vectorised_ratio")):
        if time in row:
            expected = row["num_problems"] * row[time] / row["ours_ms"]
            assert row[ratio] == pytest.approx(expected, rel=0.01)


def test_a_page_before_and_after_the_vectorised_peer_was_measured():
    row = lambda case, device, **more: {
        **{"case": case, "device": device, "num_problems": 1, "ours_ms": 2.0, "peer_ms": 40.0},
        **{"ratio": 20.0, **more},
    }
    cases = (page.FACTORIZED, page.MLP, page.SEVEN)
    before = [row(case, device) for case in cases for device in ("cpu, 2 threads", "GPU")]
    assert page._on_cpu(before) is None and page._on_gpu(before) is None
    assert page.seven(before) == "1.0" and "| GPU | 2.00 | 40.00 | 20.0 | – | – |" in (
        page._compare(before)
    )
    quick = {"vectorised_ms": 31.0, "vectorised_ratio": 15.5}
    after = before[:1] + [
        row(case, device, **quick) for case in cases for device in ("cpu, 1 thread", "GPU")
    ]
    assert page._on_cpu(after) == {"factorized": "15.5", "mlp": "15.5"}
    assert page._on_gpu(after) == {"least": "15"}
    assert "| GPU | 2.00 | 40.00 | 20.0 | 31.00 | 15.5 |" in page._compare(after)
