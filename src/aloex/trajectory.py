"""A run of the local search, x_0, ..., x_t, padded to `max_edits` (Eq. traj_q).

Most trajectories have no edit or one, so whoever scores many of them should not pay for the
padding: `pack` collects what must be scored in one buffer of bounded size, and
`first_with_same_ending` finds the parts that trajectories share.
"""

import math
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int


class Trajectory(NamedTuple):
    """States x_0..x_t and then x_t again up to max_edits; leading axes are batches.

    Example:
        >>> import jax.numpy as jnp
        >>> from aloex.trajectory import Trajectory
        >>> trajectory = Trajectory(jnp.array([[0, 0], [0, 1], [0, 1]]), jnp.array(1))
        >>> trajectory.first.tolist(), trajectory.last.tolist(), trajectory.max_edits
        ([0, 0], [0, 1], 2)
    """

    x: Int[Array, "*batch steps dim"]
    num_edits: Int[Array, "*batch"]

    @property
    def first(self) -> Int[Array, "*batch dim"]:
        """x_0."""
        return self.x[..., 0, :]

    @property
    def last(self) -> Int[Array, "*batch dim"]:
        """x_t."""
        return self.x[..., -1, :]

    @property
    def max_edits(self) -> int:
        return self.x.shape[-2] - 1


class BufferSizes(NamedTuple):
    """How many rows the scoring of a batch of trajectories needs; a proposal knows its own.

    `edits`: edits in all trajectories; `starts`: trajectories with at least one edit;
    `changed_before[i]`: those of them whose x_0 differs from the target at a site before i.

    Example:
        >>> from aloex.trajectory import BufferSizes
        >>> sizes = BufferSizes(edits=3, starts=2, changed_before=(0, 1))
        >>> sizes.starts, sizes.changed_before[1]
        (2, 1)
    """

    edits: int
    starts: int
    changed_before: tuple[int, ...]


class Rows(NamedTuple):
    """Where the marked entries of an array lie, as `capacity` rows; see `pack`.

    Example:
        >>> import jax.numpy as jnp
        >>> from aloex import trajectory
        >>> rows = trajectory.pack(jnp.array([False, True]), capacity=2)
        >>> rows.entry[0].item(), rows.live.tolist()
        (1, [True, False])
    """

    entry: Int[Array, " capacity"]  # its number in the flattened array
    live: Bool[Array, " capacity"]  # False for rows left over
    fits: Bool[Array, " *shape"]  # False for marked entries that found no row


def pack(marked: Bool[Array, " *shape"], capacity: int) -> Rows:
    """Collect the marked entries of an array into a buffer of `capacity` rows, in order.

    Args:
        marked: which entries, an array of any shape.
        capacity: rows of the buffer; marked entries beyond it are left out.

    Returns:
        The rows [capacity], and which entries found one, in the shape of `marked`.

    Example:
        >>> import jax.numpy as jnp
        >>> from aloex import trajectory
        >>> rows = trajectory.pack(jnp.array([[True, False], [True, True]]), capacity=2)
        >>> rows.entry.tolist(), rows.fits.tolist()
        ([0, 2], [[True, True], [True, False]])
    """
    rank = jnp.cumsum(marked.reshape(-1)) - 1
    row = jnp.where(marked.reshape(-1), rank, capacity)
    entry = (
        jnp.zeros(capacity, jnp.int32)
        .at[row]
        .set(jnp.arange(row.shape[0], dtype=jnp.int32), mode="drop")
    )
    live = jnp.arange(capacity) <= rank[-1]
    return Rows(entry, live, ~marked | (rank < capacity).reshape(marked.shape))


def unpack(values: Array, rows: Rows, shape: tuple[int, ...]) -> Array:
    """The inverse of `pack` for values computed per row: zeros where nothing was marked.

    Args:
        values: a number for each row [capacity].
        rows: as `pack` gave them.
        shape: that of the marked array.

    Returns:
        The values in their places, an array of that shape.

    Example:
        >>> import jax.numpy as jnp
        >>> from aloex import trajectory
        >>> rows = trajectory.pack(jnp.array([[True, False], [False, True]]), capacity=3)
        >>> trajectory.unpack(jnp.array([5, 6, 7]), rows, (2, 2)).tolist()
        [[5, 0], [0, 6]]
    """
    size = math.prod(shape)
    entry = jnp.where(rows.live, rows.entry, size)  # rows left over fall outside and are dropped
    return jnp.zeros(size, values.dtype).at[entry].set(values, mode="drop").reshape(shape)


def first_with_same_ending(group: Trajectory) -> Int[Array, "n steps"]:
    """[j, m]: the first of n trajectories whose last m + 1 states are those of trajectory j.

    It is j itself unless an earlier one ends alike, and n where j has fewer than m edits. Endings
    are told apart by 64-bit fingerprints: comparing states would cost more than the scores it
    saves, and a false match has probability 2^-64 a pair.

    Args:
        group: n trajectories, their states [n, steps, dim].

    Returns:
        Numbers of trajectories [n, steps], n for none.

    Example:
        >>> import jax.numpy as jnp
        >>> from aloex import trajectory
        >>> x = jnp.array([[[0, 0], [0, 1]], [[1, 1], [0, 1]]])  # other starts, the same end
        >>> group = trajectory.Trajectory(x, jnp.array([1, 1]))
        >>> trajectory.first_with_same_ending(group).tolist()
        [[0, 0], [0, 1]]
    """
    n, steps, dim = group.x.shape
    # Count states from the end x_t (m = 0) backwards, so that equal endings have equal indices.
    index = jnp.maximum(group.num_edits[:, None] - jnp.arange(steps), 0)
    backwards = jnp.take_along_axis(group.x, index[:, :, None], axis=1).astype(jnp.uint32)
    marks = [
        jnp.cumsum(jnp.sum(backwards * _salt(steps, dim, seed), axis=2, dtype=jnp.uint32), axis=1)
        for seed in (1, 2)
    ]
    long_enough = jnp.arange(steps) <= group.num_edits[:, None]
    same = jnp.stack([m[:, None] == m[None] for m in marks]).all(axis=0) & long_enough[None]
    return jnp.where(long_enough, jnp.argmax(same, axis=1), n).astype(jnp.int32)


def _salt(steps: int, dim: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 2**32, (steps, dim), dtype=np.uint32) | 1
