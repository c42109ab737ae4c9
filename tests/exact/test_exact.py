"""The oracle against plain numpy and brute force: everything else leans on it."""

from functools import cache
from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from aloex import exact
from aloex.base.errors import InputError
from aloex.energies import MLP, Tabular
from aloex.samplers import AutoregressiveMLP
from aloex.spaces import Bits, Categorical
from stats import compiled, condition, randomised, tiny_search

log_z = compiled(exact.log_z)


@pytest.fixture(autouse=True)
def double_precision():
    with exact.float64():
        yield


@pytest.mark.parametrize("space", [Bits(3), Categorical(2, 3)], ids=repr)
@pytest.mark.parametrize("z", [None, 1])
def test_log_z_and_log_p(space, z):
    f = randomised(Tabular, space, num_conditions=2, scale=3.0)
    table = np.asarray(f.table)[z or 0]
    z = None if z is None else jnp.array(z)
    np.testing.assert_array_equal(exact.energies(f, space, z), table)
    log_z = np.log(np.exp(table).sum())
    np.testing.assert_allclose(exact.log_z(f, space, z), log_z, rtol=1e-14)
    np.testing.assert_allclose(exact.log_p(f, space, z), table - log_z, rtol=1e-13)


def test_to_float64_changes_only_the_floats():
    model = exact.to_float64({"a": jnp.ones(2, jnp.float32), "b": jnp.ones(2, jnp.int32), "c": "d"})
    assert (model["a"].dtype, model["b"].dtype, model["c"]) == (jnp.float64, jnp.int32, "d")


def test_float64_ends_with_its_block():
    with jax.enable_x64(False):
        with exact.float64():
            assert jnp.ones(()).dtype == jnp.float64
        assert jnp.ones(()).dtype == jnp.float32


@pytest.mark.parametrize(
    ("space", "max_edits"), [(Bits(3), 0), (Bits(3), 3), (Categorical(2, 3), 2)], ids=repr
)
def test_trajectories_are_all_there_once(space, max_edits):
    x = space.enumerate()[1]
    found = exact.trajectories(space, x, max_edits)
    num_neighbours = space.neighbours(x).shape[0]
    lengths = np.repeat(np.arange(max_edits + 1), num_neighbours ** np.arange(max_edits + 1))
    assert sorted(found.num_edits.tolist()) == lengths.tolist()
    paths = [tuple(map(tuple, path)) for path in found.x.tolist()]
    assert len(set(zip(paths, found.num_edits.tolist(), strict=True))) == len(paths)
    for path, num_edits in zip(paths, found.num_edits.tolist(), strict=True):
        changes = [sum(a != b for a, b in zip(x, y, strict=True)) for x, y in pairwise(path)]
        assert changes == [1] * num_edits + [0] * (max_edits - num_edits)
        assert path[-1] == tuple(x.tolist())


MARGINALS = [
    (Bits(3), 0, 0),
    (Bits(3), 1, 0),
    (Bits(3), 3, 2),
    (Categorical(2, 3), 2, 0),
]


@pytest.mark.parametrize(("space", "max_edits", "cond_dim"), MARGINALS, ids=repr)
def test_log_marginal_is_the_sum_over_all_trajectories(space, max_edits, cond_dim):
    q = tiny_search(space, max_edits=max_edits, q0=AutoregressiveMLP, cond_dim=cond_dim)
    z = condition(cond_dim)
    every = [exact.trajectories(space, x, max_edits) for x in space.enumerate()]
    every = jax.tree.map(lambda *a: jnp.stack(a), *every)

    @compiled
    def both(q):
        log_q = jax.vmap(jax.vmap(lambda t: q.log_prob(t, z)))(every)
        return jax.nn.logsumexp(log_q, axis=1), exact.log_marginal(q, space, z)

    brute_force, marginal = both(q)
    np.testing.assert_allclose(marginal, brute_force, rtol=1e-12)
    assert marginal.std() > 0.1  # far from uniform, where mistakes would not show


P = np.array([0.5, 0.25, 0.25, 0.0])
Q = np.array([0.1, 0.2, 0.3, 0.4])


@pytest.mark.parametrize(
    ("p", "q", "value"),
    [
        (Q, Q, 0.0),
        (P, Q, 0.5 * np.log(5) + 0.25 * np.log(1.25) + 0.25 * np.log(0.25 / 0.3)),
        (P, P, 0.0),  # 0 log 0 = 0
        (Q, P, np.inf),
    ],
    ids=["same", "different", "0 log 0", "outside the support"],
)
def test_kl(p, q, value):
    with np.errstate(divide="ignore"):
        found = exact.kl(jnp.log(p), jnp.log(q))
    np.testing.assert_allclose(found, value, atol=1e-15)


def test_log_frequencies():
    space = Categorical(2, 3)
    x = jnp.array([[0, 1], [2, 2], [0, 1], [0, 0]])
    expected = np.full(9, -np.inf)
    expected[[0, 1, 8]] = np.log([0.25, 0.5, 0.25])
    np.testing.assert_allclose(exact.log_frequencies(x, space), expected)


@cache
def mlp_over_ten_bits(cond_dim):
    return randomised(MLP, Bits(10), hidden=(8, 4), cond_dim=cond_dim)


@pytest.mark.parametrize("log2_chunk", [1, 3, 9, 10, 18])
@pytest.mark.parametrize("cond_dim", [0, 2])
def test_streamed_log_z(log2_chunk, cond_dim):
    f, z = mlp_over_ten_bits(cond_dim), condition(cond_dim)
    streamed = exact.streamed_log_z(f, Bits(10), z, log2_chunk=log2_chunk, precision="highest")
    np.testing.assert_allclose(streamed, log_z(f, Bits(10), z), rtol=1e-13)


def test_streamed_log_z_with_more_than_one_row_of_high_bits_in_a_chunk():
    """Chunks of more than 2^16 states join several states of the high bits."""
    space = Bits(18)
    f = randomised(MLP, space, hidden=(2,))
    streamed = exact.streamed_log_z(f, space, log2_chunk=17, precision="highest")
    np.testing.assert_allclose(streamed, log_z(f, space), rtol=1e-13)


def test_streamed_log_z_needs_a_first_layer():
    with pytest.raises(InputError, match="hidden, site and head"):
        exact.streamed_log_z(lambda x, z: 0.0, Bits(3))
