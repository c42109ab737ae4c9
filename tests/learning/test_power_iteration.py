"""The estimate of grad log q(x): exact on all trajectories, consistent with draws, not as printed.

Three things are decided here: the weights are normalised by sum q_k / s_k (the paper's Eq.
monte_carlo_grad leaves s out); with repeats in the inverse proposal the estimate tends to the exact
gradient; without them it tends to something else.
"""

from functools import cache
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from aloex import exact
from aloex.learning.negatives import log_weights
from aloex.learning.power_iteration import follow, q_loss, surrogate
from aloex.proposals import Inverse
from aloex.samplers import AutoregressiveMLP
from aloex.spaces import Bits, Categorical
from aloex.trajectory import BufferSizes
from stats import assert_mean_matches, compiled, condition, flat_grads, relative_error, tiny_search

SPACE, MAX_EDITS = Bits(3), 3
TARGET = 5  # the state whose gradient is estimated from draws
X = SPACE.enumerate()[TARGET]
with exact.float64():
    Q = tiny_search(SPACE, max_edits=MAX_EDITS, seed=3)


@pytest.fixture(autouse=True)
def double_precision():
    with exact.float64():
        yield


def add_axis(tree):
    """A batch of one."""
    return jax.tree.map(lambda a: a[None], tree)


def all_trajectories(space, max_edits):
    """[states, n]: all trajectories that end in each state."""
    groups = [exact.trajectories(space, x, max_edits) for x in space.enumerate()]
    return jax.tree.map(lambda *a: jnp.stack(a), *groups)


@compiled
def gradients_from_all(q, space, trajectories, z):
    """The gradient of the surrogate for each state, and of exact.log_marginal, one row each."""

    def of_one(x, trajectories):
        batch = add_axis(trajectories)
        log_s = jnp.zeros(batch.num_edits.shape)
        conditions = None if z is None else z[None]
        loss = lambda q: surrogate(q, x[None], batch, log_s, conditions)[0]
        return flat_grads(eqx.filter_grad(loss)(q))

    parameters, rest = eqx.partition(q, eqx.is_inexact_array)
    jacobian = jax.jacrev(lambda p: exact.log_marginal(eqx.combine(p, rest), space, z))(parameters)
    rows = [leaf.reshape(space.size, -1) for leaf in jax.tree.leaves(jacobian)]
    return jax.vmap(of_one)(space.enumerate(), trajectories), jnp.concatenate(rows, axis=1)


@pytest.mark.parametrize(
    ("space", "max_edits", "cond_dim"),
    [(SPACE, MAX_EDITS, 0), (Categorical(2, 3), 2, 2)],
    ids=repr,
)
def test_all_trajectories_give_the_exact_gradient(space, max_edits, cond_dim):
    q = tiny_search(space, max_edits=max_edits, q0=AutoregressiveMLP, cond_dim=cond_dim)
    trajectories = all_trajectories(space, max_edits)
    found, expected = gradients_from_all(q, space, trajectories, condition(cond_dim))
    np.testing.assert_allclose(found, -expected, rtol=1e-10, atol=1e-12)
    assert np.linalg.norm(expected, axis=1).min() > 0.1


# With draws


def gradient(q, loss):
    """Minus the gradient of a loss, as one vector."""
    return -flat_grads(eqx.filter_grad(loss)(q))


gradient_jit = compiled(gradient)


@cache
def exact_gradient():
    """grad log q(x) by enumeration."""
    return np.asarray(gradient_jit(Q, lambda q: -exact.log_marginal(q, SPACE)[TARGET]))


def printed(q, x, trajectories, log_s):
    """The weights of the paper's Eq. monte_carlo_grad: q_j / (s_j sum_k q_k) / N."""
    log_q = jax.vmap(q.log_prob)(jax.tree.map(lambda a: a[0], trajectories))
    log_w = log_q - log_s[0] - jax.nn.logsumexp(log_q) - jnp.log(log_s.shape[1])
    return -jnp.sum(jax.lax.stop_gradient(jnp.exp(log_w)) * log_q), None


