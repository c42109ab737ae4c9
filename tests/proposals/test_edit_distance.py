"""The edit distance proposal against plain-Python edits: every path, every count, every draw."""

from collections import Counter
from functools import cache
from itertools import pairwise

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from jaxtyping import Array

from aloex import exact
from aloex.base.errors import InputError
from aloex.proposals import EditDistance
from aloex.proposals.alignment import count_scripts
from aloex.samplers import Factorized
from aloex.spaces import Bits, Categorical, Sequences, Space
from aloex.trajectory import Trajectory
from stats import assert_draws_match


class PointMass(eqx.Module):
    """A q0 with one state."""

    x: Array

    def sample(self, key, z=None):
        return self.x

    def log_prob(self, x, z=None):
        return jnp.where(jnp.all(x == self.x), 0.0, -jnp.inf)


class Table(eqx.Module):
    """A q0 with a parameter for each state."""

    logits: Array
    space: Space = eqx.field(static=True)

    def sample(self, key, z=None):
        return self.space.enumerate()[jax.random.categorical(key, self.logits)]

    def log_prob(self, x, z=None):
        return jax.nn.log_softmax(self.logits)[self.space.index(x)]


def random_q0(space):
    return Table(jax.random.normal(jax.random.key(1), (space.size,)), space)


# The oracle: tuples of tokens, edits made one by one, nothing shared with the library.


def edits(space, x: tuple) -> list[tuple]:
    """The result of each single edit (kind, place, token), so some results come more than once."""
    values = range(space.num_values)
    found = [(*x[:i], v, *x[i + 1 :]) for i in range(len(x)) for v in values if v != x[i]]
    if isinstance(space, Sequences):
        found += [(*x[:i], *x[i + 1 :]) for i in range(len(x))]
        if len(x) < space.max_length:
            found += [(*x[:i], v, *x[i:]) for i in range(len(x) + 1) for v in values]
    return found


@cache
def distance(space, x: tuple, y: tuple) -> int:
    """Hamming or Levenshtein distance, by the recursion on last tokens."""
    if not isinstance(space, Sequences):
        return sum(a != b for a, b in zip(x, y, strict=True))
    if not x or not y:
        return len(x) + len(y)
    return min(
        distance(space, x[:-1], y[:-1]) + (x[-1] != y[-1]),
        distance(space, x[:-1], y) + 1,
        distance(space, x, y[:-1]) + 1,
    )


@cache
def num_scripts(space, x: tuple, y: tuple) -> int:
    """The number of shortest lists of edits from x to y that stay in the space."""
    closer = [s for s in edits(space, x) if distance(space, s, y) < distance(space, x, y)]
    return 1 if x == y else sum(num_scripts(space, s, y) for s in closer)


def path_prob(space, path: list[tuple]) -> float:
    """The share of the shortest lists of edits that pass through these states."""
    if len(path) - 1 != distance(space, path[0], path[-1]):
        return 0.0
    ways = [edits(space, x).count(y) for x, y in pairwise(path)]
    return float(np.prod(ways)) / num_scripts(space, path[0], path[-1])


def tokens(space, x) -> tuple:
    return tuple(v for v in np.asarray(x).tolist() if v < space.num_values)


def padded(space, x: tuple) -> np.ndarray:
    return np.array([*x, *[space.num_values] * (space.dim - len(x))], dtype=np.int32)


def states(space, x, num_edits) -> list[tuple]:
    """A trajectory as tuples, its padding cut off."""
    return [tokens(space, row) for row in np.asarray(x)[: int(num_edits) + 1]]


def stacked(space, paths: list[list[tuple]], max_edits: int) -> Trajectory:
    """Lists of states as one batch of trajectories."""
    full = [path + [path[-1]] * (max_edits + 1 - len(path)) for path in paths]
    table = np.array([[padded(space, x) for x in path] for path in full])
    return Trajectory(jnp.asarray(table), jnp.array([len(path) - 1 for path in paths], jnp.int32))


