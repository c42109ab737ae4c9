"""Random blocks of sites: all sets equally likely, and no work that grows with all sites."""

from itertools import combinations, product

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from aloex.kernels import blocks
from aloex.spaces import Bits
from stats import assert_draws_match, compiled


@pytest.mark.parametrize(("dim", "block_size"), [(5, 1), (5, 3), (4, 4), (6, 2)])
def test_each_set_of_sites_comes_from_as_many_draws(dim, block_size):
    """Of all equally likely draws, by enumeration."""
    last = np.arange(dim - block_size, dim)
    every = jnp.array(list(product(*(range(n + 1) for n in last))))
    found = compiled(jax.vmap(lambda drawn: blocks.different_sites(drawn, jnp.asarray(last))))
    sets, counts = np.unique(np.sort(found(every), axis=1), axis=0, return_counts=True)
    assert sets.tolist() == [list(s) for s in combinations(range(dim), block_size)]
    assert len(set(counts.tolist())) == 1


def test_random_blocks_are_drawn_alike():
    draw = compiled(jax.vmap(lambda key: blocks.random_block(key, Bits(5), 3)))
    found = np.sort(draw(jax.random.split(jax.random.key(0), 4000)), axis=1)
    every = np.array(list(combinations(range(5), 3)))
    counts = (found[:, None] == every).all(axis=2).sum(axis=0)
    assert_draws_match(counts, np.full(10, 0.1))


def test_a_random_block_needs_nothing_as_large_as_the_space():
    draw = jax.jit(lambda key: blocks.random_block(key, Bits(2**20), 8))
    used = draw.lower(jax.random.key(0)).compile().memory_analysis()
    assert used.temp_size_in_bytes < 2**12
