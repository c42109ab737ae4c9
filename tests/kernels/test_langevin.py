"""Discrete Langevin without its test: the law of a step is the proposal, and p_f is not kept."""

import jax
import jax.numpy as jnp
import numpy as np

from aloex import exact
from aloex.differences import differences
from aloex.energies import MLP
from aloex.kernels import DiscreteLangevin, PathAuxiliary
from aloex.spaces import Bits, Categorical
from stats import assert_draws_match, compiled, count_draws, randomised


def energy(space):
    return randomised(MLP, space, hidden=(4,), embed_dim=2, scale=1.5)


@compiled
def matrix_and_target(space, f, step_size):
    kernel = DiscreteLangevin(space, step_size=step_size, adjusted=False)
    return kernel.transition_matrix(space, f), jnp.exp(exact.log_p(f, space))


def test_the_unadjusted_chain_does_what_it_says_but_does_not_keep_p_f():
    space = Categorical(2, 3)
    with exact.float64():
        f = exact.to_float64(energy(space))
        tables = np.asarray(
            compiled(jax.vmap(lambda x: differences(f, space, x)))(space.enumerate())
        )
        matrix, pi = (np.asarray(a) for a in matrix_and_target(space, f, jnp.array(0.6)))
        smaller = np.asarray(matrix_and_target(space, f, jnp.array(0.1))[0])
    expected = np.ones_like(matrix)
    for x, row, table in zip(space.enumerate().tolist(), expected, tables, strict=True):
        for x_next, to in zip(space.enumerate().tolist(), range(space.size), strict=True):
            for i, (old, new) in enumerate(zip(x, x_next, strict=True)):
                weights = np.exp(table[i] / 2 - (np.arange(space.num_values) != old) / (2 * 0.6))
                row[to] *= weights[new] / weights.sum()
    np.testing.assert_allclose(matrix, expected, rtol=1e-6)  # 0.6 has 24 bits
    np.testing.assert_allclose(matrix.sum(axis=1), 1, atol=1e-12)
    off = np.abs(pi @ matrix - pi).sum()
    assert off > 0.01
    assert np.abs(pi @ smaller - pi).sum() < off / 10
    kernel, start = DiscreteLangevin(space, step_size=0.6, adjusted=False), 2
    f32, x = energy(space), space.enumerate()[start]

    def draw(key):
        return kernel.step(key, kernel.init(key, x, f32), f32)[0].x

    assert_draws_match(count_draws(space, draw), matrix[start])


def test_what_is_tuned_is_an_array():
    assert [leaf.shape for leaf in jax.tree.leaves(DiscreteLangevin(Bits(3)))] == [()]
    assert [leaf.shape for leaf in jax.tree.leaves(PathAuxiliary(Bits(3)))] == [()]
