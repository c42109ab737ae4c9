"""R-hat, effective sample size and MCSE: those of ArviZ, where both define them."""

import arviz as az
import jaxtyping
import numpy as np
import pytest

from aloex import diagnostics
from aloex.base.errors import InputError


def autoregressive(rng, chains, draws, phi, shift=0.0):
    x, noise = np.zeros((chains, draws)), rng.normal(size=(chains, draws))
    for t in range(draws):
        x[:, t] = phi * x[:, t - 1] + noise[:, t]
    return x + shift * np.arange(chains)[:, None]


def cases():
    rng = np.random.default_rng(0)
    yield "independent", rng.normal(size=(4, 1000))
    yield "odd", rng.normal(size=(3, 101))
    yield "one-chain", autoregressive(rng, 1, 200, 0.5)
    yield "slow", autoregressive(rng, 4, 500, 0.95)
    yield "antithetic", autoregressive(rng, 4, 500, -0.7)
    yield "very-antithetic", autoregressive(rng, 2, 400, -0.99)
    yield "apart", autoregressive(rng, 4, 200, 0.3, shift=1.0)
    yield "trend", np.cumsum(rng.normal(size=(2, 300)), axis=1)
    yield "cauchy", rng.standard_cauchy((4, 300))
    yield "scales", rng.normal(size=(4, 300)) * [[1], [1], [1], [5]]
    yield "counts", rng.poisson(3.0, (4, 300))
    for draws in range(4, 13):
        yield f"short-{draws}", autoregressive(rng, 2, draws, 0.9)


CASES = dict(cases())


@pytest.mark.parametrize("name", CASES)
def test_the_numbers_are_those_of_arviz(name):
    x = CASES[name]
    ours = (
        diagnostics.rhat(x),
        diagnostics.ess_bulk(x),
        diagnostics.ess_tail(x),
        diagnostics.mcse_mean(x),
    )
    data = az.convert_to_dataset({"x": x})
    theirs = az.rhat(data), az.ess(data), az.ess(data, method="tail"), az.mcse(data)
    first = 1 if len(x) == 1 else 0  # of one chain ArviZ gives no R-hat; its halves have one
    np.testing.assert_allclose(ours[first:], [float(a.x) for a in theirs][first:], rtol=1e-8)
    found = diagnostics.diagnose(x)
    assert (found.r_hat, found.ess_bulk, found.ess_tail, found.mcse) == ours
    assert found.note == "" and found.mean == x.mean() and found.sd == x.std(ddof=1)


def test_what_does_not_change_has_no_number_but_a_reason():
    """ArviZ calls 400 equal draws 400 effective ones, and says nothing."""
    x = np.full((4, 100), 2)
    assert az.ess(x) == 400
    found = diagnostics.diagnose(x)
    assert np.isnan([found.mcse, found.ess_bulk, found.ess_tail, found.r_hat]).all()
    assert found.mean == 2 and found.note == "constant: all draws are 2"


@pytest.mark.parametrize("bad", [np.nan, -np.inf])
def test_draws_that_are_no_numbers_are_told(bad):
    x = np.random.default_rng(0).normal(size=(2, 50))
    x[1, 3] = bad
    found = diagnostics.diagnose(x)
    assert np.isnan([found.mcse, found.ess_bulk, found.ess_tail, found.r_hat]).all()
    assert found.note == f"1 of 100 draws are NaN or infinite, such as {bad:g}"


def test_a_bit_has_one_tail_at_most():
    """No draw of a bit is above its 95% quantile: only where 5% or more are 0 is there a tail."""
    rng = np.random.default_rng(0)
    often, rarely = (autoregressive(rng, 4, 500, 0.8) < bound for bound in (0, -5))
    assert 0 < rarely.mean() < 0.01
    for bit in (often, rarely):
        theirs = float(az.ess(bit * 1.0, method="tail"))
        assert diagnostics.ess_tail(bit) == pytest.approx(theirs)
    assert np.isnan(diagnostics.ess_tail(~rarely)) and diagnostics.ess_bulk(~rarely) > 100
    assert diagnostics.diagnose(~rarely).note.startswith(
        "no tails: more than 95% of the draws are 1"
    )


def test_chains_that_never_leave_their_value_have_no_finite_r_hat():
    stuck = np.repeat([[0.0], [1.0]], 100, axis=1)
    assert diagnostics.rhat(stuck) > 1e6
    assert diagnostics.ess_bulk(stuck) < 10


def test_one_quantity_at_a_time(monkeypatch):
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)  # it would speak first
    with pytest.raises(InputError, match=r"one quantity, \[chains, draws\], got shape \(5,\)"):
        diagnostics.diagnose(np.zeros(5))
