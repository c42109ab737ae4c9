"""An autoregressive model, fitted by maximum likelihood to weighted draws of something else.

    maximise sum_j w_j log q(x_j),

the plain way to turn the draws of SMC or of a chain into independent ones: its draws carry the
weights exp f(x) / q(x), whose mean is Z wherever q covers p.
"""

from dataclasses import dataclass, field
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Key

from aloex.importance_weights import log_mean_exp
from aloex.samplers import AutoregressiveMLP
from studies.samplers.problems import Problem
from studies.samplers.rivals.base import Budget, Draws, Rival, train


class Drawn(eqx.Module):
    """A model with `sample` and `log_prob`, whose draws are weighted for f."""

    q: Any
    f: Any
    log_z: float | None = None

    def sample(self, key: Key[Array, ""], n: int) -> Draws:
        """Independent draws."""
        return Draws(*_draw(self.q, self.f, key, n))


@dataclass(frozen=True)
class Autoregressive:
    """Fitted to draws of a teacher, which gets the same budget; it counts steps of training.

    Attributes:
        teacher: a rival, such as SMC.
        num_draws: how many draws of it to learn from.
        hidden, head_hidden: sizes of `samplers.AutoregressiveMLP`.
        batch_size, learning_rate: of Adam, its rate falling to 0 on a cosine.
    """

    teacher: Rival
    num_draws: int = 16_384
    hidden: tuple[int, ...] = (256, 256, 128)
    head_hidden: int = 256
    batch_size: int = 1024
    learning_rate: float = 1e-3
    settings: dict[str, Any] = field(default_factory=dict[str, Any])

    def fit(self, key: Key[Array, ""], problem: Problem, budget: Budget) -> Drawn:
        """The teacher, its draws, the model."""
        key_teacher, key_draws, key_fit = jax.random.split(key, 3)
        teacher = self.teacher.fit(key_teacher, problem, budget)
        draws = teacher.sample(key_draws, self.num_draws)
        return self.fit_to(key_fit, problem, draws, budget)

    def fit_to(self, key: Key[Array, ""], problem: Problem, draws: Draws, budget: Budget) -> Drawn:
        """The model of given draws."""
        key_model, key_train, key_log_z = jax.random.split(key, 3)
        q = AutoregressiveMLP(
            problem.space,
            hidden=self.hidden,
            head_hidden=self.head_hidden,
            key=key_model,
            **self.settings,
        )
        rate = optax.cosine_decay_schedule(self.learning_rate, budget.num_steps)
        optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(rate))
        zeros = jnp.zeros(len(draws.x))
        logits = zeros if draws.log_weights is None else draws.log_weights
        # Rows are drawn by their weights: each step's loss then has the mean of the whole.
        shares = jnp.cumsum(jax.nn.softmax(logits))

        def step(key: Array, state: tuple[Any, Any], time: Array) -> tuple[Any, Any]:
            q, optimizer_state = state
            u = jax.random.uniform(key, (self.batch_size,)) * shares[-1]
            rows = jnp.minimum(jnp.searchsorted(shares, u), len(shares) - 1)
            slope = eqx.filter_grad(negative_log_likelihood)(q, draws.x[rows])
            changes, optimizer_state = optimizer.update(slope, optimizer_state)
            return eqx.apply_updates(q, changes), optimizer_state

        state = q, optimizer.init(eqx.filter(q, eqx.is_inexact_array))
        q, _ = train(key_train, state, step, budget)
        log_weights = Drawn(q, problem.f).sample(key_log_z, 4096).log_weights
        assert log_weights is not None
        return Drawn(q, problem.f, float(log_mean_exp(log_weights)))


def negative_log_likelihood(q: Any, x: Array) -> Float[Array, ""]:
    """The mean of -log q over rows of x."""
    return -jnp.mean(jax.vmap(q.log_prob)(x))


@eqx.filter_jit
def _draw(q: Any, f: Any, key: Array, n: int) -> tuple[Array, Array]:
    x = jax.vmap(q.sample)(jax.random.split(key, n))
    return x, jax.vmap(lambda x: f(x) - q.log_prob(x))(x)
