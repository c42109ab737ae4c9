"""Algorithm 1 (ALOE): learn an energy f and, beside it, a local search q that samples it.

A step draws x_hat ~ q and x_neg ~ k_f(. | x_hat), raises f on data and lowers it on x_neg, then
moves q towards the kernel-improved draws (Algorithm 2, `power_iteration`). The first power step
takes the x_neg at hand as its targets; further ones draw anew with the new f.

With `persistence` = L > 1 a draw of q lives for L steps: every step takes batch / L new draws,
moves all by one kernel step, uses all as negatives, and gives the oldest, which have been through
L kernel steps, to q as its targets. Negatives are better for the same work on q.

With `num_f_steps` = F > 1 the batch is cut in F parts, those with the new draws first, and for each
the kernel moves the negatives and f takes a step. So q, drawn from and learned F times less often,
costs little beside the kernel.

With `num_data` = D > 1 a batch holds D examples of data to each negative. Data cost f one
evaluation, a negative a sweep of them, and the noise of either ends up in f.

With `resample` the draws of q are resampled by their importance weights before the kernel takes
them on. q(x) itself is a sum over trajectories, but with the proposal s_x as an auxiliary law every
trajectory tau to x has a weight of its own,

    w = exp f(x) s_x(tau) / q(tau),    with E_q[w] = Z_f,

so that the weighted draws follow p_f. That moves mass between modes, which the kernel cannot. For
the same reason negatives that persist are resampled by exp(f(x) - f_then(x)) before they move on,
where f_then is the f that moved them last: their share in a mode keeps up with f.
"""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int, Key, PyTree

from aloex.base.errors import require
from aloex.cursor import Energy
from aloex.kernels import Kernel, run
from aloex.learning.learner import ShardedLearner, check_num_data, mean_over
from aloex.learning.power_iteration import q_loss
from aloex.learning.updates import apply_gradients, clipped_adam, mle_loss, moving_average
from aloex.proposals import Proposal
from aloex.samplers import LocalSearch
from aloex.samplers.local_search import sample_ends


class State(NamedTuple):
    """All that training carries from step to step."""

    f: Any
    q: LocalSearch
    ema_f: Any  # exponential moving average of f
    opt_f: PyTree
    opt_q: PyTree
    chains: Int[Array, "starts lives dim"] | None  # of persistent negatives, the youngest first
    chains_f: Float[Array, "starts lives"] | None  # of the f that moved them last, to resample
    step: Int[Array, ""]


class Info(NamedTuple):
    """Means over the batch."""

    f_loss: Float[Array, ""]
    q_loss: Float[Array, ""]
    f_data: Float[Array, ""]
    f_neg: Float[Array, ""]
    num_edits: Float[Array, ""]
    log_q: Float[Array, ""]
    ess: Float[Array, ""]
    dropped_fraction: Float[Array, ""]


