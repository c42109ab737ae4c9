"""A free number for every state: the richest energy there is, for spaces that can be listed."""

import equinox as eqx
import jax
from jaxtyping import Array, Float, Int, Key

from aloex.spaces import Space


class Tabular(eqx.Module):
    """f(x, z) = table[z, index of x]; the condition, if any, is an integer 0..num_conditions-1."""

    table: Float[Array, "conditions states"]
    space: Space = eqx.field(static=True)

    def __init__(
        self,
        space: Space,
        *,
        num_conditions: int = 1,
        scale: float = 1.0,
        key: Key[Array, ""],
    ):
        self.space = space
        self.table = scale * jax.random.normal(key, (num_conditions, space.size))

    def __call__(self, x: Int[Array, " dim"], z: Int[Array, ""] | None = None) -> Float[Array, ""]:
        return self.table[0 if z is None else z, self.space.index(x)]
