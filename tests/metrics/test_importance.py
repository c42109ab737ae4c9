"""log Z by importance sampling: the weights' mean is unbiased, its error and ESS by definition."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from aloex import exact
from aloex.base.errors import InputError
from aloex.energies import MLP, Tabular
from aloex.metrics import LogZ, Uniform, importance, nll
from aloex.metrics.importance import log_z_from_weights
from aloex.samplers import AutoregressiveMLP, AutoregressiveRNN, Factorized
from aloex.spaces import Bits, Categorical, Sequences
from stats import (
    assert_draws_match,
    assert_mean_matches,
    compiled,
    condition,
    count_draws,
    randomised,
    tiny_q0,
)

BITS, CATEGORIES, SEQUENCES = Bits(4), Categorical(2, 3), Sequences(2, 2)
log_z_by_draws, mean_nll = compiled(importance.log_z), compiled(nll)
mlp = lambda space, **kwargs: randomised(MLP, space, hidden=(4,), embed_dim=2, scale=0.7, **kwargs)

SAMPLERS = {
    "uniform": (BITS, lambda: mlp(BITS), lambda: Uniform(BITS), None),
    "uniform-sequences": (
        SEQUENCES,
        lambda: randomised(Tabular, SEQUENCES),
        lambda: Uniform(SEQUENCES),
        None,
    ),
    "factorized-z": (
        CATEGORIES,
        lambda: mlp(CATEGORIES, cond_dim=2),
        lambda: tiny_q0(Factorized, CATEGORIES, cond_dim=2),
        condition(2),
    ),
    "autoregressive-mlp": (
        BITS,
        lambda: mlp(BITS),
        lambda: randomised(AutoregressiveMLP, BITS, hidden=(4,), head_hidden=4, scale=0.5),
        None,
    ),
    "autoregressive-rnn": (
        SEQUENCES,
        lambda: randomised(Tabular, SEQUENCES),
        lambda: tiny_q0(AutoregressiveRNN, SEQUENCES),
        None,
    ),
}


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


@pytest.mark.parametrize("name", SAMPLERS)
def test_the_mean_weight_is_unbiased(name):
    """Z's estimate v has mean Z and variance Var(w) / n, both known by enumeration."""
    space, build_f, build_q, z = SAMPLERS[name]
    f, q, num_draws = build_f(), build_q(), 40
    log_q = jax.vmap(lambda x: q.log_prob(x, z))(space.enumerate())
    log_z = exact.log_z(f, space, z)
    p = np.exp(np.asarray(exact.log_p(f, space, z), np.float64))
    variance = np.sum(p**2 / np.exp(np.asarray(log_q, np.float64))) - 1

    @compiled
    def estimates(keys):
        once = lambda key: importance.log_z(key, f, q, z, num_draws=num_draws)
        return jax.vmap(once)(keys)

    found = estimates(jax.random.split(jax.random.key(0), 2000))
    v = np.exp(np.asarray(found.value - log_z, np.float64))
    assert_mean_matches(np.stack([v, (v - 1) ** 2], axis=1), [1, variance / num_draws])
    assert 0.1 < variance < 10  # more, and a mean of few draws is not near a normal


@pytest.mark.parametrize("space", [CATEGORIES, SEQUENCES], ids=repr)
def test_uniform(space):
    q = Uniform(space)
    log_probs = jax.vmap(q.log_prob)(space.enumerate())
    np.testing.assert_allclose(np.exp(log_probs), 1 / space.size, rtol=1e-6)
    assert_draws_match(count_draws(space, q.sample), np.exp(log_probs))


def test_a_perfect_q_leaves_no_error():
    q = tiny_q0(AutoregressiveMLP, BITS)
    found = log_z_by_draws(
        jax.random.key(0), lambda x, z=None: q.log_prob(x, z) + 3, q, num_draws=100
    )
    np.testing.assert_allclose(found.value, 3, rtol=1e-6)
    np.testing.assert_allclose(found.effective_sample_size, 100, rtol=1e-5)
    assert found.standard_error < 1e-3


def test_the_size_of_the_batches_changes_nothing():
    f, q = mlp(BITS), Uniform(BITS)
    found = [
        log_z_by_draws(jax.random.key(0), f, q, num_draws=50, batch_size=batch_size)
        for batch_size in (7, 50, 64)
    ]
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], rtol=1e-5)
    assert 1 < found[0].effective_sample_size < 50 and found[0].standard_error > 0


@pytest.mark.parametrize("estimated", [False, True])
@pytest.mark.parametrize("cond_dim", [0, 2])
def test_nll(estimated, cond_dim):
    x, z = BITS.enumerate()[jnp.array([3, 7, 7, 12, 0])], condition(cond_dim)
    error = 0.4 if estimated else 0.0
    with exact.float64():
        f = exact.to_float64(mlp(BITS, cond_dim=cond_dim))
        log_z = exact.log_z(f, BITS, z)
        given = LogZ(log_z, jnp.asarray(error), jnp.asarray(9.0)) if estimated else log_z
        found = mean_nll(f, x, given, z, batch_size=2)
        log_p = np.asarray(exact.log_p(f, BITS, z))[np.asarray(jax.vmap(BITS.index)(x))]
    np.testing.assert_allclose(found.mean, -log_p.mean(), rtol=1e-12)
    of_rows = log_p.std(ddof=1) / np.sqrt(len(log_p))
    np.testing.assert_allclose(found.standard_error, np.hypot(of_rows, error), rtol=1e-12)
    assert of_rows > 0.1


def test_nll_takes_a_plain_number():
    x = BITS.enumerate()
    f = lambda x, z=None: jnp.sum(x) * 1.0
    np.testing.assert_allclose(mean_nll(f, x, 5.0).mean, 3, rtol=1e-6)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"num_draws": 1}, "num_draws must be at least 2 for an error, got 1"),
        ({"batch_size": 0}, "batch_size must be at least 1, got 0"),
    ],
    ids=["num_draws", "batch_size"],
)
def test_bad_arguments(settings, message):
    with pytest.raises(InputError, match=message):
        importance.log_z(jax.random.key(0), mlp(BITS), Uniform(BITS), **settings)


def test_nll_needs_two_rows():
    with pytest.raises(InputError, match="two rows or more for an error, got 1"):
        nll(mlp(BITS), BITS.enumerate()[:1], 0.0)
