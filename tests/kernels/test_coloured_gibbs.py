"""Which colourings and which energies `ColouredGibbs` accepts."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from aloex import exact, kernels
from aloex.base.errors import InputError
from aloex.spaces import Bits, Categorical, Mixed
from stats import compiled

GRID = Categorical(6, 3)  # 2 x 3


def potts(x, z=None):
    grid = x.reshape(2, 3)
    equal = jnp.sum(grid[1:] == grid[:-1]) + jnp.sum(grid[:, 1:] == grid[:, :-1])
    return 0.7 * equal + 0.1 * jnp.sum(x)


def one_far_pair(x, z=None):
    """Neighbours on the grid interact, and so do sites 1 and 5, both white, where x_3 = 2."""
    return potts(x) + 0.3 * ((x[1] == 1) & (x[5] == 2) & (x[3] == 2))


class WithOwn:
    """Differences that do not say that they are exact, nor are they."""

    def __call__(self, x, z=None):
        return 1.0 * x.sum()

    def differences(self, x, z=None):
        return jnp.zeros((2, 2))


def test_a_right_colouring_passes():
    checker = kernels.ColouredGibbs(GRID, kernels.checkerboard(2, 3))
    checker.check_colours(potts, jnp.array([0, 1, 2, 2, 1, 0]))
    mixed = kernels.ColouredGibbs(Mixed((2, 3, 1)), [(0, 1, 2)])
    mixed.check_colours(lambda x, z: 0.3 * x[0] + jnp.exp(1.0 * x[1]), jnp.array([1, 2, 0]))


def test_sites_that_interact_are_named():
    checker = kernels.ColouredGibbs(GRID, kernels.checkerboard(2, 3))
    with pytest.raises(InputError, match=r"sites 1 and 5 .* interact: .* up to 0\.3;"):
        checker.check_colours(one_far_pair, jnp.array([0, 0, 0, 2, 0, 0]))
    checker.check_colours(one_far_pair, jnp.array([0, 0, 0, 1, 0, 0]))  # not seen from there


def test_checks_are_made_outside_of_compiled_code():
    kernel = kernels.ColouredGibbs(Bits(2), [(0,), (1,)])
    with pytest.raises(InputError, match="call it outside of jit"):
        jax.eval_shape(
            lambda x: kernel.check_colours(lambda x, z: 1.0 * x[0], x), jnp.zeros(2, int)
        )


def test_differences_that_may_be_approximate_are_refused():
    x, key = jnp.zeros(2, jnp.int32), jax.random.key(0)
    colours = [(0,), (1,)]
    with pytest.raises(InputError, match=r"differences_are_exact = True.*differences='exact'"):
        kernels.ColouredGibbs(Bits(2), colours).init(key, x, WithOwn())
    kernel = kernels.ColouredGibbs(Bits(2), colours, differences="exact")
    matrix = compiled(lambda: kernel.transition_matrix(Bits(2), WithOwn()))()
    p = np.exp(exact.log_p(WithOwn(), Bits(2)))  # sites are independent: p at once
    np.testing.assert_allclose(matrix, [p, p, p, p], rtol=1e-6)


def test_checkerboards_have_no_neighbours_of_a_colour():
    for height, width in ((1, 2), (3, 4), (4, 3)):
        black, white = map(set, kernels.checkerboard(height, width))
        assert black | white == set(range(height * width)) and not black & white
        for colour in (black, white):
            for i in colour:
                row, column = divmod(i, width)
                assert row == height - 1 or i + width not in colour
                assert column == width - 1 or i + 1 not in colour
    with pytest.raises(InputError, match="two squares or more, got 1 x 1"):
        kernels.checkerboard(1, 1)