def paths_to(space, x: tuple, max_edits: int) -> list[list[tuple]]:
    """All lists of at most max_edits + 1 states, each one edit from the next, that end in x."""
    longest = [[x]]
    found = list(longest)
    for _ in range(max_edits):
        longest = [[y, *path] for path in longest for y in sorted(set(edits(space, path[0])))]
        found += longest
    return found


def shortest_paths(space, x_0: tuple, x: tuple) -> list[list[tuple]]:
    """All shortest ones from x_0 to x."""
    if x_0 == x:
        return [[x]]
    closer = {y for y in edits(space, x_0) if distance(space, y, x) < distance(space, x_0, x)}
    return [[x_0, *path] for y in sorted(closer) for path in shortest_paths(space, y, x)]


@pytest.mark.parametrize("space", [Bits(3), Categorical(2, 3), Sequences(3, 2)], ids=str)
def test_probabilities_of_all_trajectories_are_the_oracles_and_sum_to_one(space):
    with exact.float64():
        q0 = exact.to_float64(random_q0(space))
        proposal = EditDistance(q0, space=space, max_edits=3)
        ends = [tokens(space, x) for x in space.enumerate()]
        paths = [path for x in ends for path in paths_to(space, x, 3)]
        batch = stacked(space, paths, 3)
        probs = np.exp(eqx.filter_jit(eqx.filter_vmap(proposal.log_prob))(batch))
        start = np.exp(jax.vmap(q0.log_prob)(batch.first))
        shares = [path_prob(space, path) for path in paths]
        np.testing.assert_allclose(probs, start * shares, rtol=1e-12)
        totals = np.bincount([ends.index(path[-1]) for path in paths], weights=probs)
        np.testing.assert_allclose(totals, np.ones(space.size), rtol=1e-12)


LONG = Sequences(6, 3)
words = st.lists(st.integers(0, LONG.num_values - 1), max_size=LONG.max_length).map(tuple)


@eqx.filter_jit
def draw_between(key, x_0, x):
    """Eight draws from x_0 to x in LONG, with both log probabilities."""
    proposal = EditDistance(PointMass(x_0), space=LONG, max_edits=LONG.dim + 1)
    paths, log_s = proposal.sample_many(key, x, None, 8)
    return paths, log_s, jax.vmap(proposal.log_prob)(paths)


# The examples: both empty; two deletions and two insertions with no room to insert first; as many
# with a little room; long runs.
@settings(max_examples=60, deadline=None, derandomize=True)
@given(x_0=words, x=words, seed=st.integers(0, 2**31 - 1))
@example(x_0=(), x=(), seed=0)
@example(x_0=(2, 2, 0, 1, 0, 1), x=(0, 1, 0, 1, 2, 2), seed=0)
@example(x_0=(2, 0, 1, 0, 1), x=(0, 1, 0, 1, 2, 2), seed=0)
@example(x_0=(0, 0, 0, 0, 0, 0), x=(0,), seed=0)
@example(x_0=(), x=(1, 1, 1, 1, 1, 1), seed=0)
def test_draws_are_shortest_paths_to_the_target_with_the_oracles_probability(x_0, x, seed):
    with exact.float64():
        paths, log_s, log_prob = draw_between(
            jax.random.key(seed), jnp.asarray(padded(LONG, x_0)), jnp.asarray(padded(LONG, x))
        )
        np.testing.assert_allclose(log_s, log_prob, rtol=1e-12, atol=1e-12)
        for row, t, log_s_row in zip(np.asarray(paths.x), paths.num_edits, log_s, strict=True):
            path = states(LONG, row, t)
            assert t == distance(LONG, x_0, x)
            assert path[0] == x_0
            for before, after in pairwise(path):
                assert after in edits(LONG, before)
            for after_end in row[int(t) :]:
                np.testing.assert_array_equal(after_end, padded(LONG, x))
            np.testing.assert_allclose(np.exp(log_s_row), path_prob(LONG, path), rtol=1e-12)


