"""Samplers: every q0, editor and local search is a distribution, and its draws follow it."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.nn import log_sigmoid

from aloex import exact
from aloex.base.errors import InputError
from aloex.samplers import (
    AutoregressiveMLP,
    AutoregressiveRNN,
    Factorized,
    Flip,
    LocalSearch,
    PositionValue,
    Stop,
)
from aloex.samplers.local_search import sample_ends
from aloex.spaces import Bits, Categorical, Sequences
from aloex.trajectory import Trajectory
from stats import (
    Q0_SIZES,
    assert_draws_match,
    compiled,
    condition,
    count_draws,
    flat_grads,
    randomised,
    tiny_editor,
    tiny_q0,
    tiny_search,
)

BITS, CATEGORIES, SEQUENCES = Bits(3), Categorical(2, 3), Sequences(2, 2)

Q0S = [
    (Factorized, BITS),
    (Factorized, CATEGORIES),
    (AutoregressiveMLP, BITS),
    (AutoregressiveMLP, CATEGORIES),
    (AutoregressiveRNN, BITS),
    (AutoregressiveRNN, CATEGORIES),
    (AutoregressiveRNN, SEQUENCES),
]
EDITORS = [(Flip, BITS), (PositionValue, BITS), (PositionValue, CATEGORIES)]
SEARCHES = [(BITS, 0), (BITS, 1), (BITS, 3), (CATEGORIES, 2)]

with_and_without_z = pytest.mark.parametrize("cond_dim", [0, 2])


def by_kind_and_space(cases):
    ids = [f"{kind.__name__}-{space!r}" for kind, space in cases]
    return pytest.mark.parametrize(("kind", "space"), cases, ids=ids)


by_q0, by_editor = by_kind_and_space(Q0S), by_kind_and_space(EDITORS)


# q0


@compiled
def log_probs(q0, states, z):
    return jax.vmap(lambda x: q0.log_prob(x, z))(states)


def q0_probs(kind, space, cond_dim):
    """The probability of every state, in double precision."""
    with exact.float64():
        q0 = tiny_q0(kind, space, cond_dim=cond_dim)
        return np.exp(log_probs(q0, space.enumerate(), condition(cond_dim)))


@by_q0
@with_and_without_z
def test_q0_adds_up_to_one(kind, space, cond_dim):
    probs = q0_probs(kind, space, cond_dim)
    np.testing.assert_allclose(probs.sum(), 1, atol=1e-12)
    assert probs.max() > 2 * probs.min()


@by_q0
@with_and_without_z
def test_q0_draws(kind, space, cond_dim):
    q0, z = tiny_q0(kind, space, cond_dim=cond_dim), condition(cond_dim)
    counts = count_draws(space, lambda key: q0.sample(key, z))
    assert_draws_match(counts, q0_probs(kind, space, cond_dim))


def test_factorized_is_a_softmax_per_site():
    with exact.float64():
        q0, z, x = tiny_q0(Factorized, CATEGORIES, cond_dim=2), jnp.array([0.5, -2.0]), [2, 0]
        logits = np.pad(q0.bias + q0.weight @ z, ((0, 0), (1, 0)))
        probs = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        expected = np.log(probs[0, 2] * probs[1, 0])
        np.testing.assert_allclose(log_probs(q0, jnp.array([x]), z), [expected], rtol=1e-12)


@by_q0
def test_q0_heeds_the_condition(kind, space):
    q0 = tiny_q0(kind, space, cond_dim=2)
    log_q = [log_probs(q0, space.enumerate(), z) for z in jnp.eye(2)]
    assert jnp.abs(log_q[0] - log_q[1]).max() > 0.1


@pytest.mark.parametrize("space", [Bits(6), Categorical(3, 3)], ids=repr)
def test_lookahead_changes_no_draw(space):
    one, three = (
        randomised(AutoregressiveMLP, space, lookahead=ahead, **Q0_SIZES[AutoregressiveMLP])
        for ahead in (1, 3)
    )
    draw = compiled(lambda q0, keys: jax.vmap(q0.sample)(keys))
    keys = jax.random.split(jax.random.key(0), 200)
    np.testing.assert_array_equal(draw(three, keys), draw(one, keys))


def test_lookahead_must_divide_the_sites():
    with pytest.raises(InputError, match="lookahead must divide the 3 sites, got 2"):
        AutoregressiveMLP(BITS, hidden=(4,), lookahead=2, key=jax.random.key(0))


def test_a_token_after_the_padding_is_impossible():
    q0 = tiny_q0(AutoregressiveRNN, SEQUENCES)
    pad = SEQUENCES.pad
    states = jnp.array([[pad, 0], [pad, 1], [0, pad]])
    assert np.isneginf(log_probs(q0, states, None)).tolist() == [True, True, False]


# Editors


@compiled
def edit_matrix(editor, space, z):
    """log q_A(y | x) for all pairs of states, x in rows."""
    states = space.enumerate()
    return jax.vmap(lambda x: jax.vmap(lambda y: editor.log_prob(x, y, z))(states))(states)


def edit_probs(kind, space, cond_dim):
    with exact.float64():
        editor = tiny_editor(kind, space, cond_dim=cond_dim)
        return np.exp(edit_matrix(editor, space, condition(cond_dim)))


@by_editor
@with_and_without_z
def test_editor_is_a_distribution_over_the_neighbours(kind, space, cond_dim):
    probs = edit_probs(kind, space, cond_dim)
    states = np.asarray(space.enumerate())
    one_apart = (states[:, None] != states).sum(axis=2) == 1
    assert (probs[~one_apart] == 0).all()  # x itself and whatever is further away
    assert (probs[one_apart] > 0).all()
    np.testing.assert_allclose(probs.sum(axis=1), 1, atol=1e-12)
    assert probs[one_apart].max() > 2 * probs[one_apart].min()


@by_editor
@with_and_without_z
def test_editor_draws(kind, space, cond_dim):
    editor, z = tiny_editor(kind, space, cond_dim=cond_dim), condition(cond_dim)
    x = space.enumerate()[-2]
    counts = count_draws(space, lambda key: editor.sample(key, x, z))
    assert_draws_match(counts, edit_probs(kind, space, cond_dim)[-2])


@by_editor
def test_gradient_of_a_masked_edit_is_zero(kind, space):
    """Padding is scored and masked; what it sends backwards must be 0, not NaN."""
    editor, x = tiny_editor(kind, space), space.enumerate()[1]

    def masked(editor):
        return jnp.where(jnp.sum(x) > 1e9, editor.log_prob(x, x), 0.0)

    np.testing.assert_array_equal(flat_grads(compiled(eqx.filter_grad(masked))(editor)), 0)


# Local search


@compiled
def every_trajectory(q, space, z, trajectories):
    """log q of all trajectories that end in each state, and of stopping at that state."""
    log_q = jax.vmap(jax.vmap(lambda t: q.log_prob(t, z)))(trajectories)
    return log_q, log_sigmoid(jax.vmap(lambda x: q.stop(x, z))(space.enumerate()))


def all_trajectories(space, max_edits):
    groups = [exact.trajectories(space, x, max_edits) for x in space.enumerate()]
    return jax.tree.map(lambda *a: jnp.stack(a), *groups)


@pytest.mark.parametrize(("space", "max_edits"), SEARCHES, ids=repr)
def test_search_adds_up_to_one_because_the_stop_is_forced(space, max_edits):
    with exact.float64():
        q = tiny_search(space, max_edits=max_edits, q0=AutoregressiveMLP)
        group = all_trajectories(space, max_edits)
        log_q, log_stop = every_trajectory(q, space, None, group)
        np.testing.assert_allclose(np.exp(log_q).sum(), 1, atol=1e-12)
        # With a stop factor at the last edit as well, mass would be missing.
        at_the_end = group.num_edits == max_edits
        unforced = np.exp(log_q + jnp.where(at_the_end, log_stop[:, None], 0)).sum()
        still_running = np.sum(np.exp(log_q) * (1 - np.exp(log_stop))[:, None] * at_the_end)
        np.testing.assert_allclose(unforced, 1 - still_running, atol=1e-12)
        assert unforced < 0.99


@compiled
def sample_many(q, key, num_draws, z):
    return jax.vmap(lambda k: q.sample(k, z))(jax.random.split(key, num_draws))


marginal = compiled(exact.log_marginal)


@pytest.mark.parametrize(
    ("space", "max_edits", "cond_dim"),
    [(BITS, 0, 0), (BITS, 1, 0), (BITS, 3, 2), (CATEGORIES, 2, 0)],
    ids=repr,
)
def test_search_draws_match_the_marginal(space, max_edits, cond_dim):
    z = condition(cond_dim)
    q = tiny_search(space, max_edits=max_edits, cond_dim=cond_dim)
    with exact.float64():
        log_q = marginal(tiny_search(space, max_edits=max_edits, cond_dim=cond_dim), space, z)
    draws = sample_many(q, jax.random.key(0), 20_000, z)
    counts = np.bincount(jax.vmap(space.index)(draws.last), minlength=space.size)
    assert_draws_match(counts, np.exp(log_q))

    changes = np.asarray((draws.x[:, 1:] != draws.x[:, :-1]).sum(axis=2))
    made = np.arange(max_edits) < np.asarray(draws.num_edits)[:, None]
    np.testing.assert_array_equal(changes, made)  # an edit changes one site, padding none
    assert set(draws.num_edits.tolist()) == set(range(max_edits + 1))


@pytest.mark.parametrize(("max_edits", "cond_dim"), [(0, 0), (3, 2)])
def test_sample_ends_are_those_of_sample(max_edits, cond_dim):
    """The same draws from the same keys, for a batch that is halved on the way."""
    q, num_draws = tiny_search(BITS, max_edits=max_edits, cond_dim=cond_dim), 20
    z = jnp.asarray(np.resize(np.eye(2), (num_draws, 2))) if cond_dim else None

    @compiled
    def both(keys):
        return sample_ends(q, keys, z), jax.vmap(q.sample)(keys, z)

    (x, num_edits), draws = both(jax.random.split(jax.random.key(0), num_draws))
    np.testing.assert_array_equal(x, draws.last)
    np.testing.assert_array_equal(num_edits, draws.num_edits)
    assert set(num_edits.tolist()) == set(range(max_edits + 1))


def by_hand(q, x, t, z):
    """Eq. traj_q of the trajectory x_0..x_t, factor by factor."""
    log_q = q.q0.log_prob(x[0], z)
    for i in range(1, t + 1):
        log_q += jnp.log(1 - jax.nn.sigmoid(q.stop(x[i - 1], z)))
        log_q += q.editor.log_prob(x[i - 1], x[i], z)
    return log_q + (jnp.log(jax.nn.sigmoid(q.stop(x[t], z))) if t < q.max_edits else 0)


@with_and_without_z
def test_log_prob_is_eq_traj_q(cond_dim):
    with exact.float64():
        z = condition(cond_dim)
        q = tiny_search(BITS, max_edits=2, cond_dim=cond_dim)
        paths = exact.trajectories(BITS, jnp.array([1, 0, 1]), 2)

        @compiled
        def both(q, x):
            for_one_length = lambda x, t: (by_hand(q, x, t, z), q.log_prob(Trajectory(x, t), z))
            return [for_one_length(x, t) for t, x in x.items()]

        chosen = {t: paths.x[paths.num_edits.tolist().index(t)] for t in range(3)}
        for expected, log_q in both(q, chosen):
            np.testing.assert_allclose(log_q, expected, rtol=1e-12)


@pytest.mark.parametrize("scale", [1.0, 30.0])
def test_a_bounded_stop_policy_is_never_sure(scale):
    """The odds of stopping are o / (1 + o exp(-s)), with s free and o the odds of the bound.

    That is about exp(s) while it is small, and approaches o when it is large.
    """
    free = randomised(Stop, BITS, hidden=(4,), scale=scale)
    parts = lambda stop: (stop.features, stop.net)
    bounded = Stop(BITS, hidden=(4,), max_stop_prob=0.9, key=jax.random.key(0))
    bounded = eqx.tree_at(parts, bounded, parts(free))
    s, found = (np.asarray(jax.vmap(stop)(BITS.enumerate())) for stop in (free, bounded))
    expected = math.log(9) - np.logaddexp(0, math.log(9) - s.astype(float))
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
    assert np.ptp(s) > 0.1
    with pytest.raises(InputError, match=r"max_stop_prob must be in \(0, 1\], got 0"):
        Stop(BITS, max_stop_prob=0.0, key=jax.random.key(0))


def test_bad_searches():
    q0 = tiny_q0(Factorized, BITS)
    with pytest.raises(InputError, match="max_edits must not be negative, got -1"):
        LocalSearch(q0, max_edits=-1)
    with pytest.raises(InputError, match="max_edits=2 needs an editor and a stop policy"):
        LocalSearch(q0, tiny_editor(Flip, BITS), max_edits=2)


@pytest.mark.parametrize("part", [Factorized, AutoregressiveMLP, PositionValue, Flip])
def test_parts_that_know_no_padding_refuse_sequences(part):
    with pytest.raises(InputError, match="got Sequences"):
        part(Sequences(3, 2), key=jax.random.key(0))


def test_flip_is_for_bits():
    with pytest.raises(InputError, match="PositionValue"):
        Flip(Categorical(3, 3), key=jax.random.key(0))
