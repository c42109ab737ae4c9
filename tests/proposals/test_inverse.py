"""Inverse proposals: laws of trajectories that end in x, and room enough to score them."""

from functools import cache, partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from aloex import exact
from aloex.base.errors import InputError
from aloex.proposals import Inverse, LearnedInverse
from aloex.proposals.quantiles import sum_quantiles
from aloex.samplers import Flip, PositionValue, Stop
from aloex.spaces import Bits, Categorical
from aloex.trajectory import Trajectory, first_with_same_ending
from stats import assert_draws_match, compiled, condition, randomised, tiny_editor

BITS, CATEGORIES = Bits(3), Categorical(2, 3)


def learned(kind, space, *, max_edits, cond_dim=0):
    return LearnedInverse(
        tiny_editor(kind, space, cond_dim=cond_dim),
        randomised(Stop, space, hidden=(4,), cond_dim=cond_dim, scale=0.5),
        Inverse(space=space, max_edits=max_edits),
        inverse_share=0.2,
    )


PROPOSALS = {
    "repeats": lambda: Inverse(space=BITS, max_edits=3, walk_stop_prob=0.4),
    "shortest-paths": lambda: Inverse(space=BITS, max_edits=3, repeats=False),
    "categories": lambda: Inverse(space=CATEGORIES, max_edits=3),
    "categories-shortest-paths": lambda: Inverse(space=CATEGORIES, max_edits=2, repeats=False),
    "no-edits": lambda: Inverse(space=BITS, max_edits=0),
    "editor": lambda: Inverse(tiny_editor(Flip, BITS), space=BITS, max_edits=2, walk_stop_prob=0.3),
    "editor-z": lambda: Inverse(
        tiny_editor(PositionValue, CATEGORIES, cond_dim=2), space=CATEGORIES, max_edits=2
    ),
    "learned": lambda: learned(Flip, BITS, max_edits=3),
    "learned-z": lambda: learned(PositionValue, CATEGORIES, max_edits=2, cond_dim=2),
}
by_proposal = pytest.mark.parametrize("name", PROPOSALS)
NUM_DRAWS = 20_000


def build(name):
    """The proposal, a target and a condition."""
    proposal = PROPOSALS[name]()
    return proposal, proposal.space.enumerate()[3], condition(2 if name.endswith("-z") else 0)


@compiled
def log_probs(proposal, trajectories, z):
    return jax.vmap(lambda t: proposal.log_prob(t, z))(trajectories)


@cache
def all_paths(name):
    """Every trajectory that ends in the target, and its log s_x, in double precision."""
    with exact.float64():
        proposal, x, z = build(name)
        paths = exact.trajectories(proposal.space, x, proposal.max_edits)
        return paths, np.asarray(log_probs(proposal, paths, z))


@by_proposal
def test_adds_up_to_one_over_the_trajectories_that_end_in_x(name):
    paths, log_s = all_paths(name)
    np.testing.assert_allclose(np.exp(log_s).sum(), 1, atol=1e-12)
    changes = (np.asarray(paths.x[:, 1:]) != np.asarray(paths.x[:, :-1])).sum(axis=1)
    twice = (changes > 1).any(axis=1)
    if name.endswith("shortest-paths"):
        np.testing.assert_array_equal(np.isneginf(log_s), twice)
    else:
        assert np.isfinite(log_s).all()


@pytest.mark.parametrize("name", ["repeats", "shortest-paths"])
def test_what_is_no_walk_cannot_be_drawn(name):
    proposal, x, _ = build(name)
    two_sites_at_once = jnp.stack([1 - x, x, x, x])
    padding_that_moves = jnp.stack([x, x.at[0].set(1 - x[0]), x, x])
    states = jnp.stack([two_sites_at_once, padding_that_moves])
    assert np.isneginf(log_probs(proposal, Trajectory(states, jnp.array([1, 1])), None)).all()


@pytest.mark.parametrize("name", ["repeats", "shortest-paths", "editor"])
def test_lengths_are_geometric(name):
    """log s_x summed over the trajectories of each length is the truncated geometric law."""
    proposal, _, _ = build(name)
    paths, log_s = all_paths(name)
    p = proposal.walk_stop_prob
    geometric = p * (1 - p) ** np.arange(proposal.max_edits + 1)
    by_length = np.bincount(paths.num_edits, np.exp(log_s))
    np.testing.assert_allclose(by_length, geometric / geometric.sum(), rtol=1e-12)