class ALOE(ShardedLearner):
    """The algorithm with its settings; `init` and `step` do the work."""

    kernel: Kernel
    proposal: Proposal
    num_trajectories: int = eqx.field(static=True, kw_only=True, default=10)
    num_power_steps: int = eqx.field(static=True, kw_only=True, default=1)
    num_f_steps: int = eqx.field(static=True, kw_only=True, default=1)
    num_data: int = eqx.field(static=True, kw_only=True, default=1)
    num_kernel_steps: int = eqx.field(static=True, kw_only=True, default=1)
    persistence: int = eqx.field(static=True, kw_only=True, default=1)
    resample: bool = eqx.field(static=True, kw_only=True, default=False)
    optimizer_f: optax.GradientTransformation = eqx.field(
        static=True, kw_only=True, default_factory=clipped_adam
    )
    optimizer_q: optax.GradientTransformation = eqx.field(
        static=True, kw_only=True, default_factory=clipped_adam
    )

    def __check_init__(self):
        spaces = {str(getattr(part, "space", "")) for part in (self.kernel, self.proposal)} - {""}
        require(len(spaces) <= 1, f"kernel and proposal must be of one space, got {sorted(spaces)}")
        require(self.persistence >= 1, f"persistence must be at least 1, got {self.persistence}")
        require(
            self.persistence % self.num_f_steps == 0,
            f"persistence must be a multiple of num_f_steps={self.num_f_steps}, so that all new "
            f"draws are moved at once, got {self.persistence}",
        )

    def init(
        self, f: Energy, q: LocalSearch, chains: Int[Array, "batch dim"] | None = None
    ) -> State:
        """The state before the first step; `chains` (uniform draws, say) are needed to persist."""
        chains = self._first_chains(chains) if self.persistence > 1 else None
        reweighs = chains is not None and self.resample
        return State(
            f=f,
            q=q,
            ema_f=f,
            opt_f=self.optimizer_f.init(eqx.filter(f, eqx.is_inexact_array)),
            opt_q=self.optimizer_q.init(eqx.filter(q, eqx.is_inexact_array)),
            chains=chains,
            chains_f=jax.vmap(jax.vmap(f))(chains) if reweighs else None,
            step=jnp.zeros((), jnp.int32),
        )

    def _first_chains(self, chains: Array | None) -> Int[Array, "starts lives dim"]:
        lives = self.persistence
        require(
            chains is not None and chains.shape[0] % lives == 0,
            f"persistence={lives} needs the states at which chains begin: as many as the batch, "
            f"a multiple of {lives}, got {None if chains is None else chains.shape[0]}",
        )
        assert chains is not None
        return chains.reshape(-1, lives, chains.shape[1])[:, 1:]

    def step_on_shard(self, keys, state: State, x, z=None, *, axis=None) -> tuple[State, Info]:
        require(
            z is None or (self.persistence == 1 and not self.resample and self.num_data == 1),
            f"persistence={self.persistence}, resample={self.resample} and num_data="
            f"{self.num_data} are for models without a condition, whose states may change places; "
            "use persistence=1, resample=False, num_data=1",
        )
        check_num_data(self.num_data, x)
        mean = mean_over(axis)
        keys = keys[:: self.num_data]  # one for each negative
        keys = jax.vmap(lambda k: jax.random.split(k, 1 + self.num_power_steps))(keys)
        chains = _shard(state.chains, axis)
        keys_q, keys_kernel = _split(keys[:, 0])
        x_hat, num_edits = self._draws(keys_q, state.f, state.q, z, chains, axis)
        f_hat = self._values(state, x_hat, axis)
        parts = (keys_kernel, x, x_hat, f_hat, z)
        state, (x_neg, f_neg), (f_loss, f_data, f_mean) = self._f_steps(state, parts, mean, axis)
        by_start = lambda a: a.reshape(len(num_edits), -1, *a.shape[1:])
        x_neg, f_neg = jax.tree.map(by_start, (x_neg, f_neg))

        q, opt_q, targets = state.q, state.opt_q, x_neg[:, -1]
        keys = keys[:: self.persistence]  # one for each draw of q
        for i in range(self.num_power_steps):
            key_draw, key_proposal = _split(keys[:, 1 + i])
            if i > 0:
                targets = self.negatives(key_draw, state.f, q, z, axis=axis)[0][:, -1]
            (loss, q_info), grads = self._q_grad(q, key_proposal, targets, z)
            q, opt_q = apply_gradients(self.optimizer_q, mean(grads), opt_q, q)

        info = mean(Info(f_loss, loss, f_data, f_mean, jnp.mean(num_edits), *q_info))  # pyright: ignore[reportPossiblyUnboundVariable]
        lasting = (None if chains is None else x_neg, f_neg)
        chains, chains_f = jax.tree.map(lambda a: _gather(a[:, :-1], axis), lasting)
        return state._replace(q=q, opt_q=opt_q, chains=chains, chains_f=chains_f), info

    def _values(self, state: State, x_hat, axis) -> Float[Array, " batch"] | None:
        """f of new draws and, of the chains that they join, as it was."""
        if state.chains_f is None:
            return None
        older = _shard(state.chains_f, axis)
        new = jax.vmap(state.f)(x_hat[:: 1 + older.shape[1]])
        return jnp.concatenate([new[:, None], older], axis=1).reshape(-1)

    def _f_steps(self, state: State, batch, mean, axis) -> tuple[State, tuple, tuple]:
        """Part by part the kernel moves the negatives and f steps: x_neg, f of it, mean losses."""
        trained, fixed = eqx.partition((state.f, state.ema_f, state.opt_f), eqx.is_array)
        # Every F-th row makes a part, so that it is the same however the batch is split on devices.
        cut = lambda rows: jnp.moveaxis(rows.reshape(-1, self.num_f_steps, *rows.shape[1:]), 1, 0)
        join = lambda parts: jnp.moveaxis(parts, 0, 1).reshape(-1, *parts.shape[2:])

        def one(carry, part):
            (trained, step), (keys, x, x_hat, f_hat, z) = carry, part
            f, ema_f, opt_f = eqx.combine(trained, fixed)
            if f_hat is not None:
                keys_choice, keys = _split(keys)
                log_w = jax.vmap(f)(x_hat) - f_hat
                (x_hat,) = _resample(keys_choice, log_w, (x_hat,), axis)
            x_neg = self._move(keys, x_hat, f, z)
            (f_loss, means), grads = eqx.filter_value_and_grad(mle_loss, has_aux=True)(
                f, x, x_neg, z
            )
            f_neg = None if f_hat is None else jax.vmap(f)(x_neg)
            f, opt_f = apply_gradients(self.optimizer_f, mean(grads), opt_f, f)
            ema_f = moving_average(ema_f, f, self.ema_decay, step)
            trained = eqx.filter((f, ema_f, opt_f), eqx.is_array)
            return (trained, step + 1), (x_neg, f_neg, (f_loss, *means))

        parts = jax.tree.map(cut, batch)
        (trained, step), (x_neg, f_neg, losses) = jax.lax.scan(one, (trained, state.step), parts)
        f, ema_f, opt_f = eqx.combine(trained, fixed)
        state = state._replace(f=f, ema_f=ema_f, opt_f=opt_f, step=step)
        return state, jax.tree.map(join, (x_neg, f_neg)), jax.tree.map(jnp.mean, losses)

    def _q_grad(self, q: LocalSearch, keys, targets, z):
        """Algorithm 2's loss and info, and its gradient."""
        return eqx.filter_value_and_grad(q_loss, has_aux=True)(
            q, keys, targets, z, proposal=self.proposal, num_trajectories=self.num_trajectories
        )

    def negatives(
        self,
        keys: Key[Array, " batch"],
        f: Energy,
        q: LocalSearch,
        z: Array | None,
        chains: Int[Array, "starts older dim"] | None = None,
        axis: str | None = None,
    ) -> tuple[Int[Array, "starts lives dim"], Int[Array, " starts"]]:
        """x_neg ~ q k_f and the chains, each a kernel step on; and how many edits each draw took.

        There is one key for each state that comes out.
        """
        keys_q, keys_kernel = _split(keys)
        x_hat, num_edits = self._draws(keys_q, f, q, z, chains, axis)
        x_neg = self._move(keys_kernel, x_hat, f, z)
        return x_neg.reshape(len(num_edits), -1, x_neg.shape[1]), num_edits

    def _draws(self, keys, f, q, z, chains, axis) -> tuple[Int[Array, "batch dim"], Array]:
        """New draws of q, each before the chains that it joins, and how many edits each took."""
        keys = keys[:: 1 if chains is None else 1 + chains.shape[1]]
        if self.resample:
            x_hat, num_edits = self._resampled(keys, f, q, axis)
        else:
            x_hat, num_edits = sample_ends(q, keys, z)
        if chains is not None:
            x_hat = jnp.concatenate([x_hat[:, None], chains], axis=1).reshape(-1, x_hat.shape[1])
        return x_hat, num_edits

    def _move(self, keys, x, f, z) -> Int[Array, "batch dim"]:
        """Where the kernel leads from each state."""
        step = lambda key, x, z: run(self.kernel, key, x, f, z, num_steps=self.num_kernel_steps)
        return jax.vmap(step)(keys, x, z)

    def _resampled(self, keys: Key[Array, " starts"], f: Energy, q: LocalSearch, axis: str | None):
        """Draws of q resampled by their weights, and how many edits each took."""
        keys_q, keys_choice = _split(keys)
        drawn = jax.vmap(q.sample)(keys_q)
        log_q, log_s = jax.vmap(q.log_prob)(drawn), jax.vmap(self.proposal.log_prob)(drawn)
        log_w = jax.vmap(f)(drawn.last) + log_s - log_q
        return _resample(keys_choice, log_w, (drawn.last, drawn.num_edits), axis)


