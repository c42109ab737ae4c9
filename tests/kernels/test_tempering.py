"""Parallel tempering: the joint law of the replicas, by enumeration, and walkers' round trips."""

from functools import cache, reduce

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from aloex import cursor, exact
from aloex import differences as diff
from aloex.base.errors import InputError
from aloex.cursor import Incremental
from aloex.energies import MLP
from aloex.kernels import Gibbs, ParallelTempering, RandomWalk
from aloex.kernels.tempered import tempered
from aloex.spaces import Bits
from stats import assert_draws_match, compiled, count_draws, randomised

SPACE = Bits(2)
BASE = lambda x, z=None: 0.7 * x[0] - 0.4 * x[0] * x[1]
KERNELS = {
    "odd": (ParallelTempering(Gibbs(SPACE), [0.3, 0.6, 1.0]), 1),
    "base": (ParallelTempering(RandomWalk(SPACE), [0.0, 1.0], base=BASE, num_steps=2), 0),
}
by_kernel = pytest.mark.parametrize("name", KERNELS)


def energy():
    return randomised(MLP, SPACE, hidden=(4,), scale=1.5)


@cache
def exact_matrix(name):
    kernel, parity = KERNELS[name]

    @compiled
    def matrix_and_laws(f):
        at = lambda b: exact.log_p(tempered(f, b, kernel.base), SPACE)
        matrix = kernel.transition_matrix(SPACE, f, parity=parity)
        return matrix, jnp.exp(jax.vmap(at)(kernel.inverse_temperatures))

    with exact.float64():
        return tuple(np.asarray(a) for a in matrix_and_laws(exact.to_float64(energy())))


