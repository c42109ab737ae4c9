"""Algorithm 1 (ALOE): learn an energy f and, beside it, a local search q that samples it.

A step draws x_hat ~ q and x_neg ~ k_f(. | x_hat), raises f on data and lowers it on x_neg, then
moves q towards the kernel-improved draws (Algorithm 2, `power_iteration`). The first power step
takes the x_neg at hand as its targets; further ones draw anew with the new f.

What else negatives can be, chains that live on (`persistence`) and draws that are resampled
(`resample`), is told in `negatives`. Two more settings change how much f learns from them:

With `num_f_steps` = F > 1 the batch is cut in F parts, those with the new draws first, and for each
the kernel moves the negatives and f takes a step. So q, drawn from and learned F times less often,
costs little beside the kernel.

With `num_data` = D > 1 a batch holds D examples of data to each negative, which takes the condition
of the first of them. Data cost f one evaluation, a negative a sweep of them, and the noise of
either ends up in f.
"""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int, Key

from aloex.base.errors import require
from aloex.cursor import Energy
from aloex.kernels import Kernel
from aloex.learning.backward import update_backward
from aloex.learning.learner import (
    ShardedLearner,
    check_num_data,
    gather,
    mean_over,
    shard,
    split_keys,
)
from aloex.learning.negatives import Chains, Negatives, by_age
from aloex.learning.power_iteration import q_loss
from aloex.learning.updates import apply_gradients, clipped_adam, mle_loss, moving_average
from aloex.proposals import LearnedInverse, Proposal
from aloex.samplers import LocalSearch

Losses = tuple[Float[Array, ""], Float[Array, ""], Float[Array, ""]]  # of f; f on data, on x_neg


class ALOEState(NamedTuple):
    """All that training carries from step to step."""

    f: Energy
    q: LocalSearch
    ema_f: Energy  # exponential moving average of f
    opt_f: optax.OptState
    opt_q: optax.OptState
    chains: Chains | None  # negatives that live on, [starts, ages]
    step: Int[Array, ""]
    backward: LearnedInverse | None = None  # s_x, if it is learned
    opt_backward: Any = None  # an optax.OptState with it


class ALOEInfo(NamedTuple):
    """Means over the batch."""

    f_loss: Float[Array, ""]
    q_loss: Float[Array, ""]
    f_data: Float[Array, ""]
    f_neg: Float[Array, ""]
    num_edits: Float[Array, ""]
    log_q: Float[Array, ""]
    effective_sample_size: Float[Array, ""]
    dropped_fraction: Float[Array, ""]