@compiled
def draw_sets(proposal, x, z, n, num_sets, key):
    """`num_sets` independent sets of n trajectories and their log s_x, drawn and recomputed."""
    draw = lambda k: proposal.sample_many(k, x, z, n)
    trajectories, log_s = jax.vmap(draw)(jax.random.split(key, num_sets))
    return trajectories, log_s, jax.vmap(jax.vmap(lambda t: proposal.log_prob(t, z)))(trajectories)


def as_rows(trajectories):
    """Each trajectory as one row of numbers."""
    states = np.asarray(trajectories.x)
    return np.column_stack([states.reshape(len(states), -1), trajectories.num_edits])


def count_paths(trajectories, paths):
    """How often each of `paths` came up."""
    place = {tuple(row): i for i, row in enumerate(as_rows(paths).tolist())}
    kinds, counts = np.unique(as_rows(trajectories), axis=0, return_counts=True)
    total = np.zeros(len(place))
    total[[place[tuple(kind)] for kind in kinds.tolist()]] = counts
    return total


@pytest.mark.parametrize(
    ("name", "n"), [("repeats", 1), *((name, 6) for name in PROPOSALS if name != "no-edits")]
)
def test_draws(name, n):
    """Draws end in x, their log s_x is their log_prob, and each set follows s_x on average.

    The n draws of a set may be stratified, not independent: a random member of each set is.
    """
    proposal, x, z = build(name)
    trajectories, log_s, log_prob = draw_sets(proposal, x, z, n, NUM_DRAWS, jax.random.key(1))
    assert (trajectories.last == x).all()
    np.testing.assert_allclose(log_s, log_prob, rtol=1e-5, atol=1e-6)
    member = np.random.default_rng(0).integers(n, size=NUM_DRAWS)
    one_each = jax.tree.map(lambda a: np.asarray(a)[np.arange(NUM_DRAWS), member], trajectories)
    paths, exact_log_s = all_paths(name)
    assert_draws_match(count_paths(one_each, paths), np.exp(exact_log_s))
    if n > 1 and isinstance(
        proposal, Inverse
    ):  # draw j's length comes from the j-th n-th part of the lengths' distribution
        assert (np.diff(trajectories.num_edits, axis=1) >= 0).all()


def test_without_edits_there_is_one_trajectory():
    proposal, x, z = build("no-edits")
    trajectories, log_s, log_prob = draw_sets(proposal, x, z, 3, 2, jax.random.key(0))
    assert trajectories.x.shape == (2, 3, 1, 3)
    assert (trajectories.x == x).all()
    assert (trajectories.num_edits == 0).all()
    assert (log_s == 0).all()
    assert (log_prob == 0).all()


def test_sample_is_one_of_sample_many():
    proposal, x, _ = build("repeats")
    key = jax.random.key(5)
    trajectory, log_s = compiled(proposal.sample)(key, x)
    several, log_ss = compiled(proposal.sample_many)(key, x, None, 1)
    assert trajectory.x.tolist() == several.x[0].tolist()
    assert (trajectory.num_edits, log_s) == (several.num_edits[0], log_ss[0])


# BufferSizes

ROOMS = {
    "paper": (lambda: Inverse(space=Bits(32), max_edits=16), 128, 10),
    "odd-n": (lambda: Inverse(space=Bits(8), max_edits=5, walk_stop_prob=0.3), 16, 7),
    "shortest-paths": (lambda: Inverse(space=Bits(8), max_edits=8, repeats=False), 16, 3),
    "editor": (lambda: Inverse(tiny_editor(Flip, BITS), space=BITS, max_edits=4), 8, 4),
}


@eqx.filter_jit
def room_used(proposal, num_targets, n, key):
    """Edits, starts and starts that differ from x before site i, what is shared counted once."""
    key_x, key_draw = jax.random.split(key)
    x = jax.vmap(proposal.space.sample)(jax.random.split(key_x, num_targets))
    draw = lambda k, x: proposal.sample_many(k, x, None, n)[0]
    trajectories = jax.vmap(draw)(jax.random.split(key_draw, num_targets), x)
    t = trajectories.num_edits
    new = jax.vmap(first_with_same_ending)(trajectories) == jnp.arange(n)[:, None]
    whole = jnp.take_along_axis(new, t[:, :, None], axis=2)[:, :, 0]
    differs = (trajectories.first != x[:, None]) & whole[:, :, None]
    before = jnp.pad(jnp.cumsum(differs, axis=2)[..., :-1], ((0, 0), (0, 0), (1, 0))) > 0
    return jnp.sum(new[:, :, 1:]), jnp.sum(whole & (t > 0)), jnp.sum(before, axis=(0, 1))


