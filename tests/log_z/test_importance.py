"""log Z by importance sampling: the weights' mean is unbiased."""

import jax
import numpy as np
import pytest

from aloex import exact
from aloex.base.errors import InputError
from aloex.energies import MLP, Tabular
from aloex.log_z import importance
from aloex.samplers import AutoregressiveMLP, AutoregressiveRNN, Factorized, Uniform
from aloex.spaces import Bits, Categorical, Sequences
from stats import (
    assert_mean_matches,
    compiled,
    condition,
    randomised,
    tiny_q0,
)

BITS, CATEGORIES, SEQUENCES = Bits(4), Categorical(2, 3), Sequences(2, 2)
log_z_by_draws = compiled(importance)
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
        once = lambda key: importance(key, f, q, z, num_draws=num_draws)
        return jax.vmap(once)(keys)

    found = estimates(jax.random.split(jax.random.key(0), 2000))
    v = np.exp(np.asarray(found.value - log_z, np.float64))
    assert_mean_matches(np.stack([v, (v - 1) ** 2], axis=1), [1, variance / num_draws])
    assert 0.1 < variance < 10  # more, and a mean of few draws is not near a normal


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
        np.testing.assert_allclose(jax.tree.leaves(other), jax.tree.leaves(found[0]), rtol=1e-5)
    assert 1 < found[0].effective_sample_size < 50 and found[0].standard_error > 0


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
        importance(jax.random.key(0), mlp(BITS), Uniform(BITS), **settings)