class ALOE(ShardedLearner):
    """ALOE (Algorithm 1, alg:aloe), with its settings; `init` and `step` do the work.

    A step draws x_hat ~ q and x_neg ~ k_f(. | x_hat), then updates

        f  with  -grad f(x) + grad f(x_neg),
        q  with  grad log q(x_neg), estimated from N trajectories of the proposal (alg:learn_q).

    Args:
        kernel: k_f, which leaves p_f unchanged.
        proposal: s_x, which draws trajectories that end in x; unless `init` is given one to learn.
        num_trajectories: N.
        num_power_steps: steps of q in a step of the algorithm.
        num_f_steps: F, the steps of f in a step of the algorithm.
        num_data: D, examples of data to each negative; a batch holds D times as many.
        num_kernel_steps: kernel steps from x_hat to x_neg; a step of `Gibbs` is a sweep.
        persistence: L, the steps that a draw of q lives for.
        resample: whether draws and chains are resampled by importance weights.
        optimizer_f, optimizer_q: Adam with clipped gradients unless given.
        ema_decay: of the moving average of f.

    >>> import equinox as eqx, jax
    >>> from aloex import energies, kernels, proposals, samplers, spaces
    >>> space = spaces.Bits(3)
    >>> aloe = ALOE(kernels.Gibbs(space), proposals.Inverse(space=space, max_edits=0))
    >>> f = energies.MLP(space, hidden=(4,), key=jax.random.key(0))
    >>> state = aloe.init(f, samplers.LocalSearch(samplers.Factorized(space)))
    >>> x = jax.numpy.array([[0, 1, 1], [1, 1, 1]])
    >>> state, info = eqx.filter_jit(aloe.step)(jax.random.key(1), state, x)
    >>> int(state.step), info._fields[:2]
    (1, ('f_loss', 'q_loss'))
    """

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

    @property
    def negatives(self) -> Negatives:
        """Where this learner's negatives come from."""
        return self._negatives(self.proposal)

    def _negatives(self, proposal: Proposal) -> Negatives:
        return Negatives(
            self.kernel,
            proposal,
            num_kernel_steps=self.num_kernel_steps,
            persistence=self.persistence,
            resample=self.resample,
        )

    def init(
        self,
        f: Energy,
        q: LocalSearch,
        chains: Int[Array, "batch dim"] | None = None,
        z: Array | None = None,
        backward: LearnedInverse | None = None,
    ) -> ALOEState:
        """The state before the first step.

        Args:
            f, q: with fresh weights, or others to go on from.
            chains: with `persistence` > 1, where the chains begin, as many as a step has negatives;
                uniform draws, say.
            z: their conditions, if there are any: those of rows of data.
            backward: a law to learn beside q, in the place of the proposal.
        """
        start_q = lambda part: self.optimizer_q.init(eqx.filter(part, eqx.is_inexact_array))
        return ALOEState(
            f=f,
            q=q,
            ema_f=f,
            opt_f=self.optimizer_f.init(eqx.filter(f, eqx.is_inexact_array)),
            opt_q=start_q(q),
            chains=self.negatives.first_chains(f, chains, z),
            step=jnp.zeros((), jnp.int32),
            backward=backward,
            opt_backward=None if backward is None else start_q(backward),
        )

    def step_on_shard(
        self,
        keys: Key[Array, " batch"],
        state: ALOEState,
        x: Int[Array, "batch dim"],
        z: Array | None = None,
        *,
        axis: str | None = None,
    ) -> tuple[ALOEState, ALOEInfo]:
        """Once through the loop of Algorithm 1, for this device's part of a batch.

        Args:
            keys: one for each row of x.
            x, z: data [batch, dim] and, if f and q are conditional, conditions [batch, ...].
        """
        check_num_data(self.num_data, x)
        # One key for each negative; one row of z for each new draw.
        keys = jax.vmap(lambda k: jax.random.split(k, 1 + self.num_power_steps))(
            keys[:: self.num_data]
        )
        z_new = None if z is None else z[:: self.num_data * self.persistence]
        keys_q, keys_kernel = split_keys(keys[:, 0])
        chains = shard(state.chains, axis)

        # Sample x_hat ~ q and x_neg ~ k_f(. | x_hat); update f with -grad f(x) + grad f(x_neg).
        negatives = self._negatives(state.backward or self.proposal)
        x_hat, num_edits, drawn = negatives.draw(keys_q, state.f, state.q, z_new, chains, axis)
        state, x_neg, f_means = self.update_f(state, keys_kernel, x, z, x_hat, axis)

        # Update q by Algorithm 2, towards the oldest of the negatives.
        x_neg = by_age(x_neg, len(num_edits))
        oldest = jax.tree.map(lambda a: a[:, -1], x_neg)
        keys = keys[:: self.persistence, 1:]
        state, (loss_q, q_info) = self.update_q(state, keys, oldest, z_new, axis)
        if state.backward is not None and drawn is not None:  # s learns how q came to its draws
            backward, opt_backward, _ = update_backward(
                self.optimizer_q, state.backward, state.opt_backward, drawn, z_new, mean_over(axis)
            )
            state = state._replace(backward=backward, opt_backward=opt_backward)

        if chains is not None:  # the others live on
            chains = jax.tree.map(lambda a: gather(a[:, :-1], axis), x_neg)
        f_loss, f_data, f_neg = f_means
        info = ALOEInfo(f_loss, loss_q, f_data, f_neg, jnp.mean(num_edits), *q_info)
        return state._replace(chains=chains), mean_over(axis)(info)

    def update_f(
        self,
        state: ALOEState,
        keys: Key[Array, " negatives"],
        x: Int[Array, "batch dim"],
        z: Array | None,
        x_hat: Chains,
        axis: str | None,
    ) -> tuple[ALOEState, Chains, Losses]:
        """Part by part the kernel moves x_hat to x_neg and f steps; also x_neg and mean losses."""
        trained, fixed = eqx.partition((state.f, state.ema_f, state.opt_f), eqx.is_array)
        mean = mean_over(axis)

        def one_part(carry: Any, part: Any) -> tuple[Any, tuple[Chains, Losses]]:
            (trained, step), (keys, x, z, x_hat) = carry, part
            f, ema_f, opt_f = eqx.combine(trained, fixed)
            x_neg = self.negatives.move(keys, x_hat, f, axis)
            (f_loss, means), grads = eqx.filter_value_and_grad(mle_loss, has_aux=True)(
                f, x, x_neg.x, z, x_neg.z
            )
            f, opt_f = apply_gradients(self.optimizer_f, mean(grads), opt_f, f)
            ema_f = moving_average(ema_f, f, self.ema_decay, step)
            trained = eqx.filter((f, ema_f, opt_f), eqx.is_array)
            return (trained, step + 1), (x_neg, (f_loss, *means))

        # Every F-th row makes a part, so that it is the same however the batch is split on devices.
        cut = lambda rows: jnp.moveaxis(rows.reshape(-1, self.num_f_steps, *rows.shape[1:]), 1, 0)
        join = lambda parts: jnp.moveaxis(parts, 0, 1).reshape(-1, *parts.shape[2:])
        parts = jax.tree.map(cut, (keys, x, z, x_hat))
        (trained, step), (x_neg, losses) = jax.lax.scan(one_part, (trained, state.step), parts)
        f, ema_f, opt_f = eqx.combine(trained, fixed)
        state = state._replace(f=f, ema_f=ema_f, opt_f=opt_f, step=step)
        return state, jax.tree.map(join, x_neg), jax.tree.map(jnp.mean, losses)

    def update_q(
        self,
        state: ALOEState,
        keys: Key[Array, "targets power_steps"],
        targets: Chains,
        z: Array | None,
        axis: str | None,
    ) -> tuple[ALOEState, Any]:
        """Algorithm 2 from targets ~ q k_f; also the last step's loss and info."""
        q, opt_q, result = state.q, state.opt_q, None
        proposal = jax.lax.stop_gradient(state.backward) or self.proposal
        gradient = eqx.filter_value_and_grad(q_loss, has_aux=True)
        for i in range(self.num_power_steps):
            keys_draw, keys_proposal = split_keys(keys[:, i])
            if i > 0:
                negatives = self._negatives(proposal)
                drawn, _ = negatives.sample(keys_draw, state.f, q, z, axis=axis)
                targets = jax.tree.map(lambda a: a[:, -1], drawn)
            result, grads = gradient(
                q,
                keys_proposal,
                targets.x,
                targets.z,
                proposal=proposal,
                num_trajectories=self.num_trajectories,
            )
            q, opt_q = apply_gradients(self.optimizer_q, mean_over(axis)(grads), opt_q, q)
        return state._replace(q=q, opt_q=opt_q), result
