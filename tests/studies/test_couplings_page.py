"""The page on couplings says what is in its rows."""

from functools import cache
from statistics import mean

import pytest

from fuzz_targets import ROOT
from studies import results
from studies.samplers.__main__ import app
from studies.samplers.couplings import page, problem
from studies.samplers.couplings.page import EASY, ODD, PUBLISHED, STRONG
from studies.samplers.couplings.study import KEYS

ROWS, PAGE = ROOT / "results/samplers/couplings.json", ROOT / "docs/samplers_couplings.md"


@cache
def score(method, l1, lattice):
    return mean(page.scores(results.read(ROWS))[method, l1][lattice])


def made(method, score, seed=0, l1="chosen", **more):
    """A row."""
    where = {"side": 10, "sigma": 0.1, "machine": "m", "device": "cpu"}
    row = {"method": method, "score": score, "seed": seed, "l1": l1, "steps": 2000, "seconds": 1.0}
    return where | row | more


def test_the_page_is_written_from_the_committed_rows(tmp_path):
    out = tmp_path / "p.md"
    app(["couplings-page", "--rows", str(ROWS), "--out", str(out)], standalone_mode=False)
    assert out.read_text() == PAGE.read_text()
    assert len(out.read_text().splitlines()) < 120


def test_rows_are_of_the_same_samples():
    """Each once, and each method beside what knows nothing and what knows the neighbours."""
    rows = results.read(ROWS)
    keys = [tuple(row[key] for key in KEYS) for row in rows]
    assert len(set(keys)) == len(keys)
    samples = {(row["side"], row["sigma"], row["seed"]) for row in rows}
    for method in ("zero", "known-pairs", "pseudo-likelihood", "refit", "pcd-gibbs"):
        of_method = {tuple(r[k] for k in KEYS[1:4]) for r in rows if r["method"] == method}
        assert of_method == samples
    assert all(row["converged"] for row in rows if row["method"] == "refit")


def test_the_published_number_is_that_of_a_penalty():
    """Pseudo-likelihood and PCD alike."""
    published = PUBLISHED["published: PCD, Gibbs or Gibbs with gradients"][EASY]
    for method in ("pseudo-likelihood", "pcd-gibbs"):
        assert score(method, "0.01", EASY) == pytest.approx(published, abs=0.1)
        assert score(method, "chosen", EASY) > score(method, "0.01", EASY) + 0.4


def test_choosing_pairs_is_worth_more_than_a_sampler():
    found = page.scores(results.read(ROWS))
    for lattice in (EASY, STRONG, ODD):
        others = [
            mean(of_line[lattice])
            for (method, _), of_line in found.items()
            if lattice in of_line and method not in ("refit", "known-pairs")
        ]
        assert score("refit", "chosen", lattice) > max(others) + 0.3
        known = score("known-pairs", "0", lattice)
        assert score("refit", "chosen", lattice) == pytest.approx(known, abs=0.1)
    for lattice, value in PUBLISHED["published: EB-GFN"].items():
        assert score("known-pairs", "0", lattice) == pytest.approx(value, abs=0.3)


def test_at_small_couplings_the_kernel_hardly_matters():
    of = lambda name: score(f"pcd-{name}", "chosen", EASY)
    assert abs(of("dmala") - of("gibbs")) < 0.1 and abs(of("gwg") - of("gibbs")) < 0.1
    assert page.times(results.read(ROWS))["pcd-gwg", "chosen"] > 5


def test_aloe_is_behind_chains_that_go_on():
    of = lambda method, lattice: score(method, "chosen", lattice)
    assert of("aloe", STRONG) < of("pcd-gibbs", STRONG) - 0.2
    assert of("aloe-persistent", STRONG) > of("aloe", STRONG) + 0.2
    assert abs(of("aloe", STRONG) - of("aloe-start", STRONG)) < 0.1
    assert abs(of("aloe", EASY) - of("aloe-start", EASY)) < 0.05
    assert of("aloe", EASY) > of("pcd-gibbs", EASY)
    assert score("aloe", "0.01", EASY) < score("pcd-gibbs", "0.01", EASY)


def test_a_score_that_the_page_states():
    zero = problem.score(0 * problem.adjacency(10), 10, 0.5)
    assert f"J = 0 scores {zero:.2f}" in " ".join(PAGE.read_text().split())


def test_cells_of_the_table():
    rows = [made("pcd-gibbs", 5.0), made("pcd-gibbs", 5.2, seed=1), made("aloe", 5.4, seconds=3.0)]
    rows += [made("zero", 3.9, l1="0", steps=0, sigma=-0.1), made("aloe", 1.0, l1="0.01")]
    assert page.table(rows).splitlines() == [
        "|  | penalty | 10 x 10, -0.1 | 10 x 10, 0.1 | time |",
        "| --- | --- | --- | --- | --- |",
        "| J = 0 |  | 3.90 | – |  |",
        "| PCD, Gibbs | chosen | – | 5.10 ± 0.14 | 1.0 |",
        "| ALOE | 0.01 | – | 1.00 |  |",
        "| ALOE | chosen | – | 5.40 | 3.0 |",
        "| published: PCD, Gibbs or Gibbs with gradients |  | – | 4.8 |  |",
        "| published: EB-GFN |  | – | 6.1 |  |",
    ]
    assert [*page.one_seed(page.scores(rows))] == ["J = 0", "ALOE"]


def test_times_are_of_the_same_machine_and_samples():
    rows = [made("pcd-gibbs", 1, seconds=2.0), made("pcd-gibbs", 1, seed=1, seconds=4.0)]
    rows += [made("aloe", 1, seconds=6.0), made("aloe", 1, seed=1, seconds=4.0)]
    rows += [made("aloe", 1, seed=1, seconds=99.0, machine="another")]
    times = page.times(rows)
    assert times["aloe", "chosen"] == 2.0 and times["pcd-gibbs", "chosen"] == 1.0


def test_refitted_pairs_are_counted():
    rows = [made("refit", 6.0, pairs=200), made("refit", 6.0, seed=1, pairs=201)]
    assert page.right_pairs(rows) == "1 of 2"
