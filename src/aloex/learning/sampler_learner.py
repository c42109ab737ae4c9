"""Learn a search q that samples a given energy f: power iteration (Algorithm 2) while f cools.

No data are needed. At the inverse temperature b the energy is f_b = b f, and b rises from 0, where
all states are alike and q can hardly be wrong, to 1. A step

1. draws trajectories from q and resamples their ends by their weights exp f_b(x) / q(x), which
   are estimated with the backward law s (`proposals.weights`);
2. lets draws of earlier steps live on beside them (`persistence`), resampled as f_b changes;
3. moves all by the kernel of f_b, and gives the oldest to q as targets;
4. learns s from the trajectories that q has drawn, by maximum likelihood.

So q is asked at every b for little more than it knew before. With a condition z all happens for
many z side by side; states are resampled among rows of equal z only.
"""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int, Key

from aloex.base.errors import require
from aloex.cursor import Energy
from aloex.importance_weights import effective_sample_size, log_mean_exp
from aloex.kernels import Kernel
from aloex.kernels.tempered import tempered
from aloex.learning.backward import update_backward
from aloex.learning.negatives import Chains, Negatives, by_age, resample_rows
from aloex.learning.power_iteration import q_loss
from aloex.learning.updates import apply_gradients, clipped_adam, moving_average
from aloex.proposals import LearnedInverse, Proposal, weigh
from aloex.samplers import LocalSearch
from aloex.trajectory import Trajectory


class SamplerState(NamedTuple):
    """All that training carries from step to step."""

    q: LocalSearch
    backward: Proposal
    ema: tuple[LocalSearch, Proposal]  # moving averages of both
    opt_q: optax.OptState
    opt_backward: optax.OptState
    chains: Chains | None  # draws that live on, [starts, ages]
    step: Int[Array, ""]


class SamplerInfo(NamedTuple):
    """Means over the draws."""

    q_loss: Float[Array, ""]
    backward_loss: Float[Array, ""]
    inverse_temperature: Float[Array, ""]
    log_z: Float[Array, ""]  # of f_b, from the draws of this step
    effective_fraction: Float[Array, ""]  # effective sample size of their weights, as a share
    num_edits: Float[Array, ""]
    dropped_fraction: Float[Array, ""]


