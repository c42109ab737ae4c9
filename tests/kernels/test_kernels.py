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
from aloex.spaces import Bits, Categorical
from stats import assert_draws_match, compiled, condition, count_draws, randomised

BITS, CATEGORIES = Bits(3), Categorical(2, 3)

KERNELS = {
    "systematic": (Gibbs(), BITS),
    "random": (Gibbs(scan="random"), BITS),
    "two-sweeps": (Gibbs(num_sweeps=2), BITS),
    "categories": (Gibbs(num_values=3), CATEGORIES),
    "categories-random": (Gibbs(num_values=3, scan="random"), CATEGORIES),
    "compose": (Compose((Gibbs(), Gibbs(scan="random"))), BITS),
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
    start = 2
    x = space.enumerate()[start]

    def draw(key):
        key_init, key_step = jax.random.split(key)
        return kernel.step(key_step, kernel.init(key_init, x, f, z), f)[0].x

    assert_draws_match(count_draws(space, draw), matrix[start])


@pytest.mark.parametrize("num_steps", [1, 3])
def test_run_takes_the_steps(num_steps):
    kernel = Gibbs(scan="random")  # slow enough that the number of steps shows
    f = randomised(Tabular, BITS, scale=2.0)
    matrix, _ = (np.asarray(a) for a in matrix_and_target(kernel, BITS, f, None))
    x = BITS.enumerate()[5]
    counts = count_draws(BITS, lambda key: run(kernel, key, x, f, num_steps=num_steps))
    assert_draws_match(counts, np.linalg.matrix_power(matrix, num_steps)[5])


def test_num_changed_counts_the_sites_that_changed():
    """In one systematic sweep every site is redrawn once, so it is the distance from x."""
    f, x = randomised(Tabular, CATEGORIES), jnp.array([0, 2])
    kernel = Gibbs(num_values=3)

    def step(key):
        state, info = kernel.step(key, kernel.init(key, x, f), f)
        return jnp.sum(state.x != x), info.num_changed

    distance, num_changed = compiled(jax.vmap(step))(jax.random.split(jax.random.key(0), 50))
    np.testing.assert_array_equal(num_changed, distance)
    assert set(num_changed.tolist()) == {0, 1, 2}


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
    "one-per-flip-and-one-to-start": (Gibbs(), Bits(5), 1 + 5),
    "random": (Gibbs(scan="random"), Bits(5), 1 + 5),
    "two-sweeps": (Gibbs(num_sweeps=2), Bits(5), 1 + 2 * 5),
    "K-less-one-per-site": (Gibbs(num_values=4), Categorical(3, 4), 1 + 3 * 3),
    "compose": (Compose((Gibbs(), Gibbs(num_sweeps=2))), Bits(5), (1 + 5) + (1 + 2 * 5)),
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
        ({"num_values": 1}, "num_values must be at least 2, got 1"),
        ({"num_sweeps": 0}, "num_sweeps must be at least 1, got 0"),
        ({"scan": "zigzag"}, "scan must be one of .*, got 'zigzag'"),
    ],
    ids=["num_values", "num_sweeps", "scan"],
)
def test_bad_arguments(arguments, message, monkeypatch):
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)  # it would speak first
    with pytest.raises(InputError, match=message):
        Gibbs(**arguments)


def test_compose_needs_a_kernel():
    with pytest.raises(InputError, match="at least one kernel"):
        Compose(())