@pytest.mark.parametrize(
    ("space", "x"),
    [(Bits(3), (0, 1, 1)), (Categorical(2, 3), (2, 0)), (Sequences(3, 2), (0, 1, 0))],
    ids=str,
)
def test_draws_have_the_stated_frequencies(space, x):
    check_frequencies(random_q0(space), space, paths_to(space, x, space.dim))


@pytest.mark.parametrize(
    ("x_0", "x"),
    [((2, 2, 0, 1), (0, 1, 2, 2)), ((2, 2, 1, 2), (1, 0, 0))],  # an insertion first would not fit
    ids=str,
)
def test_draws_from_a_full_sequence_have_the_stated_frequencies(x_0, x):
    space = Sequences(4, 3)
    q0 = PointMass(jnp.asarray(padded(space, x_0)))
    check_frequencies(q0, space, shortest_paths(space, x_0, x))


def check_frequencies(q0, space, paths):
    """H0: independent draws, each of `paths` with the probability `log_prob` states."""
    proposal = EditDistance(q0, space=space, max_edits=space.dim)
    batch = stacked(space, paths, space.dim)
    probs = np.exp(eqx.filter_jit(eqx.filter_vmap(proposal.log_prob))(batch))
    sample_many = eqx.filter_jit(proposal.sample_many)
    drawn, _ = sample_many(jax.random.key(0), batch.last[0], None, 20_000)
    counts = Counter(row.tobytes() for row in np.asarray(drawn.x))
    observed = [counts.pop(row.tobytes(), 0) for row in np.asarray(batch.x)]
    assert not counts, "a path outside the list was drawn"
    assert_draws_match(observed, probs)


def test_every_shortest_list_of_edits_is_counted_once():
    """All pairs of a space in which runs, overflow and mixed alignments occur."""
    space = Sequences(4, 2)

    @jax.jit
    @jax.vmap
    def count(x, y):
        scripts = count_scripts(x, y, space.pad)
        return scripts.distance, scripts.log_num

    with exact.float64():
        all_states = space.enumerate()
        words = [tokens(space, x) for x in all_states]
        i, j = np.divmod(np.arange(len(words) ** 2), len(words))
        distances, log_num = count(all_states[i], all_states[j])
        pairs = [(space, x, y) for x in words for y in words]
        np.testing.assert_array_equal(distances, [distance(*pair) for pair in pairs])
        np.testing.assert_allclose(np.exp(log_num), [num_scripts(*pair) for pair in pairs])


def test_log_prob_of_a_path_that_cannot_be_drawn_is_minus_infinity():
    space = Sequences(3, 2)
    paths = [
        (1, (0,), (0, 1), (0, 1), (0, 1)),
        (2, (0,), (0, 1), (0, 1), (0, 1)),  # a step without an edit
        (1, (0,), (0, 1), (0, 1, 1), (0, 1)),  # moves in the padding
        (2, (0,), (0, 0), (0, 1), (0, 1)),  # one edit too many
        (1, (0, 0), (1, 1), (1, 1), (1, 1)),  # two edits at once
        (3, (0, 0, 0), (0,), (1,), (1, 1, 1)),  # as many edits as it takes, but not one by one
    ]
    proposal = EditDistance(random_q0(space), space=space, max_edits=3)
    log_prob = eqx.filter_jit(eqx.filter_vmap(proposal.log_prob))
    batch = stacked(space, [list(path[1:]) for path in paths], 3)
    log_probs = log_prob(batch._replace(num_edits=jnp.array([path[0] for path in paths])))
    np.testing.assert_array_equal(np.isfinite(log_probs), [True, *[False] * 5])