@compiled
def estimates(q, losses, proposal, key, num_repeats, n):
    """For each loss, independent estimates of the gradient, each from n trajectories."""

    def estimate(key):
        batch = add_axis(proposal.sample_many(key, X, None, n))
        return [gradient(q, lambda q, loss=loss: loss(q, X[None], *batch)[0]) for loss in losses]

    return jax.lax.map(estimate, jax.random.split(key, num_repeats))


UNBIASED = Inverse(space=SPACE, max_edits=MAX_EDITS)
SHORTEST = Inverse(space=SPACE, max_edits=MAX_EDITS, repeats=False)


@cache
def from_draws(proposal, n):
    """Estimates from n trajectories, a row for each repeat; with the printed weights as well."""
    num_repeats = {8: 256, 64: 128, 512: 64}[n]
    losses = (surrogate, printed) if proposal is UNBIASED else (surrogate,)
    found = estimates(Q, losses, proposal, jax.random.key(n), num_repeats, n)
    return [np.asarray(rows) for rows in found]


def test_the_estimate_tends_to_the_exact_gradient():
    """The error falls like 1 / sqrt(N); at N = 512 no bias is left that 64 repeats could see."""
    true, errors = exact_gradient(), {}
    for n in (8, 512):
        found = from_draws(UNBIASED, n)[0]
        errors[n] = np.sqrt(np.mean([relative_error(row, true) ** 2 for row in found]))
    assert_mean_matches(found, true)
    assert errors[512] < 0.2
    assert errors[512] < errors[8] / 4  # 8 in the limit


def length(found):
    """The mean estimate's part along the exact gradient: 1 for an estimate without bias."""
    true = exact_gradient()
    return float(np.asarray(found).mean(axis=0) @ true / (true @ true))


def test_the_printed_weights_shrink_with_n_and_ours_do_not():
    """Seen at N = 8, 64, 512: 1.03, 1.00, 1.00 with our weights, 0.27, 0.034, 0.0042 as printed."""
    lengths = {}
    for n in (8, 64, 512):
        lengths[n] = [length(rows) for rows in from_draws(UNBIASED, n)]
    ours, theirs = zip(*lengths.values(), strict=True)
    np.testing.assert_array_less(np.abs(np.array(ours) - 1), [0.2, 0.08, 0.03])
    assert theirs[1] < theirs[0] / 4  # 1/8 in the limit
    assert theirs[2] < theirs[1] / 4


@cache
def limit_of_shortest_paths():
    """What weights over the trajectories without repeats lead to, by enumeration."""
    group = exact.trajectories(SPACE, X, MAX_EDITS)
    possible = np.isfinite(compiled(lambda group: jax.vmap(SHORTEST.log_prob)(group))(group))
    assert possible.sum() == 1 + 3 + 3 * 2 + 3 * 2 * 1
    group = add_axis(jax.tree.map(lambda a: a[possible], group))
    log_s = jnp.zeros(group.num_edits.shape)
    return np.asarray(gradient_jit(Q, lambda q: surrogate(q, X[None], group, log_s)[0]))


def test_without_repeats_a_bias_stays():
    """Draws tend to the gradient over shortest paths, which is not the gradient of log q(x)."""
    biased, true = limit_of_shortest_paths(), exact_gradient()
    assert relative_error(biased, true) > 0.2
    (found,) = from_draws(SHORTEST, 512)
    assert_mean_matches(found, biased)
    assert relative_error(found.mean(axis=0), biased) < 0.02
    with pytest.raises(AssertionError, match="means are off"):
        assert_mean_matches(found, true)


# What else the loss reports


