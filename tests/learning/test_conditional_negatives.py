"""Negatives of conditional models: a chain keeps its z, weights are compared within a z."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from aloex import exact
from aloex.base.errors import InputError
from aloex.energies import MLP
from aloex.importance_weights import systematic_in_groups
from aloex.kernels import Gibbs
from aloex.learning import Config, first_state
from aloex.learning.aloe import ALOE
from aloex.learning.negatives import log_weights
from aloex.learning.updates import mle_loss
from aloex.proposals import Inverse
from aloex.spaces import Bits
from stats import assert_draws_match, compiled, flat_grads, randomised, tiny_search

TINY = Bits(3)
Z = jnp.array([[1.0, 0.0], [0.0, 1.0]])  # two conditions


def test_chains_need_conditions_where_data_have_them():
    f, q = randomised(MLP, TINY, hidden=(4,)), tiny_search(TINY, max_edits=2)
    aloe = ALOE(Gibbs(TINY), Inverse(space=TINY, max_edits=2), persistence=4)
    x = jnp.zeros((8, 3), jnp.int32)
    with pytest.raises(InputError, match=r"got 8 chains and conditions of shape \(4, 1\)"):
        aloe.init(f, q, x, jnp.zeros((4, 1)))
    f, q = (
        randomised(MLP, TINY, hidden=(4,), cond_dim=1),
        tiny_search(TINY, max_edits=2, cond_dim=1),
    )
    state = aloe.init(f, q, x)
    with pytest.raises(InputError, match=r"pass `init` the conditions.*none, new draws \(2, 1\)"):
        eqx.filter_eval_shape(aloe.step, jax.random.key(0), state, x, jnp.zeros((8, 1)))


def conditional(**settings):
    """A conditional f and q, and a learner that moves neither."""
    f = randomised(MLP, TINY, hidden=(4,), cond_dim=2, scale=1.5)
    q = tiny_search(TINY, max_edits=2, cond_dim=2)
    settings = {"optimizer_f": optax.sgd(0.0), "optimizer_q": optax.sgd(0.0), **settings}
    return f, q, ALOE(Gibbs(TINY), Inverse(space=TINY, max_edits=2), **settings)


def test_a_chain_keeps_its_condition_for_life():
    """After three steps the chains of age a have the conditions that came a steps ago."""
    f, q, aloe = conditional(persistence=3, resample=True, num_data=2)
    x = jnp.zeros((12, 3), jnp.int32)
    z_of = lambda i: jnp.stack([jnp.full(12, i), jnp.arange(12) % 6 // 3], axis=1) * 1.0
    state = aloe.init(f, q, x[:6], z_of(0)[:6])
    step = compiled(aloe.step)
    for i in (1, 2, 3):
        state, _ = step(jax.random.key(i), state, x, z_of(i))
    assert state.chains.z.shape == (2, 2, 2)
    for age in (0, 1):
        np.testing.assert_array_equal(state.chains.z[:, age], z_of(3 - age)[::6])
    np.testing.assert_allclose(
        state.chains.f, jax.vmap(jax.vmap(f))(state.chains.x, state.chains.z), rtol=1e-5
    )


def test_persistent_negatives_follow_the_law_of_their_own_condition():
    """With f and q at rest, age a of condition z has the law q(. | z) k_f^(a + 1)."""
    lives, starts = 2, 4000
    f, q, aloe = conditional(persistence=lives)
    z = jnp.tile(Z, (starts // 2, 1))
    # The newer draws have the conditions in the other order.
    first = aloe.init(f, q, jnp.ones((starts * lives, 3), jnp.int32), jnp.repeat(z, lives, axis=0))

    @compiled
    def ages(f, q, chains):
        for key, z_new in zip(jax.random.split(jax.random.key(0), 2), (z, z[::-1]), strict=True):
            keys = jax.random.split(key, starts * lives)
            x_neg, _ = aloe.negatives.sample(keys, f, q, z_new, chains)
            chains = jax.tree.map(lambda a: a[:, :-1], x_neg)
        laws = jax.vmap(lambda z: jnp.exp(exact.log_marginal(q, TINY, z)))(Z)
        matrices = jax.vmap(lambda z: Gibbs(TINY).transition_matrix(TINY, f, z))(Z)
        return jax.vmap(jax.vmap(TINY.index))(x_neg.x), x_neg.z, laws, matrices

    drawn, z_neg, laws, matrices = (np.asarray(a) for a in ages(f, q, first.chains))
    for age in range(lives):
        for i in range(2):
            rows = drawn[z_neg[:, age, i] == 1, age]
            assert len(rows) == starts // 2
            law = laws[i] @ np.linalg.matrix_power(matrices[i], age + 1)
            assert_draws_match(np.bincount(rows, minlength=TINY.size), law)


def test_negatives_with_conditions_of_other_rows_give_the_exact_gradient():
    """Over data rows i and, apart from them, rows j whose z a negative ~ p_f(. | z_j) has.

    The mean gradient is that of -log p_f(x_i | z_i), because z_j follows the same law as z_i.
    Negatives whose pairs (x, z) were resampled by weights of mean Z_f(z), regardless of z, would
    have conditions with probability proportional to Z_f(z): another gradient.
    """
    with exact.float64():
        f = exact.to_float64(randomised(MLP, TINY, hidden=(4,), cond_dim=2, scale=1.5))
        x, z = TINY.enumerate()[jnp.array([2, 5, 5])], Z[jnp.array([0, 1, 1])]
        states = TINY.enumerate()

        @compiled
        def gradients(f):
            def pair(x, z, x_neg, z_neg):
                loss = lambda f: mle_loss(f, x[None], x_neg[None], z[None], z_neg[None])[0]
                return flat_grads(eqx.filter_grad(loss)(f))

            of_states = jax.vmap(pair, (None, None, 0, None))
            every = jax.vmap(jax.vmap(of_states, (None, None, None, 0)), (0, 0, None, None))
            grads = every(x, z, states, z).mean(axis=0)  # [rows j, states, parameters]
            laws = jnp.exp(jax.vmap(lambda z: exact.log_p(f, TINY, z))(z))
            by_row = jnp.einsum("jx,jxp->jp", laws, grads)
            log_z = lambda f: jax.vmap(lambda z: exact.log_z(f, TINY, z))(z)
            nll = lambda f: jnp.mean(log_z(f) - jax.vmap(f)(x, z))
            across = jax.nn.softmax(log_z(f)) @ by_row
            return by_row.mean(axis=0), flat_grads(eqx.filter_grad(nll)(f)), across

        found, expected, across = (np.asarray(a) for a in gradients(f))
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-13)
        assert np.linalg.norm(across - expected) > 0.1 * np.linalg.norm(expected) > 0


def mean_counts(log_w, same):
    """How often each index comes up, on average over the offset, exactly.

    The choice changes only where a sum of lengths passes a place, so one offset for each stretch
    between such points, weighted by its length, is all there is.
    """
    total = jax.nn.logsumexp(jnp.where(same, log_w, -jnp.inf), axis=1)
    lengths = np.asarray(same.sum(axis=1) * jnp.exp(log_w - total))
    order = np.argsort(np.argmax(same, axis=1), kind="stable")
    cuts = np.unique(np.concatenate([[0.0, 1.0], np.cumsum(lengths[order]) % 1]))
    middles = jnp.asarray((cuts[1:] + cuts[:-1]) / 2)
    choose = compiled(jax.vmap(lambda u: systematic_in_groups(u, log_w, same)))
    counts = np.zeros(len(log_w))
    for chosen, share in zip(np.asarray(choose(middles)), np.diff(cuts), strict=True):
        assert same[np.arange(len(chosen)), chosen].all(), "a row took another group's index"
        counts += share * np.bincount(chosen, minlength=len(log_w))
    return counts


def test_all_trajectories_resampled_among_their_conditions_follow_p_f_of_each():
    """By enumeration: a condition keeps its number of rows, and its states p_f(. | z), exactly."""
    with exact.float64():
        f = exact.to_float64(randomised(MLP, TINY, hidden=(4,), cond_dim=2, scale=1.5))
        q = exact.to_float64(tiny_search(TINY, max_edits=1, cond_dim=2))
        parts = [exact.trajectories(TINY, x, 1) for x in TINY.enumerate()]
        every = jax.tree.map(lambda *a: jnp.concatenate([*a, *a]), *parts)
        label = np.repeat([0, 1], len(every.num_edits) // 2)
        # Rows in any order: no group must lie together.
        order = np.random.default_rng(0).permutation(len(label))
        every, label = jax.tree.map(lambda a: a[order], every), label[order]
        z = Z[label].astype(jnp.float64)
        proposal = Inverse(space=TINY, max_edits=1)

        @compiled
        def weigh(f, q):
            # Each trajectory is there once, so its weight is q w instead of w.
            log_w = jax.vmap(q.log_prob)(every, z) + log_weights(f, q, proposal, every, z)
            log_p = jax.vmap(lambda z: exact.log_p(f, TINY, z))(Z.astype(jnp.float64))
            log_z = jax.vmap(lambda z: exact.log_z(f, TINY, z))(Z.astype(jnp.float64))
            return log_w, jnp.exp(log_p), log_z, jax.vmap(TINY.index)(every.last)

        log_w, laws, log_z, state = weigh(f, q)
        counts = mean_counts(log_w, jnp.asarray(label[:, None] == label))
        for i in range(2):
            own = label == i
            found = np.bincount(np.asarray(state)[own], counts[own], minlength=TINY.size)
            np.testing.assert_allclose(found, own.sum() * laws[i], rtol=1e-9)
        assert abs(log_z[0] - log_z[1]) > 0.3  # or resampling across conditions would do as well


def test_resampled_draws_follow_p_f_of_their_condition():
    f, q, aloe = conditional(resample=True)
    n = 4000
    z = jnp.tile(Z, (n // 2, 1))
    keys = jax.random.split(jax.random.key(0), n)
    drawn, *_ = compiled(lambda f, q: aloe.negatives.draw(keys, f, q, z, None, None))(f, q)
    np.testing.assert_array_equal(drawn.z, z)
    for i in range(2):
        counts = np.bincount(jax.vmap(TINY.index)(drawn.x[i::2]), minlength=TINY.size)
        law = np.exp(np.asarray(exact.log_p(f, TINY, Z[i])))
        assert_draws_match(counts, law)
        raw = np.exp(np.asarray(exact.log_marginal(q, TINY, Z[i])))
        assert np.abs(raw - law).sum() > 0.2


def test_a_condition_of_its_own_leaves_its_draw_as_it_is():
    """Where no two rows have the same z there is nothing to compare weights with."""
    f, q, aloe = conditional(resample=True)
    keys = jax.random.split(jax.random.key(0), 6)
    z = jax.random.normal(jax.random.key(1), (6, 2))
    drawn, *_ = aloe.negatives.draw(keys, f, q, z, None, None)
    plain = jax.vmap(lambda key, z: q.sample(jax.random.split(key)[0], z).last)(keys, z)
    np.testing.assert_array_equal(drawn.x, plain)


def test_more_data_than_negatives_with_conditions():
    """Three examples to a negative, which has the condition of the first; all raise f."""
    f, q, aloe = conditional(num_data=3, optimizer_f=optax.sgd(0.1), ema_decay=0.0)
    x = TINY.enumerate()[jnp.array([3, 1, 6, 0, 2, 2])]
    z = jax.random.normal(jax.random.key(1), (6, 2))
    after, info = aloe.step(jax.random.key(0), aloe.init(f, q), x, z)
    keys = jax.vmap(jax.random.split)(jax.random.split(jax.random.key(0), 6)[::3])[:, 0]
    x_neg = aloe.negatives.sample(keys, f, q, z[::3])[0].x[:, 0]
    grads = eqx.filter_grad(lambda f: mle_loss(f, x, x_neg, z, z[::3])[0])(f)
    np.testing.assert_allclose(
        flat_grads(after.ema_f), flat_grads(f) - 0.1 * flat_grads(grads), rtol=1e-5, atol=1e-6
    )
    np.testing.assert_allclose(info.f_neg, jax.vmap(f)(x_neg, z[::3]).mean(), rtol=1e-5)


def test_shards_change_nothing():
    """All modes at once, with conditions: four shards against one."""
    settings = {"persistence": 2, "num_f_steps": 2, "num_data": 2, "num_trajectories": 2}
    sgd = optax.sgd(0.1)
    f, q, aloe = conditional(**settings, resample=True, optimizer_f=sgd, optimizer_q=sgd)
    x = jax.random.bernoulli(jax.random.key(2), 0.5, (32, 3)).astype(jnp.int32)
    z = Z[jax.random.bernoulli(jax.random.key(3), 0.5, (32,)).astype(int)]
    state = aloe.init(f, q, x[:16], z[:16])
    key = jax.random.key(0)
    arrays = lambda tree: eqx.filter(tree, eqx.is_array)

    @compiled
    def both(state):
        split = lambda a: a.reshape(4, -1, *a.shape[1:])
        parts = jax.tree.map(split, (jax.random.split(key, 32), x, z))
        step = lambda keys, x, z: arrays(aloe.step_on_shard(keys, state, x, z, axis="batch"))
        return arrays(aloe.step(key, state, x, z)), jax.vmap(step, axis_name="batch")(*parts)

    whole, shards = both(state)
    for expected, found in zip(jax.tree.leaves(whole), jax.tree.leaves(shards), strict=True):
        for part in found:
            np.testing.assert_allclose(part, expected, rtol=1e-5, atol=1e-6)


def test_first_chains_of_a_config_take_the_conditions_of_data():
    sizes = {"f_hidden": (4,), "q_hidden": (4,), "max_edits": 0}
    config = Config(dim=3, cond_dim=2, persistence=2, batch_size=1600, **sizes)
    z = np.random.default_rng(0).normal(size=(5, 2)).astype(np.float32)
    chains = first_state(config, jax.random.key(0), z).chains
    assert chains.x.shape == (800, 1, 3)
    is_row = (np.asarray(chains.z) == z).all(axis=2)  # [chains, rows of z]
    assert (is_row.sum(axis=1) == 1).all()
    assert_draws_match(is_row.sum(axis=0), np.full(5, 1 / 5))