@cache
def simulate(name, num_batches=200):
    build_proposal, num_targets, n = ROOMS[name]
    proposal = build_proposal()
    keys = jax.random.split(jax.random.key(2), num_batches)
    batch = partial(room_used, proposal, num_targets, n)
    used = [batch(key) for key in keys]
    return proposal.buffer_sizes(num_targets, n), [
        np.stack(column) for column in zip(*used, strict=True)
    ]


@pytest.mark.parametrize("name", ROOMS)
def test_room_is_never_exceeded(name):
    """In 200 batches; the promise is one batch in a million."""
    sizes, (edits, starts, changed_before) = simulate(name)
    assert edits.max() <= sizes.edits
    assert starts.max() <= sizes.starts
    assert len(sizes.changed_before) == changed_before.shape[1]
    assert (changed_before.max(axis=0) <= np.array(sizes.changed_before)).all()


def test_room_is_not_wasted():
    sizes, (edits, starts, _) = simulate("paper")
    assert sizes.edits <= 1.15 * edits.mean()
    assert sizes.starts <= 1.15 * starts.mean()


def test_no_room_without_edits():
    assert Inverse(space=BITS, max_edits=0).buffer_sizes(4, 5) == (0, 0, (0, 0, 0))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"max_edits": -1}, "max_edits must not be negative, got -1"),
        (
            {"max_edits": 4, "repeats": False},
            "repeats=False needs .* max_edits <= 3 sites, got max_edits=4",
        ),
        ({"max_edits": 2, "walk_stop_prob": 0.0}, r"walk_stop_prob must be in \(0, 1\), got 0.0"),
        ({"max_edits": 2, "walk_stop_prob": 1.0}, r"walk_stop_prob must be in \(0, 1\), got 1.0"),
        ({"max_edits": 2, "walk_stop_prob": 1.5}, r"walk_stop_prob must be in \(0, 1\), got 1.5"),
    ],
    ids=["negative", "too-many-edits", "never-stops", "never-starts", "no-probability"],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(InputError, match=message):
        Inverse(space=BITS, **arguments)


def test_shortest_paths_need_the_uniform_editor():
    with pytest.raises(InputError, match="repeats=False needs the uniform editor"):
        Inverse(tiny_editor(Flip, BITS), space=BITS, max_edits=2, repeats=False)


def slow_quantile(pmfs, copies, times, risk):
    """The definition: convolve everything, look up the tail."""
    law = np.ones(1)
    for pmf, count in zip(pmfs, copies, strict=True):
        for _ in range(count * times):
            law = np.convolve(law, pmf)
    tail = law[::-1].cumsum()[::-1]  # P(sum >= k), small terms first
    return int(np.flatnonzero(tail >= risk).max())


@pytest.mark.parametrize("risk", [0.3, 1e-3, 1e-6])
@pytest.mark.parametrize("times", [1, 40, 400])
def test_quantiles_of_sums_are_exact(times, risk):
    rng = np.random.default_rng(times)
    pmfs = [rng.dirichlet(np.full(width, 0.5), size=3) for width in (2, 7, 4)]
    copies = [3, 1, 2]
    rows = [[pmf[i] for pmf in pmfs] for i in range(3)]
    expected = [slow_quantile(row, copies, times, risk) for row in rows]
    assert sum_quantiles(pmfs, copies, times, risk=risk) == expected


def test_sizing_buffers_stays_cheap(monkeypatch):
    """What took minutes were long transforms, one for each walk and site."""
    lengths, rfft = [], np.fft.rfft
    monkeypatch.setattr(np.fft, "rfft", lambda a, n: (lengths.append(n), rfft(a, n))[1])
    Inverse(space=Bits(32), max_edits=16).buffer_sizes(128, 200)
    assert len(lengths) < 100 and max(lengths) < 4000
