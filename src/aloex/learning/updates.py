"""What all learners of an energy share: the likelihood's slope, a clipped step, an average."""

from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int

from aloex.base.errors import require
from aloex.cursor import Energy

Model = TypeVar("Model")  # a tree of arrays


def mle_loss(
    f: Energy,
    x: Int[Array, "data dim"],
    x_neg: Int[Array, "negatives dim"],
    z: Array | None = None,
    z_neg: Array | None = None,
) -> tuple[Float[Array, ""], tuple[Float[Array, ""], Float[Array, ""]]]:
    """Minus the likelihood's slope: its gradient is -E_data[grad f] + E_neg[grad f] (Eq. mle).

    Args:
        x, z: data and their conditions.
        x_neg, z_neg: negatives and theirs, which are z unless given.

    Returns:
        The loss, and the means of f over data and over negatives.
    """
    z_neg = z if z_neg is None else z_neg
    f_data, f_neg = (jnp.mean(jax.vmap(f)(*rows)) for rows in ((x, z), (x_neg, z_neg)))
    return f_neg - f_data, (f_data, f_neg)


def clipped_adam(
    learning_rate: float = 1e-3,
    clip: float = 5.0,
    *,
    num_steps: int | None = None,
    flat: float = 0.4,
) -> optax.GradientTransformation:
    """Adam on gradients whose norm is clipped, as the paper's authors train f and q.

    Args:
        learning_rate: of Adam.
        clip: the largest norm of a gradient, all parameters taken together.
        num_steps: when the rate reaches 0 along a cosine; it never falls unless given.
        flat: the share of these steps before it begins to fall.

    Returns:
        An optax optimizer, a pair of `init` and `update`.

    >>> import jax.numpy as jnp
    >>> optimizer = clipped_adam(0.1)
    >>> weights = jnp.zeros(2)
    >>> updates, _ = optimizer.update(jnp.array([3.0, -4.0]), optimizer.init(weights), weights)
    >>> [round(float(u), 3) for u in updates]
    [-0.1, 0.1]
    """
    adam = optax.adam(_schedule(learning_rate, num_steps, flat))
    return optax.chain(optax.clip_by_global_norm(clip), adam)


def clipped_muon(
    learning_rate: float = 1e-2,
    clip: float = 5.0,
    *,
    num_steps: int | None = None,
    flat: float = 0.4,
) -> optax.GradientTransformation:
    """Muon (Jordan et al. 2024) for matrices, Adam for the rest; clipped and decayed as above.

    Muon steps along the momentum with its singular values set to 1, so directions that gradients
    rarely show are learned as fast as the others.
    """
    # Our layers are [out, in]; a single output, like a vector, has nothing to orthogonalise.
    matrix = lambda p: (
        optax.contrib.MuonDimensionNumbers(1, 0) if p.ndim == 2 and min(p.shape) > 1 else None
    )
    rate = _schedule(learning_rate, num_steps, flat)
    muon = optax.contrib.muon(
        rate,
        adam_learning_rate=rate,
        muon_weight_dimension_numbers=lambda params: jax.tree.map(matrix, params),
    )
    return optax.chain(optax.clip_by_global_norm(clip), muon)


def _schedule(learning_rate: float, num_steps: int | None, flat: float) -> Any:
    require(learning_rate > 0, f"learning_rate must be positive, got {learning_rate}")
    if num_steps is None:
        return learning_rate
    begin = int(flat * num_steps)
    falling = optax.cosine_decay_schedule(learning_rate, max(num_steps - begin, 1))
    return optax.join_schedules([optax.constant_schedule(learning_rate), falling], [begin])


def apply_gradients(
    optimizer: optax.GradientTransformation, grads: Any, opt_state: Any, model: Model
) -> tuple[Model, Any]:
    """The model and the optimizer's state after one step."""
    updates, opt_state = optimizer.update(grads, opt_state, eqx.filter(model, eqx.is_inexact_array))
    return eqx.apply_updates(model, updates), opt_state


def moving_average(average: Model, new: Model, decay: float, step: Int[Array, ""]) -> Model:
    """decay * average + (1 - decay) * new, with a shorter memory in the first steps."""
    decay_now = jnp.minimum(decay, (1 + step) / (10 + step))
    blend = lambda a, b: decay_now.astype(a.dtype) * a + (1 - decay_now).astype(a.dtype) * b
    return jax.tree.map(lambda a, b: blend(a, b) if eqx.is_inexact_array(a) else a, average, new)
