"""The learned search as a Metropolis-Hastings kernel: exact whatever q and the backward law are."""

from functools import cache
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from aloex import exact
from aloex.base.errors import InputError
from aloex.energies import MLP
from aloex.kernels import SearchMetropolis, run
from aloex.proposals import Inverse
from aloex.spaces import Bits, Categorical, Mixed
from aloex.trajectory import Trajectory
from stats import assert_draws_match, compiled, condition, count_draws, randomised, tiny_search

CASES = {
    "bits-z": (Bits(2), 2, 2),
    "categories": (Categorical(2, 3), 1, 0),
}
by_case = pytest.mark.parametrize("name", CASES)


def kernel_and_energy(space, max_edits, cond_dim):
    q = tiny_search(space, max_edits=max_edits, cond_dim=cond_dim)
    backward = Inverse(space=space, max_edits=max_edits)
    f = randomised(MLP, space, hidden=(4,), cond_dim=cond_dim, embed_dim=2, scale=1.5)
    return SearchMetropolis(q, backward, space=space), f


@cache
def exact_matrix(name):
    space, _, cond_dim = CASES[name]

    @compiled
    def matrix_and_target(kernel, f, z):
        return kernel.transition_matrix(space, f, z), jnp.exp(exact.log_p(f, space, z))

    with exact.float64():
        kernel, f = exact.to_float64(kernel_and_energy(*CASES[name]))
        return tuple(np.asarray(a) for a in matrix_and_target(kernel, f, condition(cond_dim)))


@by_case
def test_p_f_is_stationary(name):
    matrix, pi = exact_matrix(name)
    assert (matrix >= 0).all()
    np.testing.assert_allclose(matrix.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_allclose(pi @ matrix, pi, atol=1e-12)
    flow = pi[:, None] * matrix
    np.testing.assert_allclose(flow, flow.T, atol=1e-12)
    assert (matrix > 0).all() and np.diag(matrix).max() < 1
    assert pi.max() > 3 * pi.min()


def test_draws_follow_the_matrix():
    """After two steps: the second draws another trajectory for the state that the first left."""
    (space, _, cond_dim), (matrix, _) = CASES["bits-z"], exact_matrix("bits-z")
    (kernel, f), z = kernel_and_energy(*CASES["bits-z"]), condition(cond_dim)
    x = space.enumerate()[2]
    draw = lambda key: run(kernel, key, x, f, z, num_steps=2)
    assert_draws_match(count_draws(space, draw), (matrix @ matrix)[2])


def test_the_state_belongs_to_its_trajectory():
    kernel, f = kernel_and_energy(Bits(2), 2, 0)
    x = jnp.array([1, 0])

    @compiled
    @jax.vmap
    def both(key):
        state = kernel.init(key, x, f)
        log_s, log_q = (law.log_prob(state.trajectory) for law in (kernel.backward, kernel.q))
        return state, log_s - log_q

    state, log_ratio = both(jax.random.split(jax.random.key(0), 20))
    assert (state.trajectory.last == x).all() and len(set(state.trajectory.num_edits.tolist())) > 1
    np.testing.assert_allclose(state.log_s_less_log_q, log_ratio, rtol=1e-5)


class Stays(NamedTuple):
    """A q, and a backward law, that knows a single state."""

    x: tuple

    def sample(self, key, *x_and_z):
        trajectory = Trajectory(jnp.array([self.x]), jnp.array(0))
        return (trajectory, jnp.array(0.0)) if len(x_and_z) == 2 else trajectory

    def log_prob(self, trajectory, z=None):
        return jnp.array(0.0)


@pytest.mark.parametrize(("drawn", "acceptance"), [((1, 2, 0), 1), ((1, 2, 1), 0), ((2, 2, 0), 0)])
def test_values_that_a_site_does_not_have_are_refused(drawn, acceptance):
    space, f = Mixed((2, 3, 1)), lambda x, z=None: 1.0 * x.sum()
    kernel = SearchMetropolis(Stays(drawn), Stays((0, 0, 0)), space=space)
    state = kernel.init(jax.random.key(0), jnp.array([0, 0, 0]), f)
    after, info = kernel.step(jax.random.key(1), state, f)
    assert info.acceptance == acceptance and info.num_evaluations == 1
    assert after.x.tolist() == (list(drawn) if acceptance else [0, 0, 0])
    assert after.value == sum(after.x.tolist()) and info.num_changed == 2 * acceptance


def test_lengths_must_agree():
    kernel, f = kernel_and_energy(Bits(2), 2, 0)
    kernel = SearchMetropolis(kernel.q, Inverse(space=Bits(2), max_edits=1), space=Bits(2))
    with pytest.raises(InputError, match=r"\(3, 2\) from q and \(2, 2\).*same max_edits"):
        kernel.init(jax.random.key(0), jnp.array([1, 0]), f)
