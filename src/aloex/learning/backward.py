"""Learn the backward law s beside q: maximum likelihood on trajectories that q has drawn.

At its best s(trajectory | x) is q(trajectory | x). Then every trajectory to x has the same weight,
the estimates of log q(x) and of its gradient have no noise, and draws can be weighed exactly.
"""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float

from aloex.learning.updates import apply_gradients
from aloex.proposals import LearnedInverse
from aloex.trajectory import Trajectory


def backward_loss(
    backward: LearnedInverse, drawn: Trajectory, z: Array | None = None
) -> Float[Array, ""]:
    """Minus the mean of log b over trajectories; at its least b is q(trajectory | x)."""
    return -jnp.mean(jax.vmap(backward.log_prob_learned)(drawn, z))


def update_backward(
    optimizer: optax.GradientTransformation,
    backward: LearnedInverse,
    opt_state: optax.OptState,
    drawn: Trajectory,
    z: Array | None = None,
    mean: Callable[[Any], Any] = lambda grads: grads,
) -> tuple[LearnedInverse, optax.OptState, Float[Array, ""]]:
    """One step of the backward law; also the loss. `mean` is over the devices."""
    loss, grads = eqx.filter_value_and_grad(backward_loss)(backward, drawn, z)
    return *apply_gradients(optimizer, mean(grads), opt_state, backward), loss
