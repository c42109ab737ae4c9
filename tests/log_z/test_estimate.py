"""An estimate's value, error and effective sample size by definition, and what it says."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import binomtest, t

from aloex import exact, log_z
from aloex.base.errors import InputError
from aloex.energies import MLP
from aloex.log_z import LogZ, log_z_from_weights
from aloex.spaces import Bits
from stats import ALPHA, compiled, randomised


@pytest.mark.parametrize("shift", [0.0, 5000.0, -5000.0])
def test_log_z_from_weights(shift):
    log_w = np.append(np.random.default_rng(0).normal(size=9), -np.inf)
    w, n = np.exp(log_w), len(log_w)
    with exact.float64():
        found = log_z_from_weights(jnp.asarray(log_w + shift))
    error = w.std(ddof=1) / (w.mean() * np.sqrt(n))
    np.testing.assert_allclose(found.value, np.log(w.mean()) + shift, rtol=1e-13)
    np.testing.assert_allclose(found.standard_error, error, rtol=1e-10)
    np.testing.assert_allclose(found.effective_sample_size, w.sum() ** 2 / (w**2).sum(), rtol=1e-10)


def test_log_z_from_weights_in_strata_and_beside_known_weights():
    """The error is that of the difference of weights of mean 1, within strata."""
    rng = np.random.default_rng(0)
    log_known = np.concatenate([rng.normal(size=6), 3 + rng.normal(size=6)])
    log_w = log_known + 0.1 * rng.normal(size=12)
    w, known = np.exp(log_w), np.exp(log_known)
    with exact.float64():
        found = log_z_from_weights(jnp.asarray(log_w), jnp.asarray(log_known), num_strata=2)
    spread = (w / w.mean() - known / known.mean()).reshape(2, 6)
    error = np.sqrt(np.sum(spread.var(axis=1, ddof=1) / 6)) / 2
    np.testing.assert_allclose(found.value, np.log(w.mean() / known.mean()), rtol=1e-12)
    np.testing.assert_allclose(found.standard_error, error, rtol=1e-10)
    assert found.bound == "none"  # a ratio of means is not unbiased


def estimate(value=12.3456, error=0.0061, ess=340.2, **kwargs):
    given = {"num_weights": 512, "bound": "lower", "method": "AIS forward"} | kwargs
    return LogZ(jnp.asarray(value), jnp.asarray(error), jnp.asarray(ess), **given)


def test_an_estimate_says_what_it_bounds():
    lower = "log Z = 12.3456 +- 0.0061 (AIS forward, lower bound on average; ESS 340 of 512)"
    assert str(estimate()) == lower
    upper = estimate(error=0.12, bound="upper", method="AIS reverse", num_ancestors=jnp.array(77))
    assert str(upper) == (
        "log Z = 12.35 +- 0.12 (AIS reverse, upper bound on average if the starts are exact draws; "
        "ESS 340 of 512; 77 ancestors)"
    )
    assert str(estimate(error=13.0, bound="none")).startswith("log Z = 12 +- 13 (AIS forward, no b")
    assert str(estimate(error=0.0)).startswith("log Z = 12.3456 +- 0.0000 (")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, None),
        ({"ess": 29.0}, "a few weights outweigh the rest (ESS 29)"),
        ({"ess": jnp.nan}, "a few weights outweigh the rest"),
        ({"num_ancestors": jnp.array(29)}, "descend from 29 of the first"),
        ({"num_ancestors": jnp.array(30)}, None),
        ({"error": 0.51}, "the error is above 0.5"),
        ({"error": jnp.nan}, "the error is above 0.5"),
        ({"value": -jnp.inf}, "not finite"),
    ],
)
def test_an_estimate_warns_where_it_cannot_be_trusted(settings, message):
    found = estimate(**settings)
    if message is None:
        assert found.warning is None and "warning" not in str(found)
    else:
        assert message in found.warning and f"; warning: {found.warning})" in str(found)


def test_an_estimate_goes_through_jit_and_vmap():
    log_w = jnp.asarray(np.random.default_rng(0).normal(size=(3, 5)))
    many = compiled(jax.vmap(log_z_from_weights))(log_w)
    one = log_z_from_weights(log_w[1])
    np.testing.assert_allclose(many.value[1], one.value, rtol=1e-6)
    np.testing.assert_allclose(many.standard_error[1], one.standard_error, rtol=1e-5)
    assert many.bound == "lower" and many.num_weights == 5
    assert "LogZ(" in str(many)  # which has no single line


SPACE, NUM_REPEATS = Bits(5), 1000
METHODS = {
    "ais": (lambda key, f: log_z.ais(key, f, SPACE, ladder=5, num_chains=100), 99),
    "smc": (lambda key, f: log_z.smc(key, f, SPACE, ladder=5, num_particles=800).log_z, 15),
}


@pytest.mark.parametrize("name", METHODS)
def test_the_error_covers_log_z_as_often_as_it_should(name):
    """Null hypothesis: intervals of 95%, by Student's t, miss log Z in 5% of the runs.

    The smallest of the tests' many errors is no 0, and all sides of the interval are missed.
    """
    method, degrees_of_freedom = METHODS[name]
    f = randomised(MLP, SPACE, hidden=(8,), scale=1.0)
    keys = jax.random.split(jax.random.key(0), NUM_REPEATS)
    found = compiled(lambda f, keys: jax.lax.map(lambda key: method(key, f), keys))(f, keys)
    z = (np.asarray(found.value) - float(exact.log_z(f, SPACE))) / np.asarray(found.standard_error)
    missed = np.abs(z) > t.isf(0.025, degrees_of_freedom)
    assert binomtest(int(missed.sum()), NUM_REPEATS, 0.05).pvalue > ALPHA
    assert np.std(found.value) > 0.01


def test_weights_of_one_draw_have_no_error():
    with pytest.raises(InputError, match="two weights or more, got 1"):
        log_z_from_weights(jnp.zeros(1))
