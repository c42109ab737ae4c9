"""The studies of samplers: errors by algebra, a run of each kind of method, rows that are kept."""

from dataclasses import replace

import jax
import numpy as np
import pytest

from aloex.base.errors import InputError
from studies import results
from studies.samplers import conditions, sampling
from studies.samplers.errors import errors, shares
from studies.samplers.families import ising_family
from studies.samplers.methods import METHODS, Found, Settings, names
from studies.samplers.problems.lattices import ising

PROBLEM = replace(ising(2, 3, coupling=0.5), name="ising-2x3")
TINY = Settings(
    num_draws=(80, 160), num_chains=80, num_warmup=20, num_temperatures=10, num_replicas=3,
    num_steps=30, batch=32, hidden=8,
)  # fmt: skip


def test_all_states_with_their_weights_have_no_errors():
    x = np.asarray(PROBLEM.space.enumerate())
    f = np.asarray(jax.vmap(PROBLEM.f)(x), np.float64)
    value = float(np.logaddexp.reduce(f))
    found = errors(PROBLEM, Found(x, f, value, 0.1, seconds=2.0))
    np.testing.assert_allclose([found["marginals"], found["modes"], found["log_z"]], 0, atol=2e-6)
    assert (found["log_z_error"], found["seconds"], found["gap"]) == (0.1, 2.0, None)
    uniform = errors(PROBLEM, Found(x, None, None, None, seconds=1.0))
    off = 0.5 - PROBLEM.marginals  # all states alike
    np.testing.assert_allclose(uniform["marginals"], np.sqrt(np.mean(off**2)))
    assert uniform["effective"] is None


def test_shares_add_up_to_one():
    np.testing.assert_allclose(shares(np.log([1.0, 3.0]), 2), [0.25, 0.75])
    assert shares(None, 4).tolist() == [0.25] * 4


@pytest.mark.parametrize("method", ["tempering", "smc", "learned-start", "autoregressive"])
def test_a_method_has_what_it_found_after_each_number_of_draws(method, monkeypatch):
    monkeypatch.setattr(sampling, "problem", lambda name: PROBLEM)
    rows = list(sampling.job("ising-2x3", method, 0, TINY, first=True))
    assert [row["num_draws"] for row in rows] == [80, 160]
    assert all(0 < row["marginals"] < 0.3 for row in rows)
    has_weights = method != "tempering"
    assert all((row["log_z"] is not None) == has_weights for row in rows)
    if has_weights:
        assert abs(rows[1]["log_z"]) < 1
    if method != "smc":  # which begins anew
        assert rows[0]["seconds"] <= rows[1]["seconds"]


def test_a_method_that_fails_says_so(monkeypatch):
    def fails(key, problem, settings):
        raise InputError("no room")
        yield

    monkeypatch.setattr(sampling, "problem", lambda name: PROBLEM)
    monkeypatch.setitem(METHODS, "gibbs", METHODS["gibbs"]._replace(run=fails))
    (row,) = sampling.job("ising-2x3", "gibbs", 0, TINY, first=True)
    assert (row["failed"], row["num_draws"]) == ("no room", 0)
    assert sampling.said([row]) == "failed: no room"


def test_methods_that_do_not_fit_are_left_out():
    from studies.samplers.problems import problem

    assert "swendsen-wang" in names(PROBLEM)
    left_out = set(METHODS) - set(names(problem("parity-64")))
    assert left_out == {"coloured-gibbs", "swendsen-wang", "thrml"}


def test_rows_that_are_there_are_not_made_again(tmp_path, monkeypatch):
    monkeypatch.setattr(sampling, "problem", lambda name: PROBLEM)
    out, made = tmp_path / "rows.json", []

    def job(name, method, seed, settings, *, first):
        made.append((method, seed, first))
        about = {"problem": name, "method": method, "seed": seed, "device": sampling.device()}
        yield {
            **about, "settings": sampling.in_words(settings), "num_draws": 80, "first": first,
            **dict.fromkeys(("log_z", "marginals", "modes", "effective", "seconds"), 0.0),
        }  # fmt: skip

    monkeypatch.setattr(sampling, "job", job)
    run = lambda seeds, settings=TINY, within=100.0: sampling.sampling(
        out, ["ising-2x3"], ["gibbs", "gwg"], settings, num_seeds=seeds, within=within
    )
    run(2, within=-1.0)
    assert made == []
    run(2)
    run(3)
    expected = [("gibbs", 0, True), ("gibbs", 1, False), ("gwg", 0, True), ("gwg", 1, False)]
    assert made == [*expected, ("gibbs", 2, True), ("gwg", 2, True)]
    run(1, replace(TINY, batch=16))
    assert made[-2:] == [("gibbs", 0, True), ("gwg", 0, True)]
    assert len(results.read(out)) == 8


@pytest.mark.parametrize("method", ["learned-start", "smc-256x20", "amortised"])
def test_a_family_is_asked_for_conditions_that_nobody_has_seen(method, monkeypatch):
    monkeypatch.setitem(conditions.FAMILIES, "small", lambda: ising_family(2))
    settings = conditions.Settings(
        num_conditions=3, num_draws=400, num_steps=30, batch=64, hidden=8, num_taught=128
    )
    row = conditions.job("small", method, 0, settings)
    assert 0 < row["log_z"] < 0.5
    assert 0 < row["marginals"] < 0.2
    assert row["prepared"] >= 0 and row["seconds"] > 0
    assert (row["gap"] is None) == (method != "learned-start")


def test_errors_over_conditions_are_root_mean_squares():
    assert conditions.rms([3.0, None, 4.0]) == np.sqrt(12.5)
    assert conditions.rms([None]) is None
