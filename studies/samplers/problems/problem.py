"""What a problem of the sampling study is: an energy, and all that is known of its law."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from aloex.kernels import ColouredGibbs, Gibbs, Kernel
from aloex.spaces import Bits, Categorical

Colours = tuple[tuple[int, ...], ...]


class Expectation(NamedTuple):
    """A function of a state, and its exact mean."""

    function: Callable[[Array], Array]  # x [dim] -> scalar
    value: float


@dataclass(frozen=True)
class Problem:
    """p ~ exp f over a space, and the exact answers.

    Attributes:
        name: as in the registry, with its sizes.
        space: of x.
        f: the energy, with its own exact `differences`.
        log_z: log sum_x exp f(x).
        marginals: p(x_i = v) [dim, values].
        expectations: named functions with their exact means, mode shares among them.
        colours: sites that are independent given the rest, for `kernels.ColouredGibbs`; None where
            every site depends on every other.
    """

    name: str
    space: Bits | Categorical
    f: Any
    log_z: float
    marginals: Float[np.ndarray, "dim values"]
    expectations: dict[str, Expectation] = field(default_factory=dict[str, Expectation])
    colours: Colours | None = None

    @property
    def kernel(self) -> Kernel:
        """A sweep of Gibbs, by colours where there are any."""
        return cheapest_kernel(self.space, self.colours)

    @property
    def dim(self) -> int:
        """Number of sites."""
        return self.space.dim


def of_bits(ones: Float[np.ndarray, " dim"]) -> Float[np.ndarray, "dim 2"]:
    """Marginals from p(x_i = 1)."""
    return np.stack([1 - ones, ones], axis=1)


def share_of_majority(value: int, value_share: float) -> Expectation:
    """Whether more than half of the sites have a value; ties count for none."""
    return Expectation(lambda x: 1.0 * (2 * jnp.sum(x == value) > x.shape[0]), value_share)


def cheapest_kernel(space: Bits | Categorical, colours: Colours | None) -> Kernel:
    """A sweep of Gibbs, by colours where there are any."""
    return Gibbs(space) if colours is None else ColouredGibbs(space, colours=colours)