def test_info_of_all_trajectories():
    """Fed all trajectories once, log_q + log n is log q(x); the sample size is the posterior's."""
    group = all_trajectories(SPACE, MAX_EDITS)
    n = group.num_edits.shape[1]
    _, info = compiled(surrogate)(Q, SPACE.enumerate(), group, jnp.zeros((SPACE.size, n)))
    log_q = compiled(lambda group: jax.vmap(jax.vmap(Q.log_prob))(group))(group)
    posterior = np.exp(log_q - jax.nn.logsumexp(log_q, axis=1, keepdims=True))
    expected = compiled(exact.log_marginal)(Q, SPACE).mean() - np.log(n)
    np.testing.assert_allclose(info.log_q, expected, rtol=1e-12)
    np.testing.assert_allclose(
        info.effective_sample_size, np.mean(1 / np.sum(posterior**2, axis=1)), rtol=1e-12
    )
    assert info.dropped_fraction == 0


def test_trajectories_without_room_have_no_weight():
    """The loss is that of the trajectories that fit, and the others are counted."""
    group = exact.trajectories(SPACE, X, MAX_EDITS)
    batch = add_axis(group)
    kept = 1 + 3 + 4  # no edit, one edit, and room for the first four of two edits
    sizes = BufferSizes(3 + 2 * 4, kept - 1, (kept,) * SPACE.dim)
    loss, info = compiled(surrogate)(
        Q, X[None], batch, jnp.zeros(batch.num_edits.shape), None, sizes
    )
    fitting = jax.tree.map(lambda a: a[:, :kept], batch)
    expected, _ = compiled(surrogate)(Q, X[None], fitting, jnp.zeros((1, kept)))
    np.testing.assert_allclose(loss, expected, rtol=1e-12)
    np.testing.assert_allclose(info.dropped_fraction, 1 - kept / batch.num_edits.size, rtol=1e-12)


def test_q_loss_is_the_surrogate_of_fresh_trajectories():
    n, x = 6, SPACE.enumerate()
    keys = jax.random.split(jax.random.key(0), len(x))

    @compiled
    def both(q):
        loss, _ = q_loss(q, keys, x, None, proposal=UNBIASED, num_trajectories=n)
        drawn = jax.vmap(lambda k, x: UNBIASED.sample_many(k, x, None, n))(keys, x)
        return loss, surrogate(q, x, *drawn)[0]

    loss, expected = both(Q)
    np.testing.assert_allclose(loss, expected, rtol=1e-12)


class FollowsQ(Inverse):
    """A proposal whose walks end at a state with the probability that q stops there."""

    q: Any = None

    def following(self, q):
        stop = jax.nn.sigmoid(q.edits()[1](X))
        return FollowsQ(space=SPACE, max_edits=MAX_EDITS, walk_stop_prob=0.2, q=stop)

    def log_prob(self, trajectory, z=None):
        return super().log_prob(trajectory, z) + (jnp.nan if self.q is None else self.q)


def test_a_proposal_follows_the_q_that_is_trained():
    """The loss and the weights see the proposal of this q, and no gradient goes through it."""
    stale, n, x = FollowsQ(space=SPACE, max_edits=MAX_EDITS), 4, SPACE.enumerate()
    fresh = Inverse(space=SPACE, max_edits=MAX_EDITS, walk_stop_prob=0.2)
    keys = jax.random.split(jax.random.key(0), len(x))
    f = lambda x, z=None: jnp.sum(x) * 1.0

    @compiled
    def all_of(q):
        loss = lambda p: q_loss(q, keys, x, None, proposal=p, num_trajectories=n)[0]
        drawn = jax.vmap(q.sample)(keys)
        weights = [log_weights(f, q, p, drawn, None) for p in (stale, fresh)]
        slope = flat_grads(eqx.filter_grad(lambda q: follow(stale, q).q)(q))
        return loss(stale), loss(fresh), weights, slope, jax.nn.sigmoid(q.edits()[1](X))

    followed, expected, weights, slope, stop = all_of(Q)
    assert float(followed) == float(expected)
    np.testing.assert_allclose(weights[0], weights[1] + stop, rtol=1e-12)
    np.testing.assert_array_equal(slope, 0)
    assert follow(UNBIASED, Q) is UNBIASED
