"""ADE for discrete data: learn an energy f and, beside it, a sampler q by policy gradient.

f is raised on data and lowered on draws of q; q minimises L(q) = -E_q[f(x)] - H(q), which is
KL(q || p_f) - log Z_f. A draw cannot be differentiated, so its gradient is REINFORCE's:

    grad L(q) = E_q[grad log q(x) (-f(x) + log q(x) + 1 - b)]    with any b that x has no part in.

The appendix prints -log q(x) - 1; tests/baselines/test_ade.py decides the matter by enumeration.
After Dai et al. 2019 (adversarial dynamics embedding) and A2C.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int, Key

from aloex.base.errors import require
from aloex.cursor import Energy
from aloex.learning.learner import ShardedLearner, mean_over
from aloex.learning.updates import apply_gradients, clipped_adam, mle_loss, moving_average
from aloex.nets import Dense, check_condition
from aloex.samplers import Tractable

Q = TypeVar("Q", bound=Tractable)
Baseline = Callable[[Array | None], Array | float]  # b(z)


class Value(eqx.Module):
    """The baseline b(z): a moving mean of the cost and, given a condition, an MLP on top of it.

    The moving mean is there at once, whatever the scale of f; the MLP learns by squared error.
    """

    mean: Float[Array, ""]
    net: Dense | None
    cond_dim: int = eqx.field(static=True)

    def __init__(self, *, cond_dim: int = 0, hidden: int = 64, key: Key[Array, ""]):
        self.mean, self.cond_dim = jnp.zeros(()), cond_dim
        self.net = Dense((cond_dim, hidden, 1), key=key) if cond_dim else None

    def __call__(self, z: Array | None = None) -> Float[Array, ""]:
        check_condition(z, self.cond_dim)
        mean = jax.lax.stop_gradient(self.mean)
        return mean if self.net is None or z is None else mean + self.net(z)[0]


class ADEState(NamedTuple):
    """All that training carries from step to step."""

    f: Energy
    q: Tractable
    ema_f: Energy  # exponential moving average of f
    value: Value
    opt_f: optax.OptState
    opt_q: optax.OptState
    opt_value: optax.OptState
    step: Int[Array, ""]


class ADEInfo(NamedTuple):
    """Means over the batch."""

    f_loss: Float[Array, ""]
    f_data: Float[Array, ""]
    f_neg: Float[Array, ""]
    q_loss: Float[Array, ""]  # an estimate of L(q)
    entropy: Float[Array, ""]
    advantage: Float[Array, ""]  # mean square of cost - b: what the baseline leaves of the noise


class Draws(NamedTuple):
    """What `reinforce_gradient` found at the draws it made."""

    cost: Float[Array, " batch"]  # -f + log q + 1
    advantage: Float[Array, " batch"]  # cost - b
    log_q: Float[Array, " batch"]


class ADE(ShardedLearner):
    """ADE (the appendix's baseline) with its settings; `init` and `step` do the work.

    Args:
        num_q_steps: steps of q to one of f; the paper tunes them in {1, 3, 5}.
        rate_ratio: f's learning rate over q's; the paper tunes it in {0.2, 0.5, 1}.
        entropy_weight: that of H(q) in L(q).
        baseline_decay: of the moving mean of the cost.
        optimizer: of q, Adam with clipped gradients unless given.
        ema_decay: of the moving average of f.

    >>> import equinox as eqx, jax
    >>> from aloex import energies, samplers, spaces
    >>> space, key = spaces.Bits(3), jax.random.key(0)
    >>> ade = ADE()
    >>> state = ade.init(key, energies.MLP(space, hidden=(4,), key=key), samplers.Factorized(space))
    >>> x = jax.numpy.array([[0, 1, 1], [1, 1, 1]])
    >>> state, info = eqx.filter_jit(ade.step)(jax.random.key(1), state, x)
    >>> round(float(info.entropy), 3)  # 3 log 2: q is uniform at the start
    2.079
    """

    num_q_steps: int = eqx.field(static=True, kw_only=True, default=1)
    rate_ratio: float = eqx.field(static=True, kw_only=True, default=1.0)
    entropy_weight: float = eqx.field(static=True, kw_only=True, default=1.0)
    baseline_decay: float = eqx.field(static=True, kw_only=True, default=0.9)
    optimizer: optax.GradientTransformation = eqx.field(
        static=True, kw_only=True, default_factory=clipped_adam
    )

    def __check_init__(self):
        require(self.rate_ratio > 0, f"rate_ratio must be positive, got {self.rate_ratio}")
        require(
            self.entropy_weight >= 0,
            f"entropy_weight must not be negative, got {self.entropy_weight}",
        )
        require(
            0 <= self.baseline_decay < 1,
            f"baseline_decay must be in [0, 1), got {self.baseline_decay}",
        )

    @property
    def optimizer_f(self) -> optax.GradientTransformation:
        return optax.chain(self.optimizer, optax.scale(self.rate_ratio))

    def init(self, key: Key[Array, ""], f: Energy, q: Tractable, *, cond_dim: int = 0) -> ADEState:
        """The state before the first step."""
        value = Value(cond_dim=cond_dim, key=key)
        begin = lambda optimizer, model: optimizer.init(eqx.filter(model, eqx.is_inexact_array))
        return ADEState(
            f=f,
            q=q,
            ema_f=f,
            value=value,
            opt_f=begin(self.optimizer_f, f),
            opt_q=begin(self.optimizer, q),
            opt_value=begin(self.optimizer, value),
            step=jnp.zeros((), jnp.int32),
        )

    def step_on_shard(
        self,
        keys: Key[Array, " batch"],
        state: ADEState,
        x: Int[Array, "batch dim"],
        z: Array | None = None,
        *,
        axis: str | None = None,
    ) -> tuple[ADEState, ADEInfo]:
        mean = mean_over(axis)
        *keys_q, keys_neg = jax.vmap(lambda k: jax.random.split(k, 1 + self.num_q_steps))(keys).T
        for keys_draw in keys_q:
            state, q_info = self._q_step(keys_draw, state, z, mean)

        x_neg = jax.vmap(state.q.sample)(keys_neg, z)
        (f_loss, parts), grads = eqx.filter_value_and_grad(mle_loss, has_aux=True)(
            state.f, x, x_neg, z
        )
        f, opt_f = apply_gradients(self.optimizer_f, mean(grads), state.opt_f, state.f)
        ema_f = moving_average(state.ema_f, f, self.ema_decay, state.step)
        # q_info is bound: num_q_steps is at least 1.
        info = mean(ADEInfo(f_loss, *parts, *q_info))  # pyright: ignore[reportPossiblyUnboundVariable]
        return state._replace(f=f, ema_f=ema_f, opt_f=opt_f, step=state.step + 1), info

    def _q_step(
        self,
        keys: Key[Array, " batch"],
        state: ADEState,
        z: Array | None,
        mean: Callable[[Any], Any],
    ) -> tuple[ADEState, tuple[Array, Array, Array]]:
        """A step of q, and one of the baseline towards the costs just seen."""
        grads, draws = reinforce_gradient(
            state.q, keys, state.f, state.value, z, entropy_weight=self.entropy_weight
        )
        q, opt_q = apply_gradients(self.optimizer, mean(grads), state.opt_q, state.q)
        grads = mean(eqx.filter_grad(_squared_error)(state.value, draws.cost, z))
        value, opt_value = apply_gradients(self.optimizer, grads, state.opt_value, state.value)
        cost = moving_average(
            state.value.mean, mean(jnp.mean(draws.cost)), self.baseline_decay, state.step
        )
        value = eqx.tree_at(lambda v: v.mean, value, cost)
        info = (
            jnp.mean(draws.cost) - self.entropy_weight,
            -jnp.mean(draws.log_q),
            jnp.mean(draws.advantage**2),
        )
        return state._replace(q=q, opt_q=opt_q, value=value, opt_value=opt_value), info


def _squared_error(value: Value, cost: Float[Array, " batch"], z: Array | None) -> Array:
    return jnp.mean(jax.vmap(lambda cost, z: (cost - value(z)) ** 2)(cost, z)) / 2


def reinforce_gradient(
    q: Q,
    keys: Key[Array, " batch"],
    f: Energy,
    baseline: Baseline,
    z: Array | None = None,
    *,
    entropy_weight: float = 1.0,
) -> tuple[Q, Draws]:
    """An unbiased estimate of grad L(q) from one draw per key, and what was found at the draws.

    Args:
        q: the sampler.
        keys: one for each draw.
        f: the energy.
        baseline: b(z), a number; `lambda z: 0.0` for none.
        z: conditions, one for each key.
        entropy_weight: that of H(q) in L(q).

    Returns:
        The gradient, a tree like q, and costs, advantages and log q of the draws.

    >>> import jax
    >>> from aloex.samplers import Factorized
    >>> from aloex.spaces import Bits
    >>> keys, f = jax.random.split(jax.random.key(0), 8), lambda x, z=None: 1.0 * x.sum()
    >>> grads, draws = reinforce_gradient(Factorized(Bits(2)), keys, f, lambda z: 0.0)
    >>> grads.bias.shape, draws.cost.shape
    ((2, 1), (8,))
    """
    x = jax.vmap(q.sample)(keys, z)
    return eqx.filter_grad(surrogate, has_aux=True)(
        q, x, f, baseline, z, entropy_weight=entropy_weight
    )


def surrogate(
    q: Tractable,
    x: Int[Array, "batch dim"],
    f: Energy,
    baseline: Baseline,
    z: Array | None = None,
    *,
    entropy_weight: float = 1.0,
) -> tuple[Float[Array, ""], Draws]:
    """A loss whose gradient, at x drawn from q, is the estimate of grad L(q)."""

    def one(x: Int[Array, " dim"], z: Array | None) -> Draws:
        log_q = q.log_prob(x, z)
        cost = jax.lax.stop_gradient(entropy_weight * (log_q + 1) - f(x, z))
        return Draws(cost, cost - baseline(z), log_q)

    draws = jax.vmap(one)(x, z)
    return jnp.mean(draws.log_q * jax.lax.stop_gradient(draws.advantage)), draws
