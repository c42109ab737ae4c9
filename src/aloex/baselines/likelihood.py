"""Maximum likelihood for models whose log probability, or a bound on it, can be computed."""

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int, Key

from aloex.learning.learner import ShardedLearner, mean_over
from aloex.learning.updates import apply_gradients, clipped_adam, moving_average

Objective = Callable[[Any, Array, Array, Array | None], Array]  # of q, a key, x [dim] and z


class LikelihoodState(NamedTuple):
    """All that training carries from step to step."""

    q: Any
    ema_q: Any  # exponential moving average of q
    opt_q: optax.OptState
    step: Int[Array, ""]


class LikelihoodInfo(NamedTuple):
    """Means over the batch."""

    loss: Float[Array, ""]


def log_prob(q: Any, key: Key[Array, ""], x: Int[Array, " dim"], z: Array | None) -> Array:
    """log q(x | z), for which no randomness is needed."""
    return q.log_prob(x, z)


class MaximumLikelihood(ShardedLearner):
    """Adam on the mean of minus `objective(q, key, x, z)`, by default log q(x | z).

    Any q0 will do: `MaximumLikelihood()`. A VAE is trained by its bound:
    `MaximumLikelihood(objective=VAE.elbo)`.

    Args:
        objective: what to raise, a function of q, a key, x [dim] and z.
        optimizer_q: Adam with clipped gradients unless given.
        ema_decay: of the moving average of q.

    >>> import equinox as eqx, jax
    >>> from aloex.samplers import Factorized
    >>> from aloex.spaces import Bits
    >>> learner = MaximumLikelihood()
    >>> x = jax.numpy.array([[0, 1, 1], [1, 1, 1]])
    >>> state = learner.init(Factorized(Bits(3)))
    >>> state, info = eqx.filter_jit(learner.step)(jax.random.key(0), state, x)
    >>> round(float(info.loss), 3)  # 3 log 2: all states are alike at the start
    2.079
    """

    objective: Objective = eqx.field(static=True, kw_only=True, default=log_prob)
    optimizer_q: optax.GradientTransformation = eqx.field(
        static=True, kw_only=True, default_factory=clipped_adam
    )

    def init(self, q: Any) -> LikelihoodState:
        """The state before the first step."""
        opt_q = self.optimizer_q.init(eqx.filter(q, eqx.is_inexact_array))
        return LikelihoodState(q, q, opt_q, jnp.zeros((), jnp.int32))

    def step_on_shard(
        self,
        keys: Key[Array, " batch"],
        state: LikelihoodState,
        x: Int[Array, "batch dim"],
        z: Array | None = None,
        *,
        axis: str | None = None,
    ) -> tuple[LikelihoodState, LikelihoodInfo]:
        mean = mean_over(axis)

        def loss(q: Any) -> Float[Array, ""]:
            return -jnp.mean(jax.vmap(lambda key, x, z: self.objective(q, key, x, z))(keys, x, z))

        value, grads = eqx.filter_value_and_grad(loss)(state.q)
        q, opt_q = apply_gradients(self.optimizer_q, mean(grads), state.opt_q, state.q)
        ema_q = moving_average(state.ema_q, q, self.ema_decay, state.step)
        return LikelihoodState(q, ema_q, opt_q, state.step + 1), mean(LikelihoodInfo(value))