def _resample(keys: Key[Array, " n"], log_w: Float[Array, " n"], rows: tuple, axis: str | None):
    """Rows resampled by their weights, over all devices."""
    log_w = _gather(log_w, axis)
    place = _gather(jax.vmap(jax.random.uniform)(keys), axis)[0]  # one number for all devices
    # No weight counts more than sqrt(n) times their mean (Ionides 2008), so that one draw of a
    # poor q cannot take the place of all others.
    cap = jax.nn.logsumexp(log_w) - 0.5 * jnp.log(log_w.shape[0])
    chosen = systematic(place, jnp.minimum(log_w, cap))
    return tuple(_shard(_gather(a, axis)[chosen], axis) for a in rows)


def systematic(
    place: Float[Array, ""], log_w: Float[Array, " n"], num: int | None = None
) -> Int[Array, " num"]:
    """`num` indices (n unless given), each as often as its weight asks for, give or take one.

    `place` is in [0, 1).
    """
    num = log_w.shape[0] if num is None else num
    log_w = jnp.where(jnp.isfinite(log_w).any(), log_w, 0)  # all impossible: all alike
    share = jnp.cumsum(jax.nn.softmax(log_w))
    places = (jnp.arange(num) + place) / num * share[-1]
    return jnp.minimum(jnp.searchsorted(share, places), log_w.shape[0] - 1)


def _shard(rows: Any, axis: str | None) -> Any:
    """This device's part of rows that all devices hold."""
    if rows is None or axis is None:
        return rows
    return rows.reshape(jax.lax.axis_size(axis), -1, *rows.shape[1:])[jax.lax.axis_index(axis)]


def _gather(rows: Array, axis: str | None) -> Array:
    """The inverse of `_shard`."""
    return rows if axis is None else jax.lax.all_gather(rows, axis, tiled=True)


def _split(keys: Key[Array, " batch"]) -> tuple[Array, Array]:
    pairs = jax.vmap(jax.random.split)(keys)
    return pairs[:, 0], pairs[:, 1]