@pytest.mark.parametrize("space", [Bits(4), Sequences(4, 2)], ids=str)
def test_compiles_for_a_batch_of_targets(space):
    proposal = EditDistance(random_q0(space), space=space, max_edits=4)
    targets = space.enumerate()[-5:]
    draw = eqx.filter_jit(jax.vmap(lambda k, x: proposal.sample_many(k, x, None, 3)))
    paths, log_s = draw(jax.random.split(jax.random.key(3), 5), targets)
    assert paths.x.shape == (5, 3, 5, 4)
    assert np.isfinite(log_s).all()
    np.testing.assert_array_equal(paths.last, np.repeat(targets[:, None], 3, axis=1))


def test_no_gradient_goes_to_q0():
    space = Bits(3)

    @eqx.filter_jit
    @eqx.filter_grad
    def gradient(q0):
        proposal = EditDistance(q0, space=space, max_edits=3)
        path, log_s = proposal.sample(jax.random.key(0), jnp.array([0, 1, 1]))
        return log_s + proposal.log_prob(path)

    np.testing.assert_array_equal(gradient(random_q0(space)).logits, np.zeros(space.size))


def test_a_condition_reaches_q0():
    space = Bits(2)
    q0 = eqx.tree_at(lambda q: q.weight, Factorized(space, cond_dim=1), jnp.ones((2, 1, 1)))
    proposal = EditDistance(q0, space=space, max_edits=2)
    sample, log_prob = eqx.filter_jit(proposal.sample), eqx.filter_jit(proposal.log_prob)
    x = jnp.array([1, 0])
    for value in (-50.0, 50.0):  # q0 is all zeros, then all ones; x is one edit away
        path, log_s = sample(jax.random.key(0), x, jnp.array([value]))
        np.testing.assert_array_equal(path.first, [value > 0] * 2)
        np.testing.assert_allclose(log_s, 0, atol=1e-6)
        np.testing.assert_allclose(log_prob(path, jnp.array([value])), log_s)


def test_room_holds_the_longest_paths():
    space = Bits(3)
    sizes = EditDistance(random_q0(space), space=space, max_edits=4).buffer_sizes(5, 2)
    assert sizes == (5 * 2 * 4, 10, (10, 10, 10))


@pytest.mark.parametrize("space", [Bits(3), Categorical(3, 4), Sequences(3, 4)], ids=str)
def test_too_few_edits_for_the_largest_distance_is_an_error(space):
    with pytest.raises(InputError, match=r"need max_edits >= 3, .* got max_edits=2"):
        EditDistance(None, space=space, max_edits=2)


class Search(eqx.Module):
    """As much of a q as `following` asks for."""

    q0: Table


def test_following_takes_the_q0_of_the_moment():
    """Draws start at the current q0, and log s_x is that of the current q0."""
    space = Bits(3)
    waiting = EditDistance(space=space, max_edits=3)
    x = space.enumerate()[2]
    for start in (0, 7):
        only = Table(jnp.full(space.size, -50.0).at[start].set(50.0), space)
        proposal = waiting.following(Search(only))
        trajectory, log_s = proposal.sample(jax.random.key(0), x)
        np.testing.assert_array_equal(trajectory.first, space.enumerate()[start])
        expected = EditDistance(only, space=space, max_edits=3).log_prob(trajectory)
        np.testing.assert_allclose(log_s, expected, rtol=1e-6)


def test_no_gradient_goes_to_the_q0_that_is_followed():
    space = Bits(3)
    waiting, x = EditDistance(space=space, max_edits=3), space.enumerate()[2]

    def log_s(q0):
        return waiting.following(Search(q0)).sample(jax.random.key(0), x)[1]

    gradient = eqx.filter_grad(log_s)(random_q0(space)).logits
    np.testing.assert_array_equal(gradient, np.zeros(space.size))


def test_a_proposal_without_q0_says_so():
    space = Bits(3)
    with pytest.raises(InputError, match=r"no q0 yet: use proposal.following\(q\)"):
        EditDistance(space=space, max_edits=3).sample(jax.random.key(0), space.enumerate()[2])
