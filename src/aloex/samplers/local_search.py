"""The whole sampler q: x_0 ~ q0, edits by q_A, until q_stop says stop or `max_edits` is reached.

Eq. traj_q: q(x_0..x_t) = q0(x_0) prod_{i=1}^t (1 - q_stop(x_{i-1})) q_A(x_i | x_{i-1}) q_stop(x_t),
where the last factor is 1 at t = max_edits, because stopping is forced there: only so do the
probabilities add up to 1. The marginal q(x) of Eq. prob_q sums over all trajectories that end in x
(`exact.log_marginal` does, on small spaces).
"""

from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.nn import log_sigmoid
from jaxtyping import Array, Bool, Float, Int, Key

from aloex.base.errors import require
from aloex.nets import on_cpu
from aloex.samplers.base import Editor, ScoresVariants, StopPolicy, Tractable
from aloex.trajectory import BufferSizes, Trajectory, first_with_same_ending, pack, unpack

Carry = tuple[Array, Array, Array, Array]  # of a loop over edits


class LocalSearch(eqx.Module):
    """q (Eq. traj_q): q0, editor and stop policy joined; with max_edits = 0 it is q0 alone.

    Args:
        q0: draws x_0 (`Factorized`, `AutoregressiveMLP`, `AutoregressiveRNN`, or your own).
        editor: q_A, which changes one part of x (`Flip`, `PositionValue`).
        stop: q_stop, as log-odds (`Stop`).
        max_edits: the most edits; a search that has made as many stops.

    >>> import jax
    >>> from aloex.samplers import Factorized, Flip, Stop
    >>> from aloex.spaces import Bits
    >>> keys, bits = jax.random.split(jax.random.key(0), 3), Bits(3)
    >>> editor, stop = (kind(bits, hidden=(4,), key=k) for kind, k in zip((Flip, Stop), keys))
    >>> q = LocalSearch(Factorized(bits), editor, stop, max_edits=2)
    >>> trajectory = q.sample(keys[2])
    >>> trajectory.x.shape, bool(q.log_prob(trajectory) < 0)
    ((3, 3), True)
    """

    q0: Tractable
    editor: Editor | None = None
    stop: StopPolicy | None = None
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

        def goes_on(carry: Carry) -> Bool[Array, ""]:
            num_edits, stopped, _, _ = carry
            return ~stopped & (num_edits < self.max_edits)

        def edit(carry: Carry) -> Carry:
            num_edits, _, x, states = carry
            edited, stopped = self.edit(key_search, x, num_edits, z)
            x = jnp.where(stopped, x, edited)
            num_edits = num_edits + ~stopped
            later = jnp.arange(self.max_edits + 1)[:, None] >= num_edits
            return num_edits, stopped, x, jnp.where(later, x, states)

        begin = (jnp.zeros((), jnp.int32), jnp.zeros((), bool), x, states)
        num_edits, _, _, states = jax.lax.while_loop(goes_on, edit, begin)
        return Trajectory(states, num_edits)

    def edit(
        self,
        key: Key[Array, ""],
        x: Int[Array, " dim"],
        num_edits: Int[Array, ""],
        z: Array | None,
    ) -> tuple[Int[Array, " dim"], Bool[Array, ""]]:
        """A draw of q_A, and whether q_stop ends the search before it, after `num_edits` edits."""
        editor, stop = self.edits()
        key_stop, key_edit = jax.random.split(jax.random.fold_in(key, num_edits))
        stopped = jax.random.bernoulli(key_stop, jax.nn.sigmoid(stop(x, z)))
        return editor.sample(key_edit, x, z), stopped

    def edits(self) -> tuple[Editor, StopPolicy]:
        """Editor and stop policy of a search that has them."""
        assert self.editor is not None and self.stop is not None
        return self.editor, self.stop

    def log_prob(self, trajectory: Trajectory, z: Array | None = None) -> Float[Array, ""]:
        """log q(x_0..x_t) of one trajectory, padding scored and masked: simple, not fast."""
        log_q = self.q0.log_prob(trajectory.first, z)
        if self.max_edits == 0:
            return log_q
        editor, stop = self.edits()
        made = jnp.arange(self.max_edits) < trajectory.num_edits
        states = trajectory.x
        log_edits = jax.vmap(lambda x, y: editor.log_prob(x, y, z))(states[:-1], states[1:])
        log_go = log_sigmoid(-jax.vmap(lambda x: stop(x, z))(states[:-1]))
        log_stop = log_sigmoid(stop(trajectory.last, z))
        forced = trajectory.num_edits == self.max_edits
        steps = jnp.where(made, jnp.where(made, log_edits, 0) + log_go, 0)
        return log_q + steps.sum() + jnp.where(forced, 0, log_stop)


