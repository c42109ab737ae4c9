"""Negatives: draws, chains and resampling against enumeration."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from aloex import exact
from aloex.base.errors import InputError
from aloex.cursor import start
from aloex.energies import MLP
from aloex.kernels import Gibbs
from aloex.learning.aloe import ALOE
from aloex.learning.learner import split_keys
from aloex.learning.negatives import Chains, log_weights
from aloex.learning.power_iteration import q_loss
from aloex.proposals import Inverse
from aloex.spaces import Bits
from stats import assert_draws_match, compiled, randomised, tiny_search

TINY = Bits(3)


@pytest.mark.parametrize("num_kernel_steps", [1, 2])
def test_negatives_follow_q_and_then_the_kernel(num_kernel_steps):
    """x_neg ~ q k_f^steps for every example's own condition."""
    f = randomised(MLP, TINY, hidden=(4,), cond_dim=2, scale=1.5)
    q = tiny_search(TINY, max_edits=2, cond_dim=2)
    kernel = Gibbs(TINY, scan="random")
    aloe = ALOE(kernel, Inverse(space=TINY, max_edits=2), num_kernel_steps=num_kernel_steps)
    z = jnp.tile(jnp.eye(2), (10, 1))

    @compiled
    def draw_and_matrices(f, q):
        keys = jax.random.split(jax.random.key(0), (1000, len(z)))
        x_neg, num_edits = jax.vmap(lambda keys: aloe.negatives.sample(keys, f, q, z))(keys)
        marginals = jax.vmap(lambda z: jnp.exp(exact.log_marginal(q, TINY, z)))(z[:2])
        matrices = jax.vmap(lambda z: kernel.transition_matrix(TINY, f, z))(z[:2])
        return jax.vmap(jax.vmap(TINY.index))(x_neg.x[:, :, 0]), num_edits, marginals, matrices

    drawn, num_edits, marginals, matrices = (np.asarray(a) for a in draw_and_matrices(f, q))
    for i in range(2):
        law = marginals[i] @ np.linalg.matrix_power(matrices[i], num_kernel_steps)
        counts = np.bincount(drawn[:, i::2].reshape(-1), minlength=TINY.size)
        assert_draws_match(counts, law)
    assert set(num_edits.reshape(-1).tolist()) == {0, 1, 2}


def test_persistent_negatives_are_as_many_kernel_steps_from_q_as_they_are_old():
    """With f and q at rest, age a has the law q k_f^(a + 1), whatever the chains began with."""
    f = randomised(MLP, TINY, hidden=(4,), scale=1.5)
    q = tiny_search(TINY, max_edits=2)
    kernel, lives, starts = Gibbs(TINY), 3, 2000
    aloe = ALOE(kernel, Inverse(space=TINY, max_edits=2), persistence=lives)
    first = aloe.init(f, q, jnp.ones((starts * lives, 3), jnp.int32)).chains
    assert first.x.shape == (starts, lives - 1, 3)

    @compiled
    def ages(f, q, chains):
        for key in jax.random.split(jax.random.key(0), lives):
            keys = jax.random.split(key, starts * lives)
            x_neg, _ = aloe.negatives.sample(keys, f, q, None, chains)
            chains = Chains(x_neg.x[:, :-1])
        law = jnp.exp(exact.log_marginal(q, TINY))
        return jax.vmap(jax.vmap(TINY.index))(x_neg.x), law, kernel.transition_matrix(TINY, f)

    drawn, law, matrix = (np.asarray(a) for a in ages(f, q, first))
    for age in range(lives):
        law = law @ matrix
        assert_draws_match(np.bincount(drawn[:, age], minlength=TINY.size), law)


def test_the_oldest_negatives_are_the_targets_and_the_rest_live_on():
    """A step of three lives leaves the chains that `negatives` made of the ones before."""
    f, q = randomised(MLP, TINY, hidden=(4,)), tiny_search(TINY, max_edits=2)
    still = optax.sgd(0.0)
    aloe = ALOE(
        Gibbs(TINY),
        Inverse(space=TINY, max_edits=2),
        persistence=3,
        optimizer_f=still,
        optimizer_q=still,
    )
    x = jnp.zeros((6, 3), jnp.int32)
    state = aloe.init(f, q, x)
    after, info = aloe.step(jax.random.key(0), state, x)
    keys = jax.vmap(lambda k: jax.random.split(k, 2))(jax.random.split(jax.random.key(0), 6))
    x_neg, _ = aloe.negatives.sample(keys[:, 0], f, q, None, state.chains)
    assert x_neg.x.shape == (2, 3, 3)
    np.testing.assert_array_equal(after.chains.x, x_neg.x[:, :-1])
    _, keys_proposal = split_keys(keys[::3, 1])
    settings = {"proposal": aloe.proposal, "num_trajectories": aloe.num_trajectories}
    losses = [q_loss(q, keys_proposal, x_neg.x[:, age], None, **settings)[0] for age in range(3)]
    np.testing.assert_allclose(info.q_loss, losses[-1], rtol=1e-5)
    assert len({round(float(loss), 3) for loss in losses}) == 3  # or any age would do


