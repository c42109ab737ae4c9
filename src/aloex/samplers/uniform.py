"""The q0 that needs no learning: all states alike."""

import math

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from aloex.spaces import Space


class Uniform(eqx.Module):
    """q0(x | z) = 1 / size of the space, whatever z.

    Args:
        space: any.

    Example:
        >>> import jax.numpy as jnp
        >>> from aloex import samplers, spaces
        >>> q0 = samplers.Uniform(spaces.Bits(3))
        >>> round(float(q0.log_prob(jnp.array([0, 1, 1]))), 3)
        -2.079
    """

    space: Space = eqx.field(static=True)

    def sample(self, key: Key[Array, ""], z: Array | None = None) -> Int[Array, " dim"]:
        return self.space.sample(key)

    def log_prob(self, x: Int[Array, " dim"], z: Array | None = None) -> Float[Array, ""]:
        return jnp.asarray(-math.log(self.space.size))
