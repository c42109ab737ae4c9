"""Trajectories: `pack` keeps what is marked, `first_with_same_ending` finds what is shared."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aloex import exact
from aloex.spaces import Bits, Categorical
from aloex.trajectory import Trajectory, first_with_same_ending, pack, unpack

few_cases = settings(max_examples=60, deadline=None, derandomize=True)
pack_jit = partial(jax.jit, static_argnums=1)(pack)
unpack_jit = partial(jax.jit, static_argnums=2)(unpack)
first_with_same_ending_jit = jax.jit(first_with_same_ending)

SHAPE = (2, 3, 2)


@pytest.mark.parametrize("capacity", [1, 5, 15])
@few_cases
@given(marks=st.lists(st.booleans(), min_size=12, max_size=12))
def test_pack_lays_out_the_marked_entries_in_order(capacity, marks):
    """As many as there is room for; `fits` is False for exactly those that found none."""
    rows = pack_jit(jnp.array(marks).reshape(SHAPE), capacity)
    marked = [i for i, mark in enumerate(marks) if mark]
    kept = marked[:capacity]
    assert rows.entry[rows.live].tolist() == kept
    assert rows.live.tolist() == [row < len(kept) for row in range(capacity)]
    fits = [not mark or i in kept for i, mark in enumerate(marks)]
    assert rows.fits.tolist() == np.reshape(fits, SHAPE).tolist()
    assert all(0 <= i < len(marks) for i in rows.entry.tolist())

    values = jnp.arange(1.0, 1 + capacity)
    expected = np.zeros(len(marks))
    expected[kept] = np.arange(1.0, 1 + len(kept))
    unpacked = unpack_jit(values, rows, SHAPE)
    np.testing.assert_array_equal(unpacked, expected.reshape(SHAPE))


def test_capacity_exactly_enough():
    marked = jnp.array([True, False, True, True])
    assert pack_jit(marked, 3).fits.all()
    assert pack_jit(marked, 2).fits.tolist() == [True, True, True, False]


def ending(states, num_edits, m):
    """The last m + 1 of x_0..x_t."""
    return tuple(map(tuple, states[num_edits - m : num_edits + 1]))


def by_hand(group):
    """`first_with_same_ending` in plain Python."""
    paths = list(zip(group.x.tolist(), group.num_edits.tolist(), strict=True))
    n, steps = len(paths), group.x.shape[1]
    seen, found = {}, []
    for j, (states, t) in enumerate(paths):
        endings = [ending(states, t, m) for m in range(t + 1)]
        found.append([seen.setdefault(e, j) for e in endings] + [n] * (steps - 1 - t))
    return found


@pytest.mark.parametrize(("space", "max_edits"), [(Bits(3), 5), (Categorical(2, 4), 3)], ids=repr)
def test_all_trajectories_are_told_apart(space, max_edits):
    """Those that end in one state: as many different wholes as there are trajectories."""
    group = exact.trajectories(space, space.enumerate()[1], max_edits)
    found = np.asarray(first_with_same_ending_jit(group))
    assert found.tolist() == by_hand(group)
    n = len(found)
    wholes = {(int(found[j, t]), int(t)) for j, t in zip(range(n), group.num_edits, strict=True)}
    assert len(wholes) == n


ALL = exact.trajectories(Bits(2), jnp.array([0, 1]), 3)


@few_cases
@given(st.lists(st.integers(0, ALL.num_edits.shape[0] - 1), min_size=12, max_size=12))
def test_first_with_same_ending_finds_exactly_what_is_shared(chosen):
    """In any order and with duplicates."""
    group = Trajectory(ALL.x[np.array(chosen)], ALL.num_edits[np.array(chosen)])
    assert first_with_same_ending_jit(group).tolist() == by_hand(group)


def test_ends_and_length():
    group = exact.trajectories(Bits(2), jnp.array([0, 1]), 2)
    assert group.max_edits == 2
    assert group.last.tolist() == [[0, 1]] * 7
    assert group.first.tolist() == group.x[:, 0].tolist()
