"""Warm-up: parameters of kernels that are tuned while the chains find their way.

The size of a proposal is raised while more than a share a* of the proposals is accepted, and
lowered while less is, by Robbins and Monro's rule on the log scale,

    log s <- log s + 2 t^-0.6 (a_t - a*),  a_t the mean acceptance of all chains in step t,

and is in the end the geometric mean over the second half of the warm-up. a* = 0.574 is best for
locally balanced proposals in many dimensions (Sun, Dai and Schuurmans 2022, "Optimal scaling for
locally balanced proposals in discrete spaces").

A ladder of temperatures is best if all pairs of neighbours are swapped as often. From how often
they are, one has the communication barrier L(b), the sum of the rejections below b; the new
temperatures divide it evenly (Syed, Bouchard-Cote, Deligiannidis and Doucet 2022). That is done
after rounds, each as long as all before it.
"""

from typing import Any, NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from aloex.kernels import DiscreteLangevin, Kernel, PathAuxiliary

TARGET = 0.574
SHORTEST_ROUND = 32  # steps, before the temperatures are moved for the first time


class Parameter(NamedTuple):
    """What of a kernel is tuned, and within which bounds."""

    name: str
    low: float
    high: float


def parameter_of(kernel: Kernel) -> Parameter | None:
    """What there is to tune by the acceptance, if anything."""
    if isinstance(kernel, DiscreteLangevin) and kernel.adjusted:
        return Parameter("step_size", 1e-3, 1e3)
    if isinstance(kernel, PathAuxiliary):
        return Parameter("mean_length", 1.0, (kernel.max_path + 1) / 2)
    return None


class Tuning(NamedTuple):
    """Values of a parameter on the way."""

    value: Float[Array, ""]
    mean: Float[Array, ""]  # geometric, over the steps in the second half of the warm-up

    def in_use(self, warms_up: Bool[Array, ""]) -> Float[Array, ""]:
        """The value that the kernel has now."""
        return jnp.where(warms_up, self.value, self.mean)


def start(kernel: Kernel, parameter: Parameter | None) -> Tuning | None:
    """At the kernel's own value."""
    if parameter is None:
        return None
    value = getattr(kernel, parameter.name)
    return Tuning(value, value)


def update(
    tuning: Tuning,
    parameter: Parameter,
    acceptance: Float[Array, ""],
    step: Int[Array, ""],
    num_warmup: Int[Array, ""],
) -> Tuning:
    """After step number `step`; those after the warm-up change nothing."""
    # What is NaN says nothing; the chain will be found to be.
    error = jnp.nan_to_num(acceptance - TARGET)
    t, count = step + 1, step + 1 - num_warmup // 2
    value = tuning.value * jnp.exp(2 * t**-0.6 * error)
    value = jnp.clip(value, parameter.low, parameter.high)
    ratio = (value / tuning.mean) ** (1 / jnp.maximum(count, 1))
    mean = jnp.clip(jnp.where(count > 0, tuning.mean * ratio, value), parameter.low, parameter.high)
    keep_type = lambda new, old: jnp.where(step < num_warmup, new, old).astype(old.dtype)
    return Tuning(keep_type(value, tuning.value), keep_type(mean, tuning.mean))


def with_value(kernel: Kernel, parameter: Parameter, value: Float[Array, ""]) -> Any:
    """The kernel with another value of its parameter."""
    return eqx.tree_at(lambda k: getattr(k, parameter.name), kernel, value)


def round_ends(num_warmup: int) -> list[int]:
    """After which steps the temperatures are moved: each round is as long as all before it."""
    ends = [num_warmup]
    while ends[0] // 2 >= SHORTEST_ROUND:
        ends.insert(0, ends[0] // 2)
    return ends


def equalised(
    inverse_temperatures: Float[np.ndarray, " n"], swap_acceptance: Float[np.ndarray, " pairs"]
) -> Float[np.ndarray, " n"]:
    """Temperatures between which the barrier is divided evenly; the ends stay.

    Args:
        inverse_temperatures: rising to 1 [n].
        swap_acceptance: how often neighbours were swapped, of the times they might be [n - 1].

    Returns:
        As many temperatures [n].
    """
    rejection = np.clip(1 - swap_acceptance, 1e-3, 1)  # above 0, so that the barrier rises
    barrier = np.concatenate([[0], np.cumsum(rejection)])
    even = np.linspace(0, barrier[-1], len(barrier))
    bs = np.interp(even, barrier, inverse_temperatures)
    bs[[0, -1]] = inverse_temperatures[[0, -1]]
    return bs
