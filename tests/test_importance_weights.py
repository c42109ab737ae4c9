"""Importance weights: their mean and quality, and draws by them."""

import jax.numpy as jnp
import numpy as np
import pytest

from aloex.importance_weights import (
    capped,
    effective_sample_size,
    log_mean_exp,
    systematic,
    systematic_in_groups,
)


@pytest.mark.parametrize("shift", [0.0, 1000.0])
def test_mean_and_sample_size_of_rows(shift):
    """Both against their definitions; weights beyond the range of floats change only the mean."""
    w = np.array([[1.0, 2.0, 5.0], [3.0, 3.0, 3.0]])
    log_w = jnp.asarray(np.log(w) + shift)
    np.testing.assert_allclose(log_mean_exp(log_w), np.log(w.mean(axis=1)) + shift, rtol=1e-6)
    expected = w.sum(axis=1) ** 2 / (w**2).sum(axis=1)
    np.testing.assert_allclose(effective_sample_size(log_w), expected, rtol=2e-4)


def test_no_weight_counts_more_than_sqrt_n_times_the_mean():
    log_w = jnp.log(jnp.array([1.0, 1.0, 1.0, 97.0]))  # the mean is 25
    np.testing.assert_allclose(jnp.exp(capped(log_w)), [1, 1, 1, 50], rtol=1e-5)
    labels = jnp.array([0, 0, 1, 1])  # the means are 1 and 49
    found = jnp.exp(capped(log_w, labels[:, None] == labels))
    np.testing.assert_allclose(found, [1, 1, 1, 49 * 2**0.5], rtol=1e-5)


def counts(choose, *arguments):
    return np.bincount(choose(*arguments), minlength=4).tolist()


def test_systematic_resampling():
    log_w = jnp.log(jnp.array([0.0, 1.0, 3.0, 4.0]))
    assert counts(systematic, jnp.array(0.2), log_w) in ([0, 1, 1, 2], [0, 0, 2, 2])
    one_outweighs = jnp.array([0.0, 0.0, 0.0, 100.0])
    assert counts(systematic, jnp.array(0.5), one_outweighs) == [0, 0, 0, 4]
    assert counts(systematic, jnp.array(0.5), jnp.full(4, -jnp.inf)) == [1, 1, 1, 1]
    first_outweighs = jnp.array([0.0, -50.0, -50.0, -50.0])
    for offset in (0.1, 0.9):
        assert counts(systematic, jnp.array(offset), first_outweighs) == [4, 0, 0, 0]


def test_systematic_resampling_in_groups():
    """Rows 0 and 2 are of one group, 1 and 3 of another, whatever their weights."""
    labels = jnp.array([0, 1, 0, 1])
    same = labels[:, None] == labels
    choose = lambda offset, log_w: systematic_in_groups(jnp.array(offset), log_w, same).tolist()
    for offset in (0.0, 0.5, 0.999):
        assert choose(offset, jnp.array([0.0, -90.0, -jnp.inf, 90.0])) == [0, 3, 0, 3]
        assert choose(offset, jnp.full(4, -jnp.inf)) == [0, 1, 2, 3]
        alone = systematic_in_groups(jnp.array(offset), jnp.arange(4.0), jnp.eye(4, dtype=bool))
        assert alone.tolist() == [0, 1, 2, 3]
    # One group of all is plain resampling.
    log_w = jnp.log(jnp.array([0.5, 1.0, 3.0, 4.0]))
    together = systematic_in_groups(jnp.array(0.3), log_w, jnp.ones((4, 4), bool))
    assert together.tolist() == systematic(jnp.array(0.3), log_w).tolist()
