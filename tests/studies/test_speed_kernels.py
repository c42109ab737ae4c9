"""How kernels scale: what is measured, what is left out, and what the page says of it."""

import os
from pathlib import Path

import jax
import numpy as np
import pytest
from scipy.stats import linregress

from studies import results
from studies.speed import kernels, kernels_page
from studies.speed.__main__ import app
from studies.speed.cases import ALOE, ENERGIES, KERNELS, Case, program, sides
from studies.speed.growth import exponent

ROOT = Path(__file__).parents[2]
ROWS = results.read(ROOT / "results/speed/kernels.json")
CPU = kernels_page.Measured(ROWS, "cpu, 1 thread")
SMALL, LARGE = Case("RandomWalk", "plain", 4, 2, 1), Case("RandomWalk", "plain", 8, 2, 1)
OTHER = Case("Gibbs", "lattice", 4, 2, 1)


def test_exponents_are_slopes_of_least_squares():
    rng = np.random.default_rng(0)
    sizes = np.array([4, 16, 32, 256])
    values = 3 * sizes**1.5 * np.exp(rng.normal(size=4))
    found, expected = exponent(sizes, values), linregress(np.log(sizes), np.log(values))
    np.testing.assert_allclose(found[:2], [expected.slope, expected.stderr])
    assert found.last == pytest.approx(np.log(values[3] / values[2]) / np.log(8))
    assert str(exponent([1, 2, 4], [1, 4, 16])) == "2.00 ± 0.00"
    assert str(exponent([1, 2], [1, 4])) == "2.00"


@pytest.mark.parametrize("num_values", [2, 3])
@pytest.mark.parametrize("pair", kernels.pairs(), ids=" on ".join)
def test_every_step_can_be_built(pair, num_values):
    """A step returns a state like the one it got, and tells its evaluations of f."""
    made = program(Case(*pair, 32, num_values, 2))
    state, info = jax.eval_shape(made.step, made.given, made.state)
    shapes = lambda tree: jax.tree.map(lambda a: (a.shape, a.dtype), tree)
    assert shapes(state) == shapes(made.state)
    assert info.num_evaluations.shape == (2,)


def test_the_grids_are_about_square():
    assert [sides(dim) for dim in (4, 32, 1024)] == [(2, 2), (4, 8), (32, 32)]
    assert all(height * width == dim for dim in kernels.DIMS for height, width in [sides(dim)])


def test_cases_are_all_and_grow():
    cases = kernels.cases()
    assert len(set(cases)) == len(cases)
    assert {case.kernel for case in cases} == {*KERNELS, ALOE}
    assert {case.energy for case in cases} == set(ENERGIES)
    sizes = [case.dim * case.num_values * case.batch for case in cases]
    assert sizes == sorted(sizes)


def test_a_size_is_expected_to_take_what_smaller_ones_tell():
    at = lambda dim, **more: {**SMALL._replace(dim=dim)._asdict(), **more}
    rows = [at(2, seconds=1.0), at(4, seconds=4.0), {**at(4), "batch": 2, "seconds": 99.0}]
    expected = kernels.seconds_expected
    assert expected(LARGE, rows) == pytest.approx(16)  # as the square
    assert expected(LARGE, rows[:1]) == 4  # in proportion, for want of more
    assert expected(LARGE._replace(batch=3), rows) == 0
    assert expected(LARGE, [*rows, at(6, left_out="time")]) == float("inf")
    more_values = [{**at(8), "num_values": 2, "seconds": 5.0}]
    assert expected(LARGE._replace(num_values=4), more_values) == 10


@pytest.fixture
def cores():
    """The command keeps to one core; other tests are to have them all."""
    before = os.sched_getaffinity(0)
    yield
    os.sched_setaffinity(0, before)


@pytest.fixture
def few(monkeypatch):
    """Three cases, timed once."""
    monkeypatch.setattr(kernels, "cases", lambda: [SMALL, OTHER, LARGE])
    monkeypatch.setattr(kernels, "BLOCKS", 1)
    monkeypatch.setattr(kernels, "BLOCK_SECONDS", 0.0)


def test_the_command_goes_on_where_it_was_cut_short(few, cores, tmp_path, capsys):
    def call(*words):
        app(["kernels", "--out", str(tmp_path), *words], standalone_mode=False)
        path = tmp_path / "kernels.json"
        rows = results.read(path) if path.exists() else []
        return {kernels._case(row): row for row in rows}

    assert call("--within", "1e-9") == {}
    assert "3 to go" in capsys.readouterr().out
    first = call("--only", "RandomWalk")
    assert list(first) == [SMALL, LARGE]
    assert list(call("--only", "plain")) == [SMALL, LARGE]
    rows = call("--only", "Gibbs,lattice")
    assert rows == {**first, OTHER: rows[OTHER]}
    assert "3 rows of cpu, 1 thread" in capsys.readouterr().out
    for row in rows.values():
        assert row["seconds"] > 0 and row["compile_seconds"] > 0 and row["bytes"] > 0
    assert [rows[case]["evaluations"] for case in (SMALL, LARGE, OTHER)] == [1, 1, 4]


def test_what_would_take_too_long_is_left_out(few, cores, tmp_path):
    app(["kernels", "--out", str(tmp_path), "--max-seconds", "1e-9"], standalone_mode=False)
    rows = {kernels._case(row): row for row in results.read(tmp_path / "kernels.json")}
    assert "seconds" in rows[SMALL] and "seconds" in rows[OTHER]
    assert rows[LARGE]["left_out"] == "time" and "seconds" not in rows[LARGE]


def test_what_takes_too_much_memory_is_left_out(few, monkeypatch, tmp_path):
    monkeypatch.setattr(kernels, "_memory", lambda: 10)
    kernels.measure(tmp_path)
    rows = results.read(tmp_path / "kernels.json")
    assert [row["left_out"] for row in rows] == ["memory", "memory", "time"]
    assert rows[0]["bytes"] > 10


def test_the_rows_are_of_all_cases():
    """On the CPU; of another device perhaps not all have been made."""
    assert {kernels._case(row) for row in CPU.rows} == set(kernels.cases())
    assert {kernels._case(row) for row in ROWS} == set(kernels.cases())


@pytest.mark.parametrize("pair", kernels.pairs(), ids=" on ".join)
def test_demanded_exponents_are_those_of_evaluations(pair):
    """Of all evaluations of f, each of which grows with d unless it is an increment."""
    curve = CPU.curve(*pair, "dim", batch=1)
    found = exponent([row["dim"] for row in curve], [row["evaluations"] for row in curve])
    evaluations = round(found.value)
    assert kernels_page.demanded(*pair) == max(1, evaluations + (pair[1] != "mlp"))


def test_what_the_page_says_of_kernels():
    """Colours beat single sites, own differences a plain function, a short path a long one."""
    says = kernels_page.values(ROWS)["says"]
    assert says["device"] == "cpu, 1 thread"
    number = lambda name: float(says[name].replace(",", ""))
    assert number("sweep") > 10 and number("plain") > 10
    assert number("sorting") > 2 * number("sorting_16")


def test_times_of_a_cpu_are_told_as_ratios():
    smallest = CPU.find("RandomWalk", "lattice", batch=1)
    assert smallest["seconds"] / CPU.unit() == 1
    assert "| RandomWalk | lattice | 1 | 1 |" in kernels_page._costs(CPU)
    assert kernels_page.Measured(ROWS, "GPU").unit() == 1e-6
