"""The seven pictures: a Gray code of every cell, scales that can be drawn again, fresh draws."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from aloex.apps.synthetic.data import (
    DATA_SETS,
    INT_SCALE,
    NUM_CELLS,
    DataSet,
    measured_scale,
    pack,
    unpack,
)
from aloex.base.errors import InputError
from stats import compiled

CELLS = np.arange(-NUM_CELLS, NUM_CELLS)  # of one coordinate, in order of space


def middles(data_set):
    """A point in every cell of the diagonal y = -x, in float32."""
    x = ((CELLS + 0.5) / data_set.int_scale).astype(np.float32)
    return jnp.asarray(np.stack([x, -x], axis=1))


def test_code_of_a_few_cells():
    data_set = DataSet("moons")
    x = np.array([[2.5, -6.5], [-0.5, 0.5], [1e9, -1e9], [0.0, -0.0]]) / data_set.int_scale
    bits = np.asarray(data_set.encode(jnp.asarray(x, jnp.float32)))
    expected = [
        (0, 0b11, 1, 0b101),  # the Gray codes of 2 and 6
        (1, 0, 0, 0),
        (0, 1 << 14, 1, 1 << 14),  # of 2^15 - 1, where the cells end
        (0, 0, 0, 0),
    ]
    for row, (sign_x, gray_x, sign_y, gray_y) in zip(bits, expected, strict=True):
        text = f"{sign_x}{gray_x:015b}{sign_y}{gray_y:015b}"
        assert "".join(map(str, row)) == text


@pytest.mark.parametrize("name", DATA_SETS)
def test_code_is_a_bijection_of_neighbours(name):
    data_set = DataSet(name)
    points = middles(data_set)
    bits = jax.jit(data_set.encode)(points)
    x, y = np.split(np.asarray(bits), 2, axis=1)
    assert len(np.unique(x, axis=0)) == 2 * NUM_CELLS
    np.testing.assert_array_equal(y, x[::-1])
    assert np.all(np.abs(np.diff(x, axis=0)).sum(axis=1) == 1)  # across 0 too
    np.testing.assert_allclose(jax.jit(data_set.decode)(bits), points, rtol=1e-6)


def test_cells_have_one_width():
    """Also the two beside 0: each edge of a cell lies between its two neighbours' codes."""
    data_set = DataSet("circles")
    edges = np.arange(-3, 4) / data_set.int_scale
    near = 0.01 / data_set.int_scale
    x = jnp.asarray(np.concatenate([edges - near, edges + near]), jnp.float32)
    decoded = data_set.decode(data_set.encode(jnp.stack([x, x], axis=1)))[:, 0]
    below, above = np.split(np.asarray(decoded) * data_set.int_scale, 2)
    np.testing.assert_allclose(below, np.arange(-3, 4) - 0.5, rtol=1e-5)
    np.testing.assert_allclose(above, np.arange(-3, 4) + 0.5, rtol=1e-5)


def test_pack_and_unpack():
    bits = np.random.default_rng(0).integers(2, size=(100, 32), dtype=np.int32)
    packed = pack(jnp.asarray(bits))
    assert [int(p) for p in packed] == [int("".join(map(str, row)), 2) for row in bits]
    np.testing.assert_array_equal(unpack(packed), bits)


@pytest.mark.parametrize("name", DATA_SETS)
def test_committed_scale(name):
    """To float32: the sines of another machine may differ in the last digit."""
    assert measured_scale(name) == pytest.approx(INT_SCALE[name], rel=1e-5)


def test_draws_are_fresh_and_fall_into_their_cells():
    data_set = DataSet("moons")
    draw = compiled(lambda key: (data_set.points(key, 2000), data_set.sample(key, 2000)))
    points, bits = draw(jax.random.key(7))
    assert bits.dtype == jnp.int32
    error = np.abs(data_set.decode(bits) - points).max()
    assert error <= 0.51 / data_set.int_scale  # half a cell, and rounding
    assert len(np.unique(points, axis=0)) == 2000
    assert not np.array_equal(points, draw(jax.random.key(8))[0])


def test_unknown_name():
    with pytest.raises(InputError, match=r"'spirals'.*2spirals, 8gaussians.*checkerboard"):
        DataSet("spirals")
