"""A free number for every state: the richest energy there is, for spaces that can be listed."""

import equinox as eqx
import jax
from jaxtyping import Array, Float, Int, Key

from aloex.spaces import Space


class Tabular(eqx.Module):
    """f(x, z) = table[z, index of x]; the condition, if any, is an integer 0..num_conditions-1.

    Args:
        space: what x is, small enough to be listed.
        num_conditions: rows of the table.
        scale: standard deviation of the first numbers.
        key: of the first numbers.

    Example:
        >>> import jax
        >>> from aloex import energies, spaces
        >>> space = spaces.Bits(3)
        >>> f = energies.Tabular(space, key=jax.random.key(0))
        >>> f.table.shape
        (1, 8)
        >>> bool(f(space.enumerate()[5]) == f.table[0, 5])
        True
    """

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
        """f(x, z)."""
        return self.table[0 if z is None else z, self.space.index(x)]
