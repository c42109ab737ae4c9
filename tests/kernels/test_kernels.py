"""One contract for every kernel: it leaves p_f unchanged, and its draws follow its matrix."""

import jax
import jax.numpy as jnp
import jaxtyping
import numpy as np
import pytest

from aloex import exact
from aloex.base.errors import InputError
from aloex.energies import MLP, Tabular
from aloex.kernels import Compose, Gibbs, run
from aloex.spaces import Bits, Categorical, Mixed, Sequences
from stats import assert_draws_match, compiled, condition, count_draws, randomised

BITS, CATEGORIES, FIVE = Bits(3), Categorical(2, 3), Bits(5)
MIXED, WORDS, PAIRS = Mixed((2, 3, 1)), Sequences(3, 3), Sequences(3, 2)

KERNELS = {
    "systematic": (Gibbs(BITS), BITS),
    "random": (Gibbs(BITS, scan="random"), BITS),
    "two-sweeps": (Gibbs(BITS, num_sweeps=2), BITS),
    "categories": (Gibbs(CATEGORIES), CATEGORIES),
    "categories-random": (Gibbs(CATEGORIES, scan="random"), CATEGORIES),
    "compose": (Compose((Gibbs(BITS), Gibbs(BITS, scan="random"))), BITS),
    "mixed": (Gibbs(MIXED), MIXED),
    "mixed-random": (Gibbs(MIXED, scan="random"), MIXED),
    "words": (Gibbs(WORDS), WORDS),
    "words-random": (Gibbs(WORDS, scan="random"), WORDS),
    "words-of-two-tokens": (Gibbs(PAIRS, num_sweeps=2), PAIRS),
}
WITH_CONDITION = ("systematic", "categories-random", "compose")
CASES = {name: (*KERNELS[name], 0) for name in KERNELS} | {
    f"{name}-z": (*KERNELS[name], 2) for name in WITH_CONDITION
}
by_kernel = pytest.mark.parametrize(("kernel", "space", "cond_dim"), CASES.values(), ids=CASES)


def energy(space, cond_dim):
    return randomised(MLP, space, hidden=(4,), cond_dim=cond_dim, embed_dim=2, scale=1.5)


@compiled
def matrix_and_target(kernel, space, f, z):
    return kernel.transition_matrix(space, f, z), jnp.exp(exact.log_p(f, space, z))


def exact_matrix(kernel, space, cond_dim):
    with exact.float64():
        both = matrix_and_target(kernel, space, energy(space, cond_dim), condition(cond_dim))
        return tuple(np.asarray(a) for a in both)


