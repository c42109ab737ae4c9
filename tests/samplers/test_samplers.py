"""Samplers: every q0, editor and local search is a distribution, and its draws follow it."""

import math
from functools import cache
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.nn import log_sigmoid

from aloex import exact
from aloex.base.errors import InputError
from aloex.proposals import Inverse
from aloex.samplers import (
    AutoregressiveMLP,
    AutoregressiveRNN,
    Factorized,
    Flip,
    LocalSearch,
    PositionValue,
    Stop,
)
from aloex.samplers.local_search import sample_ends, score
from aloex.spaces import Bits, Categorical, Sequences
from aloex.trajectory import BufferSizes, Trajectory
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


# `score`: the same numbers with less work

NUM_TARGETS, N = 6, 8
SPACE, MAX_EDITS = Bits(6), 3  # two groups of sites in AutoregressiveMLP.log_prob_near

SCORED = {
    "factorized-z": (SPACE, Factorized, 2),
    "prefixes-z": (SPACE, AutoregressiveMLP, 2),
    "prefixes-categories": (Categorical(5, 3), AutoregressiveMLP, 0),
}


@compiled
def draw_targets(space, proposal, key):
    """Targets and trajectories that end in them; the third is the same as the last."""
    key_x, key_draw = jax.random.split(key)
    x = jax.vmap(space.sample)(jax.random.split(key_x, NUM_TARGETS))
    draw = lambda key, x: proposal.sample_many(key, x, None, N)[0]
    trajectories = jax.vmap(draw)(jax.random.split(key_draw, NUM_TARGETS), x)
    return x, jax.tree.map(lambda a: a.at[:, 2].set(a[:, -1]), trajectories)


class Problem(NamedTuple):
    q: LocalSearch
    x: jax.Array
    trajectories: Trajectory
    z: jax.Array | None
    proposal: Inverse
    log_q: jax.Array  # what `score` must find


@cache
def problem(space=SPACE, q0=AutoregressiveMLP, cond_dim=0):
    """Something to score, and its scores one by one, in double precision."""
    with exact.float64():
        q = tiny_search(space, max_edits=MAX_EDITS, q0=q0, cond_dim=cond_dim)
        proposal = Inverse(space=space, max_edits=MAX_EDITS)
        x, trajectories = draw_targets(space, proposal, jax.random.key(0))
        z = jnp.asarray(np.resize(np.eye(cond_dim), (NUM_TARGETS, cond_dim))) if cond_dim else None
        log_q, _ = compiled(one_by_one)(q, x, trajectories, z)
    return Problem(q, x, trajectories, z, proposal, log_q)


@pytest.fixture
def double_precision():
    with exact.float64():
        yield


def as_lists(trajectories):
    """Per target, each trajectory as something that can be compared."""
    return [
        [(tuple(map(tuple, x)), t) for x, t in zip(xs, ts, strict=True)]
        for xs, ts in zip(trajectories.x.tolist(), trajectories.num_edits.tolist(), strict=True)
    ]


def one_by_one(q, x, trajectories, z, sizes=None):
    """What `score` must equal."""
    log_q = jax.vmap(lambda ts, z: jax.vmap(lambda t: q.log_prob(t, z))(ts))(trajectories, z)
    return log_q, jnp.ones(log_q.shape, bool)


@compiled
def value_and_grad(scorer, q, x, trajectories, z, sizes):
    """Scores, fits, and the gradient of a sum of scores with weights that are all different."""
    weights = jnp.arange(1.0, 1 + NUM_TARGETS * N).reshape(NUM_TARGETS, N)

    def total(q):
        log_q, fits = scorer(q, x, trajectories, z, sizes)
        return jnp.sum(weights * jnp.where(fits, log_q, 0)), (log_q, fits)

    (_, (log_q, fits)), grads = eqx.filter_value_and_grad(total, has_aux=True)(q)
    return log_q, fits, flat_grads(grads)


score_jit = compiled(score)
by_scored = pytest.mark.parametrize(("space", "q0", "cond_dim"), SCORED.values(), ids=SCORED)


@by_scored
def test_score_with_all_the_room_equals_log_prob(space, q0, cond_dim, double_precision):
    q, x, trajectories, z, _, expected = problem(space, q0, cond_dim)
    assert any(t and ps.count((x, t)) > 1 for ps in as_lists(trajectories) for x, t in ps)
    log_q, fits = score_jit(q, x, trajectories, z)
    assert fits.all()
    np.testing.assert_allclose(log_q, expected, rtol=1e-12)


@by_scored
def test_score_with_the_proposal_s_room_equals_log_prob(space, q0, cond_dim, double_precision):
    """Values, and gradients too: spare rows must not send anything backwards."""
    q, x, trajectories, z, proposal, expected = problem(space, q0, cond_dim)
    _, _, expected_grads = value_and_grad(one_by_one, q, x, trajectories, z, None)
    sizes = proposal.buffer_sizes(NUM_TARGETS, N)
    log_q, fits, grads = value_and_grad(score, q, x, trajectories, z, sizes)
    assert fits.all()
    np.testing.assert_allclose(log_q, expected, rtol=1e-12)
    np.testing.assert_allclose(grads, expected_grads, rtol=1e-10, atol=1e-12)


