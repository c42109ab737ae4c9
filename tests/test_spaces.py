"""Spaces: `enumerate`, `index`, `neighbours` and `sample` agree; `check` names what is wrong."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from aloex.base.errors import InputError
from aloex.spaces import Bits, Categorical, Mixed, Sequences
from stats import assert_draws_match, count_draws

SPACES = [Bits(1), Bits(4), Categorical(3, 3), Mixed((2, 4, 1)), Sequences(3, 2), Sequences(2, 1)]
by_space = pytest.mark.parametrize("space", SPACES, ids=repr)


@by_space
def test_index_is_the_inverse_of_enumerate(space):
    states = space.enumerate()
    assert states.shape == (space.size, space.dim)
    np.testing.assert_array_equal(jax.vmap(space.index)(states), np.arange(space.size))
    assert len({tuple(x) for x in states.tolist()}) == space.size


@pytest.mark.parametrize(
    ("space", "size"),
    [(Bits(4), 16), (Categorical(3, 5), 125), (Sequences(3, 2), 15), (Sequences(2, 1), 3)],
    ids=repr,
)
def test_size(space, size):
    assert space.size == size


def test_enumeration_order():
    assert Bits(2).enumerate().tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]
    sequences = [[2, 2], [0, 2], [1, 2], [0, 0], [0, 1], [1, 0], [1, 1]]
    assert Sequences(2, 2).enumerate().tolist() == sequences


@by_space
def test_draws_are_uniform(space):
    counts = count_draws(space, space.sample)
    assert_draws_match(counts, np.full(space.size, 1 / space.size))


def edit_distance(a, b):
    """Levenshtein's distance, in plain Python."""
    if not a or not b:
        return len(a) + len(b)
    replace = edit_distance(a[1:], b[1:]) + (a[0] != b[0])
    return min(replace, edit_distance(a[1:], b) + 1, edit_distance(a, b[1:]) + 1)


def distance(space, x, y):
    """Single-site changes from x to y, by brute force."""
    if isinstance(space, Sequences):
        return edit_distance(*(tuple(v for v in s if v != space.pad) for s in (x, y)))
    return sum(a != b for a, b in zip(x, y, strict=True))


@by_space
def test_neighbours_are_exactly_the_single_site_changes(space):
    states = [tuple(x) for x in space.enumerate().tolist()]
    for x in states:
        found = [tuple(y) for y in space.neighbours(jnp.array(x)).tolist()]
        assert sorted(found) == sorted(y for y in states if distance(space, x, y) == 1)


def test_length_counts_the_tokens():
    space = Sequences(3, 2)
    lengths = [sum(v != space.pad for v in x) for x in space.enumerate().tolist()]
    assert jax.vmap(space.length)(space.enumerate()).tolist() == lengths


CHECKED = [Bits(3), Categorical(3, 4), Sequences(3, 4)]


@pytest.mark.parametrize("space", CHECKED, ids=repr)
@pytest.mark.parametrize(
    ("data", "message"),
    [
        (np.zeros((0, 3), int), "mine is empty"),
        (np.zeros((2, 5), int), "mine has 5 sites, but the space has 3"),
        (np.zeros(3, int), r"mine must be a table \[examples, sites\], got shape \(3,\)"),
        (np.zeros((2, 3)), r"mine must hold integers, got float64.*mine.astype\(int\)"),
        (np.array([["a"] * 3]), "mine must hold integers"),
        (np.array([[0, 0, 0], [0, -1, 0]]), "got -1 at row 1, site 1"),
        (np.array([[0, 0, 0], [0, 0, 9], [9, 0, 0]]), r"got 9 at row 1, site 2 \(2 such values\)"),
    ],
    ids=["empty", "sites", "1-D", "floats", "text", "negative", "too large"],
)
def test_check_names_what_is_wrong(space, data, message):
    with pytest.raises(InputError, match=message):
        space.check(data, "mine")


def test_check_knows_each_space_s_largest_value():
    Bits(2).check(np.array([[1, 1]]))
    Categorical(2, 4).check(np.array([[3, 3]]))
    Sequences(2, 4).check(np.array([[3, 4]]))  # 4 is the padding
    for space, bad in [(Bits(2), 2), (Categorical(2, 4), 4), (Sequences(2, 4), 5)]:
        with pytest.raises(InputError, match=f"got {bad} at row 0, site 1"):
            space.check(np.array([[0, bad]]))


def test_check_knows_each_site_s_values():
    space = Mixed((2, 4))
    assert space.check(np.array([[1, 3]])).tolist() == [[1, 3]]
    with pytest.raises(InputError, match=r"in 0\.\.1 at site 0, got 3 at row 1 \(1 such values\)"):
        space.check(np.array([[1, 3], [3, 1]]))


def test_what_is_no_state_has_no_row():
    assert Mixed((2, 4)).index(jnp.array([3, 0])) == 8


def test_padding_inside_a_sequence_is_refused():
    space = Sequences(3, 2)
    with pytest.raises(InputError, match=r"token after the padding symbol 2 \(row 1\)"):
        space.check(np.array([[0, 1, 2], [0, 2, 1]]))
    assert space.check(np.array([[2, 2, 2]])).tolist() == [[2, 2, 2]]  # the empty sequence


@pytest.mark.parametrize("space", CHECKED, ids=repr)
@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int64])
def test_check_gives_int32(space, dtype):
    checked = space.check(np.eye(3, dtype=dtype))
    assert checked.dtype == np.int32
    np.testing.assert_array_equal(checked, np.eye(3))


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Bits(0), "dim=0"),
        (lambda: Categorical(0, 3), "dim=0"),
        (lambda: Categorical(3, 1), "got 1"),
        (lambda: Mixed(()), "got none"),
        (lambda: Mixed((1, 1)), r"one of them two or more, got \(1, 1\)"),
        (lambda: Mixed((3, 0)), r"each site needs a value, .*got \(3, 0\)"),
        (lambda: Sequences(0, 3), "got 0"),
        (lambda: Sequences(3, 0), "got 0"),
        (lambda: Bits(23).enumerate(), "states, more than the 4194304"),
        (lambda: Categorical(23, 2).enumerate(), "states, more than the 4194304"),
        (lambda: Sequences(23, 2).enumerate(), "states, more than the 4194304"),
    ],
)
def test_impossible_spaces(build, message):
    with pytest.raises(InputError, match=message):
        build()