@by_kernel
def test_p_f_is_stationary(kernel, space, cond_dim):
    matrix, pi = exact_matrix(kernel, space, cond_dim)
    assert matrix.shape == (space.size, space.size)
    assert (matrix >= 0).all()
    np.testing.assert_allclose(matrix.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_allclose(pi @ matrix, pi, atol=1e-12)
    # ... which the identity would do as well, and any kernel if p_f were uniform:
    assert np.abs(matrix - np.eye(space.size)).max() > 0.1
    assert pi.max() > 3 * pi.min()


@by_kernel
def test_draws_follow_the_matrix(kernel, space, cond_dim):
    matrix, _ = exact_matrix(kernel, space, cond_dim)
    f, z = energy(space, cond_dim), condition(cond_dim)
    start = 2 if space.size < 10 else 7
    x = space.enumerate()[start]

    def draw(key):
        key_init, key_step = jax.random.split(key)
        return kernel.step(key_step, kernel.init(key_init, x, f, z), f)[0].x

    assert_draws_match(count_draws(space, draw), matrix[start])


@pytest.mark.parametrize("num_steps", [1, 3])
def test_run_takes_the_steps(num_steps):
    kernel = Gibbs(BITS, scan="random")  # slow enough that the number of steps shows
    f = randomised(Tabular, BITS, scale=2.0)
    matrix, _ = (np.asarray(a) for a in matrix_and_target(kernel, BITS, f, None))
    x = BITS.enumerate()[5]
    counts = count_draws(BITS, lambda key: run(kernel, key, x, f, num_steps=num_steps))
    assert_draws_match(counts, np.linalg.matrix_power(matrix, num_steps)[5])


def test_num_changed_counts_the_sites_that_changed():
    """In one systematic sweep every site is redrawn once, so it is the distance from x."""
    f, x = randomised(Tabular, CATEGORIES), jnp.array([0, 2])
    kernel = Gibbs(CATEGORIES)

    def step(key):
        state, info = kernel.step(key, kernel.init(key, x, f), f)
        return jnp.sum(state.x != x), info.num_changed

    distance, num_changed = compiled(jax.vmap(step))(jax.random.split(jax.random.key(0), 50))
    np.testing.assert_array_equal(num_changed, distance)
    assert set(num_changed.tolist()) == {0, 1, 2}


def sweep_ends(space, x, f, num_draws=200):
    """Where a sweep leads from x, often."""
    step = lambda key, x: run(Gibbs(space), key, x, f)
    keys = jax.random.split(jax.random.key(0), num_draws)
    return np.asarray(compiled(jax.vmap(step))(keys, jnp.tile(x, (num_draws, 1))))


def no_preference(x, z=None):
    return jnp.zeros(())


@pytest.mark.parametrize("space", [WORDS, PAIRS, Sequences(3, 1)], ids=repr)
def test_padding_stays_padding(space):
    x = jnp.array([0, space.pad, space.pad])
    ends = sweep_ends(space, x, no_preference)
    assert (ends[:, 1:] == space.pad).all()
    assert set(ends[:, 0]) == set(range(space.num_values))


def test_potts_states_stay_in_their_space():
    """With a kernel for bits, 1 - 2 = -1 came out."""
    space = Categorical(4, 3)
    ends = sweep_ends(space, jnp.full(4, 2), no_preference)
    assert set(ends.flat) == {0, 1, 2}


def test_values_that_a_site_does_not_have_are_redrawn():
    ends = sweep_ends(MIXED, jnp.array([2, 2, 2]), no_preference)
    assert [set(column) for column in ends.T] == [{0, 1}, {0, 1, 2}, {0}]


@pytest.mark.parametrize(
    ("x", "f", "message"),
    [
        ([0, 2, 0], no_preference, r"x must lie in 0..1 \(bits\), got 2 at row 0, site 1"),
        ([0, 1], no_preference, r"states of Bits\(dim=3\), shape \(3,\), got .* shape \(2,\)"),
        ([0, 1, 0], lambda x, z: jnp.sum(x), "one floating-point number, got int32.*1.0 \\* value"),
        ([0, 1, 0], lambda x, z: 1.0 * x, r"floating-point number, got .* shape \(3,\).*sum\(\)"),
        ([0, 1, 0], lambda x, z: jnp.sum(x) * jnp.nan, "is NaN"),
    ],
    ids=["value", "shape", "integers", "array", "NaN"],
)
def test_states_and_energies_that_cannot_be(x, f, message):
    with pytest.raises(InputError, match=message):
        run(Gibbs(BITS), jax.random.key(0), jnp.array(x), f)


def test_integers_are_refused_in_compiled_code_too():
    with pytest.raises(InputError, match="one floating-point number, got int32"):
        sweep_ends(BITS, jnp.zeros(3, jnp.int32), lambda x, z: jnp.sum(x))


@pytest.mark.parametrize("space", [BITS, CATEGORIES], ids=repr)
def test_nan_shows(space):
    """A chain moves to a state whose energy is NaN and stays there, so that NaN is found."""
    f = lambda x, z: jnp.where(x[0] == 1, jnp.nan, 0.0)
    ends = sweep_ends(space, jnp.zeros(space.dim, jnp.int32), f)
    assert (ends[:, 0] == 1).all()


def test_the_matrix_is_that_of_the_kernel_s_space():
    with pytest.raises(InputError, match=r"states of Bits\(dim=3\), not those of Bits\(dim=5\)"):
        Gibbs(BITS).transition_matrix(FIVE, no_preference)


def test_no_steps_are_refused():
    with pytest.raises(InputError, match="num_steps must be at least 1, got 0"):
        run(Gibbs(BITS), jax.random.key(0), jnp.zeros(3, jnp.int32), no_preference, num_steps=0)


class CountingEnergy:
    """An energy that counts how often it is evaluated when the program runs."""

    def __init__(self):
        self.calls = 0

    def _count(self, _):  # the argument makes vmap call it once for each element
        self.calls += 1

    def __call__(self, x, z=None):
        jax.debug.callback(self._count, x)
        return jnp.sum(x * 0.3)


class CountingIncrementalEnergy(CountingEnergy):
    """The same with first-layer sums: what counts is how often the head is evaluated."""

    def hidden(self, x, z=None):
        return jnp.sum(x * 0.3)[None]

    def site(self, i, v):
        return (v * 0.3)[None]

    def head(self, hidden):
        jax.debug.callback(self._count, hidden)
        return hidden[0]


EVALUATIONS = {
    "one-per-flip-and-one-to-start": (Gibbs(FIVE), FIVE, 1 + 5),
    "random": (Gibbs(FIVE, scan="random"), FIVE, 1 + 5),
    "two-sweeps": (Gibbs(FIVE, num_sweeps=2), FIVE, 1 + 2 * 5),
    "K-less-one-per-site": (Gibbs(Categorical(3, 4)), Categorical(3, 4), 1 + 3 * 3),
    "compose": (Compose((Gibbs(FIVE), Gibbs(FIVE, num_sweeps=2))), FIVE, (1 + 5) + (1 + 2 * 5)),
}


@pytest.mark.parametrize(("kernel", "space", "expected"), EVALUATIONS.values(), ids=EVALUATIONS)
def test_number_of_energy_evaluations(kernel, space, expected):
    count_evaluations(CountingEnergy(), kernel, space, expected)


def test_number_of_head_evaluations():
    count_evaluations(CountingIncrementalEnergy(), *EVALUATIONS["K-less-one-per-site"])


def count_evaluations(f, kernel, space, expected):
    jax.block_until_ready(run(kernel, jax.random.key(0), jnp.zeros(space.dim, jnp.int32), f))
    jax.effects_barrier()
    assert f.calls == expected


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"space": 2}, r"Gibbs needs the space of x, such as Gibbs\(Bits\(8\)\), got 2"),
        ({"num_sweeps": 0}, "num_sweeps must be at least 1, got 0"),
        ({"scan": "zigzag"}, "scan must be one of .*, got 'zigzag'"),
    ],
    ids=["space", "num_sweeps", "scan"],
)
def test_bad_arguments(arguments, message, monkeypatch):
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)  # it would speak first
    with pytest.raises(InputError, match=message):
        Gibbs(**{"space": BITS, **arguments})


def test_compose_needs_a_kernel():
    with pytest.raises(InputError, match="at least one kernel"):
        Compose(())
