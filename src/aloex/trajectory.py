"""A run of the local search, x_0, ..., x_t, padded to `max_edits` (Eq. traj_q).

Most trajectories have no edit or one, so whoever scores many of them should not pay for the padding:
`live_steps` flattens the edits that were made into one buffer of bounded size.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Bool, Int


class Trajectory(NamedTuple):
    """States x_0..x_t and then x_t again up to max_edits; leading axes are batches."""

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


class Room(NamedTuple):
    """How many rows the scoring of a batch of trajectories needs; a proposal knows its own.

    `edits`: edits in all trajectories; `starts`: trajectories with at least one edit;
    `changed_before[i]`: those of them whose x_0 differs from the target at a site before i.
    """

    edits: int
    starts: int
    changed_before: tuple[int, ...]


class LiveSteps(NamedTuple):
    """`capacity` rows; row r is edit number `step[r]` of trajectory `owner[r]` where `live[r]`."""

    owner: Int[Array, " capacity"]
    step: Int[Array, " capacity"]
    live: Bool[Array, " capacity"]
    fits: Bool[Array, " n"]  # whether all edits of a trajectory found room


def live_steps(num_edits: Int[Array, " n"], capacity: int) -> LiveSteps:
    """Lay the edits of n trajectories end to end in a buffer of `capacity` rows."""
    end = jnp.cumsum(num_edits)
    row = jnp.arange(capacity)
    # Trajectory of each row: count how many trajectories end at or before it.
    marks = jnp.zeros(capacity + 1, jnp.int32).at[jnp.minimum(end, capacity)].add(1)
    owner = jnp.minimum(jnp.cumsum(marks)[:-1], num_edits.shape[0] - 1)
    step = row - (end - num_edits)[owner]
    live = row < end[-1]
    return LiveSteps(owner, jnp.where(live, step, 0), live, end <= capacity)


def first_of_equals(group: Trajectory) -> Int[Array, " n"]:
    """For each of n trajectories with the same end, the first that is the same sequence.

    Two are told apart by a 64-bit fingerprint of their states: n (n - 1) / 2 whole comparisons
    would cost more than the scores they save, and a false match has probability 2^-64.
    """
    n, steps, dim = group.x.shape
    odd = jnp.arange(1, 2 * steps * dim, 2, dtype=jnp.uint32).reshape(steps, dim)
    marks = []
    for multiplier in (0x9E3779B1, 0x85EBCA77):
        salt = odd * jnp.uint32(multiplier)
        salt = (salt ^ (salt >> 15)) * jnp.uint32(0xC2B2AE3D)
        salt = salt ^ (salt >> 13)
        marks.append(jnp.sum(group.x.astype(jnp.uint32) * salt, axis=(1, 2), dtype=jnp.uint32))
    a, b = marks
    same = (a[:, None] == a) & (b[:, None] == b) & (group.num_edits[:, None] == group.num_edits)
    return jnp.argmax(same, axis=1).astype(jnp.int32)