class SamplerLearner(eqx.Module):
    """What learns q for an energy; see the module's docstring.

    Args:
        f: the energy, f(x, z) -> scalar.
        kernel: moves draws, of any energy.
        num_draws: fresh draws of q in a step.
        num_anneal_steps: when b reaches 1.
        num_per_condition: with conditions, how many of the draws share one.
        num_trajectories: N, for the gradient of log q.
        num_weight_trajectories: K, for the weights of draws.
        num_kernel_steps: of each draw in a step.
        persistence: L, the steps that a draw lives for; there are L num_draws states to move.
        optimizer: of q, and of the backward law.
        ema_decay: of the moving averages.

    Example:
        >>> import equinox as eqx, jax
        >>> from aloex import kernels, proposals, samplers, spaces
        >>> from aloex.learning.sampler_learner import SamplerLearner
        >>> space = spaces.Bits(3)
        >>> likes_ones = lambda x, z=None: 1.0 * x.sum()
        >>> learner = SamplerLearner(likes_ones, kernels.Gibbs(space), num_draws=8)
        >>> q = samplers.LocalSearch(samplers.Factorized(space))
        >>> state = learner.init(q, proposals.Inverse(space=space, max_edits=0))
        >>> state, info = eqx.filter_jit(learner.step)(jax.random.key(1), state)
        >>> int(state.step), float(info.inverse_temperature)
        (1, 0.0)
    """

    f: Any  # an Energy
    kernel: Kernel
    num_draws: int = eqx.field(static=True, kw_only=True, default=256)
    num_anneal_steps: int = eqx.field(static=True, kw_only=True, default=1000)
    num_per_condition: int = eqx.field(static=True, kw_only=True, default=1)
    num_trajectories: int = eqx.field(static=True, kw_only=True, default=4)
    num_weight_trajectories: int = eqx.field(static=True, kw_only=True, default=1)
    num_kernel_steps: int = eqx.field(static=True, kw_only=True, default=1)
    persistence: int = eqx.field(static=True, kw_only=True, default=1)
    optimizer: optax.GradientTransformation = eqx.field(
        static=True, kw_only=True, default_factory=clipped_adam
    )
    ema_decay: float = eqx.field(static=True, kw_only=True, default=0.999)

    def __check_init__(self):
        require(
            self.num_draws % self.num_per_condition == 0,
            f"num_per_condition must divide the {self.num_draws} draws of a step, got "
            f"{self.num_per_condition}",
        )

    def init(
        self,
        q: LocalSearch,
        backward: Proposal,
        chains: Int[Array, "batch dim"] | None = None,
        z: Array | None = None,
    ) -> SamplerState:
        """The state before the first step.

        Args:
            q, backward: with fresh weights, or others to go on from.
            chains: with `persistence` > 1, uniform draws, num_draws persistence of them.
            z: their conditions, if there are any.
        """
        first = self._negatives(backward).first_chains(self.energy(jnp.zeros(())), chains, z)
        start = lambda part: self.optimizer.init(eqx.filter(part, eqx.is_inexact_array))
        zero = jnp.zeros((), jnp.int32)
        return SamplerState(q, backward, (q, backward), start(q), start(backward), first, zero)

    def energy(self, b: Float[Array, ""]) -> Energy:
        """f_b."""
        return tempered(self.f, b)

    def step(
        self, key: Key[Array, ""], state: SamplerState, x: None = None, z: Array | None = None
    ) -> tuple[SamplerState, SamplerInfo]:
        """One step; there are no data x, but conditions z [num_draws, cond] if f has any."""
        b = jnp.minimum(state.step / self.num_anneal_steps, 1.0)
        f, n = self.energy(b), self.num_draws
        key_draw, key_move, key_q, key_choice, key_weights = jax.random.split(key, 5)

        # Draws of q, resampled by their weights, and the chains that live on.
        drawn = jax.vmap(state.q.sample)(jax.random.split(key_draw, n), z)
        log_w = self._log_weights(key_weights, f, state, drawn, z)
        keys_choice = jax.random.split(key_choice, n)
        (x_hat,) = resample_rows(keys_choice, log_w, (drawn.last,), z, None)
        negatives = self._negatives(state.backward)
        rows = negatives.joined(f, x_hat, z, state.chains)
        keys_move = jax.random.split(key_move, rows.x.shape[0])
        moved = by_age(negatives.move(keys_move, rows, f, None), n)

        # q towards the oldest, s towards the trajectories of q.
        oldest = jax.tree.map(lambda a: a[:, -1], moved)
        state, (loss_q, q_info) = self._update_q(state, jax.random.split(key_q, n), oldest)
        state, loss_backward = self._update_backward(state, drawn, z)
        average = moving_average(state.ema, (state.q, state.backward), self.ema_decay, state.step)
        if state.chains is not None:
            chains = jax.tree.map(lambda a: a[:, :-1], moved)
            state = state._replace(chains=chains)
        by_condition = self._by_condition(log_w, z)
        effective = effective_sample_size(by_condition) / by_condition.shape[1]
        info = SamplerInfo(
            q_loss=loss_q,
            backward_loss=loss_backward,
            inverse_temperature=b,
            log_z=jnp.mean(log_mean_exp(by_condition)),
            effective_fraction=jnp.mean(effective),
            num_edits=jnp.mean(drawn.num_edits, dtype=log_w.dtype),
            dropped_fraction=q_info.dropped_fraction,
        )
        return state._replace(ema=average, step=state.step + 1), info

    def _negatives(self, backward: Proposal) -> Negatives:
        return Negatives(
            self.kernel,
            backward,
            num_kernel_steps=self.num_kernel_steps,
            persistence=self.persistence,
            resample=True,
        )

    def _log_weights(
        self,
        key: Key[Array, ""],
        f: Energy,
        state: SamplerState,
        drawn: Trajectory,
        z: Array | None,
    ) -> Float[Array, " draws"]:
        def of_one(key: Array, drawn: Trajectory, z: Array | None) -> Array:
            k = self.num_weight_trajectories
            return weigh(key, f, state.q, state.backward, drawn, z, num_trajectories=k).log_w

        return jax.vmap(of_one)(jax.random.split(key, self.num_draws), drawn, z)

    def _by_condition(
        self, log_w: Float[Array, " draws"], z: Array | None
    ) -> Float[Array, "conditions some"]:
        return log_w.reshape(-1, self.num_draws if z is None else self.num_per_condition)

    def _update_q(
        self, state: SamplerState, keys: Key[Array, " draws"], targets: Chains
    ) -> tuple[SamplerState, Any]:
        """Algorithm 2 from the targets; also its loss and info."""
        result, grads = eqx.filter_value_and_grad(q_loss, has_aux=True)(
            state.q,
            keys,
            targets.x,
            targets.z,
            proposal=jax.lax.stop_gradient(state.backward),
            num_trajectories=self.num_trajectories,
        )
        q, opt_q = apply_gradients(self.optimizer, grads, state.opt_q, state.q)
        return state._replace(q=q, opt_q=opt_q), result

    def _update_backward(
        self, state: SamplerState, drawn: Trajectory, z: Array | None
    ) -> tuple[SamplerState, Float[Array, ""]]:
        """The backward law, if there is one to learn; also its loss."""
        if not isinstance(state.backward, LearnedInverse):
            return state, jnp.zeros(())
        backward, opt, loss = update_backward(
            self.optimizer, state.backward, state.opt_backward, drawn, z
        )
        return state._replace(backward=backward, opt_backward=opt), loss