def test_score_without_edits_is_q0():
    q = LocalSearch(tiny_q0(AutoregressiveMLP, SPACE))
    x = SPACE.enumerate()[:4]
    no_edits = Trajectory(jnp.tile(x[:, None, None], (1, 2, 1, 1)), jnp.zeros((4, 2), jnp.int32))
    log_q, fits = score_jit(q, x, no_edits)
    assert fits.all()
    expected = np.repeat(log_probs(q.q0, x, None)[:, None], 2, axis=1)
    np.testing.assert_allclose(log_q, expected, rtol=1e-6)


@pytest.mark.parametrize("max_edits", [1, 5])
def test_trajectories_of_another_length_are_refused(max_edits):
    """q.max_edits decides where stopping is forced: other trajectories cannot be scored."""
    _, x, trajectories, *_ = problem()
    q = tiny_search(SPACE, max_edits=max_edits)
    with pytest.raises(InputError, match="max_edits"):
        jax.eval_shape(lambda: score(q, x, trajectories))


PLENTY = 100


def fits_by_hand(trajectories, *, edits=PLENTY, starts=PLENTY):
    """Which trajectories find room, in plain Python.

    Edits take their rows in order, shared endings once; so do starts, but for those without edits.
    """
    edit_row, start_row, fits = {}, {}, []
    for target, paths in enumerate(as_lists(trajectories)):
        for states, t in paths:
            endings = [(target, states[t - m : t + 1]) for m in range(1, t + 1)]
            rows = [edit_row.setdefault(e, len(edit_row)) for e in endings]
            start = start_row.setdefault((target, states, t), len(start_row)) if t else -1
            fits.append(start < starts and all(row < edits for row in rows))
    return np.reshape(fits, trajectories.num_edits.shape)


def score_with_little_room(q0, *, edits=PLENTY, starts=PLENTY):
    """Whether each trajectory was scored; those that were must have the right score."""
    q, x, trajectories, z, _, expected = problem(q0=q0)
    sizes = BufferSizes(edits, starts, (starts,) * SPACE.dim)
    log_q, fits = score_jit(q, x, trajectories, z, sizes)
    np.testing.assert_allclose(log_q[fits], expected[fits], rtol=1e-12)
    assert np.isneginf(log_q[~fits]).all()
    return np.asarray(fits), trajectories


@pytest.mark.parametrize("limit", [{"edits": 17}, {"starts": 9}], ids=str)
@pytest.mark.parametrize("q0", [Factorized, AutoregressiveMLP])
def test_too_little_room_leaves_out_some_and_spoils_none(limit, q0, double_precision):
    fits, trajectories = score_with_little_room(q0, **limit)
    exactly = fits_by_hand(trajectories, **limit)
    assert 0.1 < np.mean(exactly) < 0.9
    np.testing.assert_array_equal(fits, exactly)


def room_needed(x, trajectories):
    """The distinct edited starts, and for each site i how many differ from x before it."""
    differs = [
        np.array(states[0]) != target
        for target, paths in zip(np.asarray(x), as_lists(trajectories), strict=True)
        for states, t in set(paths)
        if t > 0
    ]
    before = np.cumsum(np.pad(differs, ((0, 0), (1, 0)))[:, :-1], axis=1) > 0
    return len(differs), before.sum(axis=0)


@pytest.mark.parametrize("short_by", [0, 3])
def test_room_for_changed_prefixes(short_by, double_precision):
    q, x, trajectories, z, _, expected = problem()
    num_starts, changed_before = room_needed(x, trajectories)
    sizes = BufferSizes(
        PLENTY, num_starts, tuple(np.maximum(changed_before - short_by, 0).tolist())
    )
    log_q, fits = score_jit(q, x, trajectories, z, sizes)
    assert fits.all() == (short_by == 0)
    assert fits[trajectories.num_edits == 0].all()
    assert fits.mean() > 0.5
    np.testing.assert_allclose(log_q[fits], expected[fits], rtol=1e-12)
    assert np.isneginf(log_q[~fits]).all()


@pytest.mark.parametrize("order", [1, -1], ids=["first-site-first", "first-site-last"])
def test_spare_starts_take_no_room_from_changed_prefixes(order):
    """One edit at each site, and 20 rows of `starts` more than there are."""
    q, dim = tiny_search(SPACE, max_edits=1, q0=AutoregressiveMLP), SPACE.dim
    x = jnp.zeros((1, dim), jnp.int32)
    starts = jnp.asarray(np.eye(dim, dtype=np.int32)[None, ::order])
    trajectories = Trajectory(
        jnp.stack([starts, jnp.zeros_like(starts)], axis=2), jnp.ones((1, dim), jnp.int32)
    )
    sizes = BufferSizes(edits=dim, starts=dim + 20, changed_before=tuple(range(dim)))
    _, fits = score_jit(q, x, trajectories, None, sizes)
    assert fits.all()


@pytest.mark.parametrize("part", [Factorized, AutoregressiveMLP, PositionValue, Flip])
def test_parts_that_know_no_padding_refuse_sequences(part):
    with pytest.raises(InputError, match="got Sequences"):
        part(Sequences(3, 2), key=jax.random.key(0))


def test_flip_is_for_bits():
    with pytest.raises(InputError, match="PositionValue"):
        Flip(Categorical(3, 3), key=jax.random.key(0))
