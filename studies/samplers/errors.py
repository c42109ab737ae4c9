"""How far draws are from the exact answers of a problem."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

from aloex.spaces import Bits
from studies.samplers.methods import Found
from studies.samplers.problems import Problem


def errors(problem: Problem, found: Found) -> dict[str, Any]:
    """The numbers of a row: each estimate less its exact value."""
    w = shares(found.log_w, len(found.x))
    off = marginals(problem, found.x, w) - problem.marginals
    means = {
        name: float(np.sum(w * np.asarray(jax.vmap(e.function)(jnp.asarray(found.x)))) - e.value)
        for name, e in problem.expectations.items()
    }
    rms = lambda values: float(np.sqrt(np.mean(np.square(values))))
    return {
        "marginals": rms(off),
        "expectations": means,
        "modes": rms(list(means.values())) if means else None,
        "log_z": None if found.log_z is None else found.log_z - problem.log_z,
        "log_z_error": found.log_z_error,
        "gap": found.gap,
        "effective": float(1 / np.sum(w**2)) if found.log_w is not None else None,
        "seconds": round(found.seconds, 6),
    }


def shares(log_w: Float[np.ndarray, " n"] | None, n: int) -> Float[np.ndarray, " n"]:
    """Weights that add up to 1."""
    if log_w is None:
        return np.full(n, 1 / n)
    w = np.exp(np.asarray(log_w, float) - np.max(log_w))
    return w / w.sum()


def marginals(
    problem: Problem, x: Int[np.ndarray, "n dim"], w: Float[np.ndarray, " n"]
) -> Float[np.ndarray, "dim values"]:
    """p(x_i = v) by weighted draws."""
    num_values = 2 if isinstance(problem.space, Bits) else problem.space.num_values
    return np.stack([w @ (x == v) for v in range(num_values)], axis=1)
