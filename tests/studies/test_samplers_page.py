"""The page on samplers: what its tables and sentences make of rows."""

import pytest

from aloex.base.errors import InputError
from studies.samplers import page
from studies.samplers.methods import METHODS

SOURCE = {"command": "python -m studies.samplers sampling", "machine": "m", "device": "cpu"}


def row(method, seed, num_draws, seconds, modes, **more):
    about = {"problem": "ising-8x8-0.8", "method": method, "seed": seed, "num_draws": num_draws}
    numbers = {"marginals": 0.02, "log_z": 0.01, "effective": None, "first": seed == 0}
    return {**SOURCE, **about, **numbers, "seconds": seconds, "modes": modes, **more}


def rows_of(method, at, **more):
    """Three seeds at each number of draws; the first compiles for 5 s."""
    return [
        row(method, seed, n, seconds + 5 * (seed == 0), 0.1 * (seed + 1), **more)
        for seed in range(3)
        for n, seconds in at.items()
    ]


ROWS = [
    *rows_of("gibbs", {100: 1.0, 1000: 2.0}, log_z=None),
    *rows_of("smc", {100: 1.0, 1000: 10.0}, effective=500.0),
    *rows_of("learned-start", {100: 20.0, 1000: 20.9}, effective=900.0),
]


def test_a_cell_has_the_seeds_and_compiling_apart():
    found = page.cells(ROWS, 1000)
    gibbs = found["ising-8x8-0.8", "gibbs"]
    assert (gibbs.seconds, gibbs.compiling, gibbs.num_seeds) == (2.0, 5.0, 3)
    assert gibbs.log_z is None
    assert page.rms(gibbs.modes) == pytest.approx((0.14 / 3) ** 0.5)


def test_failed_rows_and_other_numbers_of_draws_are_left_out():
    failed = {**ROWS[0], "num_draws": 1000, "failed": "no room"}
    assert page.cells([failed, row("gwg", 0, 100, 1.0, 0.1)], 1000) == {}


def test_break_even_is_where_both_take_as_long():
    """20 s of training and 1 ms a draw of which 0.9 count, against 10 s for 500 that count."""
    found = page.cells(ROWS, 1000)
    number = page.break_even(found, ROWS, "ising-8x8-0.8")
    at = found["ising-8x8-0.8", "learned-start"]
    each = 0.9 / 900
    assert number == pytest.approx((at.seconds - each * 1000) / (10 / 500 - each / 0.9))
    assert 19.8 < number * (10 / 500 - each / 0.9) < 20
    dear = [
        {**r, "seconds": 100 * r["seconds"]} if r["method"] == "learned-start" else r for r in ROWS
    ]
    slow = [
        {**r, "seconds": r["num_draws"] * 1.0} if r["method"] == "learned-start" else r
        for r in dear
    ]
    assert page.break_even(page.cells(slow, 1000), slow, "ising-8x8-0.8") is None


def test_the_smallest_error_is_bold():
    rows = [*ROWS, *rows_of("dmala", {1000: 1.0}, log_z=None)]
    better = [{**r, "modes": r["modes"] / 2} if r["method"] == "dmala" else r for r in rows]
    table = page.matrix(page.cells(better, 1000), "modes")
    assert "| dmala | **0.108** |" in table
    assert table.count("**") == 2
    assert "gibbs" not in page.matrix(page.cells(better, 1000), "log_z")


def family_row(method, prepared, seconds, modes):
    about = {"family": "ising", "method": method, "seed": 0, "log_z": 0.01, "marginals": 0.02}
    return {**SOURCE, **about, "modes": modes, "prepared": prepared, "seconds": seconds}


def test_learning_pays_against_the_cheapest_that_is_as_exact():
    rows = [
        family_row("learned", 100.0, 0.5, 0.02),
        family_row("smc-256x20", 0.0, 0.1, 0.05),
        family_row("smc-1024x50", 0.0, 2.5, 0.02),
        family_row("smc-4096x200", 0.0, 9.0, 0.01),
    ]
    assert page.pays_from(rows, "ising", "learned") == (50.0, "smc-1024x50")
    cheap = [*rows, family_row("tempering-8x200", 0.0, 0.4, 0.02)]
    assert page.pays_from(cheap, "ising", "learned") == (None, "tempering-8x200")
    assert page.pays_from(rows[:2], "ising", "learned") == (None, "")
    lines = page.families_table(rows, "ising").splitlines()
    assert [line.split(" | ")[0] for line in lines[2:]] == [
        "| smc-4096x200", "| learned", "| smc-1024x50", "| smc-256x20",
    ]  # fmt: skip


def test_rows_of_different_machines_are_not_mixed():
    rows = [{"device": d, "settings": s} for d, s in (("cpu", "a"), ("gpu", "a"), ("cpu", "a"))]
    assert page.of_one_kind(rows) == [rows[0], rows[2]]


def test_every_method_has_a_style():
    assert {page.group(name) for name in METHODS} == set(page.STYLES)


def test_the_page_has_a_section_for_each_study():
    settings = {"settings": "a"}
    families = [family_row("learned", 100.0, 0.5, 0.02), family_row("smc-1024x50", 0.0, 2.5, 0.02)]
    text = page.render([{**r, **settings} for r in ROWS], families, 1000)
    assert "| learned-start | 20.9 + 5 |" in text
    assert "the learned start takes less time than SMC from 1,054 effective draws" in text
    assert "**ising, learned:** pays from 50 values of `z` on, against `smc-1024x50`" in text


def test_without_rows_the_command_says_so(tmp_path):
    with pytest.raises(InputError, match=r"there are no results in .*sampling\.json"):
        page.write(tmp_path, tmp_path / "samplers.md")


def test_the_figure_has_a_panel_for_each_problem():
    drawing = page.figure(page.cells(ROWS, 1000))
    assert [axis.get_title() for axis in drawing.axes] == ["ising-8x8-0.8"]
    assert len(drawing.legends[0].get_texts()) == 3