@by_kernel
def test_the_joint_law_of_the_replicas_is_stationary(name):
    matrix, laws = exact_matrix(name)
    pi = reduce(np.kron, laws)
    assert matrix.shape == (len(pi), len(pi)) and (matrix >= 0).all()
    np.testing.assert_allclose(matrix.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_allclose(pi @ matrix, pi, atol=1e-12)
    with exact.float64():  # the coldest has the law asked for
        log_p = compiled(lambda f: exact.log_p(f, SPACE))(exact.to_float64(energy()))
    np.testing.assert_allclose(laws[-1], np.exp(log_p), atol=1e-12)
    assert np.abs(laws[0] - laws[-1]).max() > 0.1


@by_kernel
def test_draws_follow_the_matrix(name):
    (kernel, parity), (matrix, _) = KERNELS[name], exact_matrix(name)
    f, start, n = energy(), 2, len(kernel.inverse_temperatures)
    joint = Joint(n)

    def draw(key):
        key_init, key_step = jax.random.split(key)
        state = kernel.init(key_init, SPACE.enumerate()[start], f)
        state = state._replace(parity=jnp.asarray(parity, jnp.int32))
        return kernel.step(key_step, state, f)[0].replicas.x

    all_alike = sum(start * SPACE.size**i for i in range(n))
    assert_draws_match(count_draws(joint, draw), matrix[all_alike])


class Joint(eqx.Module):
    """The space of all replicas' states, as far as counting them needs one."""

    n: int

    @property
    def size(self):
        return SPACE.size**self.n

    def index(self, x):
        return jax.vmap(SPACE.index)(x) @ SPACE.size ** jnp.arange(self.n - 1, -1, -1)


def test_round_trips_are_counted():
    """If all states are alike every swap is made, and walkers go up and down like clockwork."""
    n, num_steps = 4, 40
    kernel = ParallelTempering(Gibbs(SPACE), jnp.linspace(0, 1, n))
    flat = lambda x, z=None: jnp.zeros(())

    @compiled
    def chains(keys):
        step = lambda state, key: kernel.step(key, state, flat)

        def chain(key):
            state = kernel.init(key, jnp.zeros(2, jnp.int32), flat)
            return jax.lax.scan(step, state, jax.random.split(key, num_steps))

        return jax.vmap(chain)(keys)

    state, info = chains(jax.random.split(jax.random.key(0), 2))
    assert state.x.shape == (2, 2) and state.value.shape == (2,)
    order, been, trips = list(range(n)), {n - 1: "cold"}, 0
    for t in range(num_steps):
        for i in range(t % 2, n - 1, 2):
            order[i], order[i + 1] = order[i + 1], order[i]
        trips += been.get(order[-1]) == "hot"
        been[order[-1]] = "cold"
        if been.get(order[0]) == "cold":
            been[order[0]] = "hot"
    assert trips > 10
    assert state.num_round_trips.tolist() == [trips, trips]
    assert state.walker.tolist() == [order, order]
    turns = [[(i + t) % 2 == 0 for i in range(n - 1)] for t in range(num_steps)]
    np.testing.assert_array_equal(info.swap_proposed, [turns, turns])
    np.testing.assert_array_equal(info.swap_acceptance, [turns, turns])


def test_a_tempered_energy_offers_what_the_energy_offers():
    f, b = energy(), jnp.array(0.3)
    own = Own()
    x = jnp.array([1, 0])
    assert isinstance(tempered(f, b), Incremental)
    assert not isinstance(tempered(f, b, BASE), Incremental)
    both = tempered(f, b, randomised(MLP, SPACE, hidden=(3,), seed=1))
    there = cursor.change(both, cursor.start(both, x), 0, jnp.array(0))
    np.testing.assert_allclose(there.value, both(there.x), rtol=1e-5)
    assert there.hidden.shape == (7,)
    assert diff.are_own_and_exact(tempered(own, b))
    assert diff.are_own_and_exact(tempered(own, b, Own()))
    assert not isinstance(tempered(own, b, f), diff.OffersDifferences)

    @compiled
    def tables(how):
        energies = (tempered(own, b), tempered(own, b, Own()), tempered(f, b))
        return [diff.differences(f_b, SPACE, x, how=how) for f_b in energies]

    def by_value(f):
        value = lambda x: float(f(jnp.array(x)))
        others = [[value([0, 0]), value([1, 0])], [value([1, 0]), value([1, 1])]]
        return np.array(others) - value([1, 0])

    scaled, same, by_changes = tables("exact")
    np.testing.assert_allclose(scaled, 0.3 * own.differences(x), rtol=1e-6)
    np.testing.assert_allclose(same, own.differences(x), rtol=1e-6)
    np.testing.assert_allclose(by_changes, 0.3 * by_value(f), rtol=1e-5)
    _, _, by_gradient = tables("auto")
    np.testing.assert_allclose(
        by_gradient, 0.3 * diff.differences(f, SPACE, x, how="gradient"), rtol=1e-5
    )


class Own(eqx.Module):
    differences_are_exact: bool = eqx.field(static=True, default=True)

    def __call__(self, x, z=None):
        return 1.0 * x.sum()

    def differences(self, x, z=None):
        return 1.0 * (jnp.arange(2) - x[:, None])


def test_what_is_impossible_is_possible_where_only_the_base_counts():
    f = lambda x, z=None: jnp.where(x[0] == 1, -jnp.inf, 1.0)
    values = [float(tempered(f, jnp.array(b))(jnp.array([1, 0]))) for b in (0.0, 0.5, 1.0)]
    assert values == [0, -np.inf, -np.inf]
    assert float(tempered(BASE, jnp.array(1.0), f)(jnp.array([1, 0]))) == np.float32(0.7)


@pytest.mark.parametrize(
    ("ladder", "settings", "message"),
    [
        ([1.0], {}, "two temperatures or more"),
        ([0.5, 0.2, 1.0], {}, "must rise from 0 or more to 1"),
        ([0.5, 0.9], {}, "must rise from 0 or more to 1"),
        ([-0.5, 1.0], {}, "must rise from 0 or more to 1"),
        ([0.5, 1.0], {"num_steps": 0}, "num_steps must be at least 1, got 0"),
    ],
)
def test_bad_arguments(ladder, settings, message):
    with pytest.raises(InputError, match=message):
        ParallelTempering(Gibbs(SPACE), ladder, **settings)
