"""`score` finds the log probabilities of `LocalSearch.log_prob` with less work."""

from functools import cache
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from aloex import exact
from aloex.base.errors import InputError
from aloex.proposals import Inverse
from aloex.samplers import (
    AutoregressiveMLP,
    Factorized,
    LocalSearch,
)
from aloex.samplers.local_search import score
from aloex.spaces import Bits, Categorical
from aloex.trajectory import BufferSizes, Trajectory
from stats import (
    compiled,
    flat_grads,
    tiny_q0,
    tiny_search,
)

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
    expected = np.repeat(compiled(jax.vmap(q.q0.log_prob))(x)[:, None], 2, axis=1)
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
