"""Algorithm 1 (ALOE): learn an energy f and, beside it, a local search q that samples it.

A step draws x_hat ~ q and x_neg ~ k_f(. | x_hat), raises f on data and lowers it on x_neg, then
moves q towards the kernel-improved draws (Algorithm 2, `power_iteration`). The first power step
takes the x_neg at hand as its targets; further ones draw anew with the new f.
"""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int, Key, PyTree

from aloex.cursor import Energy
from aloex.errors import require
from aloex.kernels import Kernel, run
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
    left_out: Float[Array, ""]


class ALOE(eqx.Module):
    """The algorithm with its settings; `init` and `step` do the work."""

    kernel: Kernel
    proposal: Proposal
    num_trajectories: int = eqx.field(static=True, kw_only=True, default=10)
    num_power_steps: int = eqx.field(static=True, kw_only=True, default=1)
    num_kernel_steps: int = eqx.field(static=True, kw_only=True, default=1)
    ema_decay: float = eqx.field(static=True, kw_only=True, default=0.999)
    optimizer_f: optax.GradientTransformation = eqx.field(
        static=True, kw_only=True, default_factory=clipped_adam
    )
    optimizer_q: optax.GradientTransformation = eqx.field(
        static=True, kw_only=True, default_factory=clipped_adam
    )

    def __check_init__(self):
        for name in ("num_trajectories", "num_power_steps", "num_kernel_steps"):
            value = getattr(self, name)
            require(value >= 1, f"{name} must be at least 1, got {value}")
        require(0 <= self.ema_decay < 1, f"ema_decay must be in [0, 1), got {self.ema_decay}")

    def init(self, f: Energy, q: LocalSearch) -> State:
        """The state before the first step."""
        return State(
            f=f,
            q=q,
            ema_f=f,
            opt_f=self.optimizer_f.init(eqx.filter(f, eqx.is_inexact_array)),
            opt_q=self.optimizer_q.init(eqx.filter(q, eqx.is_inexact_array)),
            step=jnp.zeros((), jnp.int32),
        )

    def step(
        self,
        key: Key[Array, ""],
        state: State,
        x: Int[Array, "batch dim"],
        z: Array | None = None,
    ) -> tuple[State, Info]:
        """One step on a batch of data."""
        return self.step_on_shard(jax.random.split(key, x.shape[0]), state, x, z)

    def step_on_shard(
        self,
        keys: Key[Array, " batch"],
        state: State,
        x: Int[Array, "batch dim"],
        z: Array | None = None,
        *,
        axis: str | None = None,
    ) -> tuple[State, Info]:
        """A step on this device's part of the batch, gradients averaged over the mesh axis.

        Every example brings its own key, so the draws do not depend on how the batch is split.
        """
        mean = (lambda t: jax.lax.pmean(t, axis)) if axis else (lambda t: t)
        keys = jax.vmap(lambda k: jax.random.split(k, 1 + self.num_power_steps))(keys)
        x_neg, num_edits = self.negatives(keys[:, 0], state.f, state.q, z)
        (f_loss, (f_data, f_neg)), grads = eqx.filter_value_and_grad(mle_loss, has_aux=True)(
            state.f, x, x_neg, z
        )
        f, opt_f = apply_gradients(self.optimizer_f, mean(grads), state.opt_f, state.f)

        q, opt_q, targets = state.q, state.opt_q, x_neg
        for i in range(self.num_power_steps):
            key_draw, key_proposal = _split(keys[:, 1 + i])
            if i > 0:
                targets, _ = self.negatives(key_draw, f, q, z)
            (loss, q_info), grads = self._q_grad(q, key_proposal, targets, z)
            q, opt_q = apply_gradients(self.optimizer_q, mean(grads), opt_q, q)

        ema_f = moving_average(state.ema_f, f, self.ema_decay, state.step)
        info = mean(Info(f_loss, loss, f_data, f_neg, jnp.mean(num_edits), *q_info))  # pyright: ignore[reportPossiblyUnboundVariable]
        return State(f, q, ema_f, opt_f, opt_q, state.step + 1), info

    def _q_grad(self, q: LocalSearch, keys, targets, z):
        """Algorithm 2's loss and info, and its gradient."""
        return eqx.filter_value_and_grad(q_loss, has_aux=True)(
            q, keys, targets, z, proposal=self.proposal, num_trajectories=self.num_trajectories
        )

    def negatives(
        self, keys: Key[Array, " batch"], f: Energy, q: LocalSearch, z: Array | None
    ) -> tuple[Int[Array, "batch dim"], Int[Array, " batch"]]:
        """x_neg ~ q k_f, and how many edits each start took."""

        keys_q, keys_kernel = _split(keys)
        x_hat, num_edits = sample_ends(q, keys_q, z)
        step = lambda key, x, z: run(self.kernel, key, x, f, z, num_steps=self.num_kernel_steps)
        return jax.vmap(step)(keys_kernel, x_hat, z), num_edits


def _split(keys: Key[Array, " batch"]) -> tuple[Array, Array]:
    pairs = jax.vmap(jax.random.split)(keys)
    return pairs[:, 0], pairs[:, 1]
