"""The whole sampler q: x_0 ~ q0, edits by q_A, until q_stop says stop or `max_edits` is reached.

Eq. traj_q:  q(x_0..x_t) = q0(x_0) prod_{i=1}^t q_A(x_i | x_{i-1}) (1 - q_stop(x_{i-1})) q_stop(x_t),
where the last factor is 1 at t = max_edits, because stopping is forced there: only so do the
probabilities add up to 1. The marginal q(x) of Eq. prob_q sums over trajectories (`exact.log_marginal`).
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.nn import log_sigmoid
from jaxtyping import Array, Bool, Float, Int, Key

from aloex.errors import require
from aloex.trajectory import Room, Trajectory, first_of_equals, live_steps


class LocalSearch(eqx.Module):
    """q0, editor and stop policy joined; with max_edits = 0 it is q0 alone."""

    q0: Any
    editor: Any = None
    stop: Any = None
    max_edits: int = eqx.field(static=True, default=0)

    def __check_init__(self):
        require(self.max_edits >= 0, f"max_edits must not be negative, got {self.max_edits}")
        whole = self.editor is not None and self.stop is not None
        require(
            self.max_edits == 0 or whole,
            f"max_edits={self.max_edits} needs an editor and a stop policy",
        )

    def sample(self, key: Key[Array, ""], z: Array | None = None) -> Trajectory:
        """One run of the search."""
        key_start, key_search = jax.random.split(key)
        x = self.q0.sample(key_start, z)
        states = jnp.broadcast_to(x, (self.max_edits + 1, x.shape[0]))
        if self.max_edits == 0:
            return Trajectory(states, jnp.zeros((), jnp.int32))

        def goes_on(carry):
            num_edits, stopped, _, _ = carry
            return ~stopped & (num_edits < self.max_edits)

        def edit(carry):
            num_edits, _, x, states = carry
            key_stop, key_edit = jax.random.split(jax.random.fold_in(key_search, num_edits))
            stopped = jax.random.bernoulli(key_stop, jax.nn.sigmoid(self.stop(x, z)))
            x = jnp.where(stopped, x, self.editor.sample(key_edit, x, z))
            num_edits = num_edits + ~stopped
            later = jnp.arange(self.max_edits + 1)[:, None] >= num_edits
            return num_edits, stopped, x, jnp.where(later, x, states)

        begin = (jnp.zeros((), jnp.int32), jnp.zeros((), bool), x, states)
        num_edits, _, _, states = jax.lax.while_loop(goes_on, edit, begin)
        return Trajectory(states, num_edits)

    def log_prob(self, trajectory: Trajectory, z: Array | None = None) -> Float[Array, ""]:
        """log q(x_0..x_t) of one trajectory, padding scored and masked: simple, not fast."""
        log_q = self.q0.log_prob(trajectory.first, z)
        if self.max_edits == 0:
            return log_q
        made = jnp.arange(self.max_edits) < trajectory.num_edits
        states = trajectory.x
        log_edits = jax.vmap(lambda x, y: self.editor.log_prob(x, y, z))(states[:-1], states[1:])
        log_go = log_sigmoid(-jax.vmap(lambda x: self.stop(x, z))(states[:-1]))
        log_stop = log_sigmoid(self.stop(trajectory.last, z))
        forced = trajectory.num_edits == self.max_edits
        steps = jnp.where(made, jnp.where(made, log_edits, 0) + log_go, 0)
        return log_q + steps.sum() + jnp.where(forced, 0, log_stop)


def score(
    q: LocalSearch,
    x: Int[Array, "targets dim"],
    trajectories: Trajectory,
    z: Float[Array, "targets cond"] | None = None,
    room: Room | None = None,
) -> tuple[Float[Array, "targets n"], Bool[Array, "targets n"]]:
    """log q of n trajectories [targets, n] that end in each target x, without waste.

    Only edits that were made are scored, a sequence that occurs twice is scored once, a trajectory
    without edits costs nothing beyond its target, and q0 may score the other starts as variants of
    their target. The second result is False where a trajectory found no room (and log q is -inf).
    """
    num_targets, n = trajectories.num_edits.shape
    if room is None:
        every = num_targets * n
        room = Room(every * q.max_edits, every, (every,) * x.shape[1])
    if q.max_edits == 0:
        log_q0 = jax.vmap(q.q0.log_prob)(x, z)
        return jnp.broadcast_to(log_q0[:, None], (num_targets, n)), jnp.ones((num_targets, n), bool)

    first = jax.vmap(first_of_equals)(trajectories)
    is_first = first == jnp.arange(n)
    flat = jax.tree.map(lambda a: a.reshape(num_targets * n, *a.shape[2:]), trajectories)
    num_edits = jnp.where(is_first, trajectories.num_edits, 0).reshape(-1)

    log_q0_x, log_q0, fits_start = _score_starts(q, x, flat, num_edits, n, z, room)
    log_edits, fits_edits = _score_edits(q, flat, num_edits, n, z, room)
    log_stop = log_sigmoid(jax.vmap(q.stop)(x, z))

    fits = (fits_start & fits_edits).reshape(num_targets, n)
    log_q = jnp.where(flat.num_edits == 0, jnp.repeat(log_q0_x, n), log_q0 + log_edits)
    log_q = log_q.reshape(num_targets, n)
    forced = trajectories.num_edits == q.max_edits
    log_q = log_q + jnp.where(forced, 0, log_stop[:, None])
    log_q = jnp.where(fits, log_q, -jnp.inf)
    return jnp.take_along_axis(log_q, first, 1), jnp.take_along_axis(fits, first, 1)


def _score_starts(q, x, flat: Trajectory, num_edits, n: int, z, room: Room):
    """log q0 of the targets, and of x_0 of every edited trajectory (0 for the others)."""
    at = live_steps((num_edits > 0).astype(jnp.int32), room.starts)
    starts, target = flat.first[at.owner], at.owner // n
    if hasattr(q.q0, "log_prob_near"):
        log_q0_x, log_q0, fits = q.q0.log_prob_near(x, starts, target, z, room.changed_before)
    else:
        both = jnp.concatenate([x, starts])
        z_both = None if z is None else jnp.concatenate([z, z[target]])
        log_q0_x, log_q0 = jnp.split(jax.vmap(q.q0.log_prob)(both, z_both), [x.shape[0]])
        fits = jnp.ones(log_q0.shape, bool)
    # Rows past the end belong to no one: send them outside the array, where they are dropped.
    owner = jnp.where(at.live, at.owner, num_edits.shape[0])
    spread = jnp.zeros(num_edits.shape, log_q0.dtype).at[owner].set(log_q0, mode="drop")
    return log_q0_x, spread, at.fits.at[owner].min(fits, mode="drop")


def _score_edits(q, flat: Trajectory, num_edits, n: int, z, room: Room):
    """For every trajectory the sum over its edits of log (1 - q_stop) + log q_A."""
    at = live_steps(num_edits, room.edits)
    z_rows = None if z is None else z[at.owner // n]
    before, after = flat.x[at.owner, at.step], flat.x[at.owner, at.step + 1]
    log_go = log_sigmoid(-jax.vmap(q.stop)(before, z_rows))
    log_edit = jax.vmap(q.editor.log_prob)(before, after, z_rows)
    log_rows = jnp.where(at.live, jnp.where(at.live, log_edit, 0) + log_go, 0)
    total = jax.ops.segment_sum(log_rows, at.owner, num_edits.shape[0])
    return total, at.fits