class Stay(eqx.Module):
    """A kernel that stays where it is."""

    def init(self, key, x, f, z=None):
        return start(f, x, z)

    def step(self, key, state, f):
        return state, None

    def transition_matrix(self, space, f, z=None):
        return jnp.eye(space.size)


def test_chains_are_resampled_when_f_has_changed():
    """Chains that were uniform when f was 0 are spread as p_f after a step, give or take one."""
    f, q = randomised(MLP, TINY, hidden=(4,), scale=1.5), tiny_search(TINY, max_edits=2)
    settings = {"resample": True, "persistence": 2, "optimizer_f": optax.sgd(0.0)}
    aloe = ALOE(Stay(), Inverse(space=TINY, max_edits=2), **settings)
    x = jnp.repeat(TINY.enumerate(), 256, axis=0)
    state = aloe.init(f, q, x)
    chains = state.chains
    np.testing.assert_allclose(chains.f, jax.vmap(jax.vmap(f))(chains.x), rtol=1e-6)
    keys = jax.random.split(jax.random.key(0), len(x))
    x_neg = aloe.negatives.move(keys, Chains(x, None, jnp.zeros(len(x))), f, None)
    counts = np.bincount(np.asarray(jax.vmap(TINY.index)(x_neg.x)), minlength=TINY.size)
    expected = len(x) * np.exp(np.asarray(exact.log_p(f, TINY)))
    assert np.abs(counts - expected).max() < 1.01
    assert np.abs(expected - expected.mean()).max() > 100  # or there was nothing to do
    np.testing.assert_allclose(x_neg.f, jax.vmap(f)(x_neg.x), rtol=1e-5)


@pytest.mark.parametrize("repeats", [True, False])
def test_weights_of_trajectories_have_mean_z(repeats):
    """Sum over all trajectories of q w = Z_f: exp f s_x / q is an importance weight."""
    f = randomised(MLP, TINY, hidden=(4,), scale=1.5)
    q = tiny_search(TINY, max_edits=2)
    proposal = Inverse(space=TINY, max_edits=2, repeats=repeats)
    with jax.enable_x64(True):
        f, q = exact.to_float64(f), exact.to_float64(q)
        parts = [exact.trajectories(TINY, x, 2) for x in TINY.enumerate()]
        every = jax.tree.map(lambda *a: jnp.concatenate(a), *parts)
        log_q, log_w = jax.vmap(q.log_prob)(every), log_weights(f, q, proposal, every, None)
        np.testing.assert_allclose(
            jax.nn.logsumexp(log_q + log_w), exact.log_z(f, TINY), rtol=1e-12
        )


def test_resampled_draws_follow_p_f():
    """Systematic resampling varies less than independent draws, so the test errs on its side."""
    f = randomised(MLP, TINY, hidden=(4,), scale=1.5)
    q = tiny_search(TINY, max_edits=2)
    aloe = ALOE(Gibbs(TINY), Inverse(space=TINY, max_edits=2), resample=True)
    keys = jax.random.split(jax.random.key(0), 20_000)
    draw = compiled(lambda f, q: aloe.negatives.draw(keys, f, q, None, None, None)[0])
    counts = np.bincount(jax.vmap(TINY.index)(draw(f, q).x), minlength=TINY.size)
    law = np.exp(np.asarray(exact.log_p(f, TINY)))
    assert_draws_match(counts, law)
    raw = np.exp(np.asarray(exact.log_marginal(q, TINY)))
    assert np.abs(raw - law).sum() > 0.2  # or the weights would have had nothing to do


def test_persistence_needs_chains():
    f, q = randomised(MLP, TINY, hidden=(4,)), tiny_search(TINY, max_edits=2)
    aloe = ALOE(Gibbs(TINY), Inverse(space=TINY, max_edits=2), persistence=4)
    with pytest.raises(InputError, match="a multiple of 4, got None"):
        aloe.init(f, q)
    with pytest.raises(InputError, match="a multiple of 4, got 6"):
        aloe.init(f, q, jnp.zeros((6, 3), jnp.int32))