def sample_ends(
    q: LocalSearch, keys: Key[Array, " batch"], z: Float[Array, "batch cond"] | None = None
) -> tuple[Int[Array, "batch dim"], Int[Array, " batch"]]:
    """x_t and t of a run of the search for each key: those of `q.sample`, for less.

    Most searches stop early, so each time half of them have, the rest moves to a smaller buffer.
    Not so on an accelerator, where idle arithmetic is cheaper than another loop.
    """
    keys_start, keys_search = jax.vmap(jax.random.split, out_axes=1)(keys)
    x = jax.vmap(q.q0.sample)(keys_start, z)
    num_edits, running = jnp.zeros(keys.shape, jnp.int32), jnp.ones(keys.shape, bool)
    if q.max_edits == 0:
        return x, num_edits

    def edit(size: int, carry: Carry) -> Carry:
        """One more edit of the first `size` searches in `order`."""
        x, num_edits, running, order = carry
        at = order[:size]
        edited, stopped = jax.vmap(q.edit)(
            keys_search[at], x[at], num_edits[at], None if z is None else z[at]
        )
        goes_on = running[at] & ~stopped
        x = x.at[at].set(jnp.where(goes_on[:, None], edited, x[at]))
        num_edits = num_edits.at[at].add(goes_on)
        return x, num_edits, running.at[at].set(goes_on & (num_edits[at] < q.max_edits)), order

    sizes = [keys.shape[0]]
    while on_cpu() and sizes[-1] > 16:
        sizes.append((sizes[-1] + 1) // 2)
    for size, next_size in zip(sizes, [*sizes[1:], 0], strict=True):
        order = jnp.argsort(~running)  # those still running first
        x, num_edits, running, _ = jax.lax.while_loop(
            lambda carry, n=next_size: jnp.sum(carry[2]) > n,
            partial(edit, size),
            (x, num_edits, running, order),
        )
    return x, num_edits


def score(
    q: LocalSearch,
    x: Int[Array, "targets dim"],
    trajectories: Trajectory,
    z: Float[Array, "targets cond"] | None = None,
    sizes: BufferSizes | None = None,
) -> tuple[Float[Array, "targets n"], Bool[Array, "targets n"]]:
    """log q of n trajectories [targets, n] that end in each target x, without waste.

    Padding is not scored; edits that trajectories share at their end are scored once, so the same
    sequence is never scored twice; one without edits costs nothing beyond its target; and q0 may
    score the other starts as variants of the target. The second result is False where a trajectory
    found no room (log q is -inf there).
    """
    num_targets, n = trajectories.num_edits.shape
    require(
        trajectories.max_edits == q.max_edits,
        f"trajectories of max_edits={trajectories.max_edits} cannot be scored by a search of "
        f"max_edits={q.max_edits}: give proposal and search the same number",
    )
    if sizes is None:
        every = num_targets * n
        sizes = BufferSizes(every * q.max_edits, every, (every,) * x.shape[1])
    if q.max_edits == 0:
        log_q0 = jax.vmap(q.q0.log_prob)(x, z)
        return jnp.broadcast_to(log_q0[:, None], (num_targets, n)), jnp.ones((num_targets, n), bool)

    t = trajectories.num_edits
    first = jax.vmap(first_with_same_ending)(trajectories)
    log_edits, fits_edits = _score_edits(q, trajectories, first, z, sizes)
    log_q0, fits_start = _score_starts(q, x, trajectories, first, z, sizes)
    log_stop = log_sigmoid(jax.vmap(q.edits()[1])(x, z))[:, None]
    fits = fits_edits & fits_start
    log_q = log_q0 + log_edits + jnp.where(t == q.max_edits, 0, log_stop)
    return jnp.where(fits, log_q, -jnp.inf), fits


def _score_edits(
    q: LocalSearch,
    trajectories: Trajectory,
    first: Int[Array, "targets n steps"],
    z: Array | None,
    sizes: BufferSizes,
) -> tuple[Float[Array, "targets n"], Bool[Array, "targets n"]]:
    """For every trajectory the sum over its edits of log (1 - q_stop) + log q_A."""
    num_targets, n, max_edits = *trajectories.num_edits.shape, q.max_edits
    # Edit m (counted from the end, 1..t) is the same in all trajectories that end alike there.
    first = first[:, :, 1:]
    rows = pack(first == jnp.arange(n)[:, None], sizes.edits)
    target, j, m = jnp.unravel_index(rows.entry, (num_targets, n, max_edits))
    step = trajectories.num_edits[target, j] - m - 1
    before, after = trajectories.x[target, j, step], trajectories.x[target, j, step + 1]
    z_rows = None if z is None else z[target]
    editor, stop = q.edits()
    log_go = log_sigmoid(-jax.vmap(stop)(before, z_rows))
    log_edit = jnp.where(rows.live, jax.vmap(editor.log_prob)(before, after, z_rows), 0)
    scored = unpack(log_edit + log_go, rows, (num_targets, n, max_edits))
    made = first < n
    shared = lambda a, fill: jnp.where(
        made, jnp.take_along_axis(a, jnp.minimum(first, n - 1), axis=1), fill
    )
    return shared(scored, 0).sum(axis=2), shared(rows.fits, True).all(axis=2)


def _score_starts(
    q: LocalSearch,
    x: Int[Array, "targets dim"],
    trajectories: Trajectory,
    first: Int[Array, "targets n steps"],
    z: Array | None,
    sizes: BufferSizes,
) -> tuple[Float[Array, "targets n"], Bool[Array, "targets n"]]:
    """For every trajectory log q0(x_0)."""
    num_targets, n = trajectories.num_edits.shape
    t = trajectories.num_edits
    first = jnp.take_along_axis(first, t[:, :, None], axis=2)[:, :, 0]
    # Trajectories with the same t and the same ending of length t are the same.
    same = (first[:, :, None] == first[:, None]) & (t[:, :, None] == t[:, None])
    first = jnp.argmax(same, axis=2)
    rows = pack((t > 0) & (first == jnp.arange(n)), sizes.starts)
    target, j = jnp.unravel_index(rows.entry, (num_targets, n))
    # A row left over repeats its target, which as a variant without changes needs no scoring.
    starts = jnp.where(rows.live[:, None], trajectories.first[target, j], x[target])
    if isinstance(q.q0, ScoresVariants):
        log_q0_x, log_q0, fits = q.q0.log_prob_near(x, starts, target, z, sizes.changed_before)
    else:
        both = jnp.concatenate([x, starts])
        z_both = None if z is None else jnp.concatenate([z, z[target]])
        log_q0_x, log_q0 = jnp.split(jax.vmap(q.q0.log_prob)(both, z_both), [num_targets])
        fits = jnp.ones(log_q0.shape, bool)
    fits = rows.fits & ~unpack(~fits, rows, (num_targets, n))
    log_q0 = jnp.where(t > 0, unpack(log_q0, rows, (num_targets, n)), log_q0_x[:, None])
    return jnp.take_along_axis(log_q0, first, axis=1), jnp.take_along_axis(fits, first, axis=1)
