"""Categories with a number of values of its own for each site, as in the columns of a table."""

import math
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int, Key

from aloex.base.errors import InputError, require
from aloex.spaces.check import check_range, check_sites, require_small
from aloex.spaces.space import Space


@dataclass(frozen=True)
class Mixed:
    """{0, ..., K_1 - 1} x ... x {0, ..., K_d - 1}: site i has K_i values.

    Networks are built for the largest K. So q may draw a value that a site does not have; a sweep
    of `Gibbs(space)` redraws it among those that the site has.

    Args:
        values_per_site: K_1, ..., K_d, each at least 1 and one of them at least 2.

    Example:
        >>> from aloex.spaces import Mixed
        >>> space = Mixed((2, 3))
        >>> space.size, space.num_values
        (6, 3)
        >>> space.enumerate().tolist()
        [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]
    """

    values_per_site: tuple[int, ...]

    def __post_init__(self):
        values = self.values_per_site
        require(len(values) >= 1, "a space needs at least one site, got none")
        require(
            min(values) >= 1 and max(values) >= 2,
            f"each site needs a value, and one of them two or more, got {values}",
        )

    @property
    def dim(self) -> int:
        return len(self.values_per_site)

    @property
    def num_values(self) -> int:
        """The largest number of values that a site has."""
        return max(self.values_per_site)

    @property
    def size(self) -> int:
        return math.prod(self.values_per_site)

    def sample(self, key: Key[Array, ""]) -> Int[Array, " dim"]:
        """One uniform draw."""
        return jax.random.randint(key, (self.dim,), 0, jnp.asarray(self.values_per_site))

    def neighbours(self, x: Int[Array, " dim"]) -> Int[Array, "n dim"]:
        """The states that differ from x in one site."""
        sites = [i for i, k in enumerate(self.values_per_site) for _ in range(k - 1)]
        shifts = [s for k in self.values_per_site for s in range(1, k)]
        moves = np.zeros((len(sites), self.dim), np.int32)
        moves[np.arange(len(sites)), sites] = shifts
        return (x + moves) % jnp.asarray(self.values_per_site)

    def enumerate(self) -> Int[Array, "size dim"]:
        """All states; the last site changes fastest."""
        require_small(self.size, self)
        states = np.stack(np.unravel_index(np.arange(self.size), self.values_per_site), axis=1)
        return jnp.asarray(states.astype(np.int32))

    def index(self, x: Int[Array, " dim"]) -> Int[Array, ""]:
        """The row of x in `enumerate()`; `size` for what is no state."""
        row = jnp.zeros((), jnp.int32)
        for i, k in enumerate(self.values_per_site):
            row = row * k + x[i]
        inside = jnp.all((x >= 0) & (x < jnp.asarray(self.values_per_site)))
        return jnp.where(inside, row, self.size)

    def check(self, data: np.ndarray, name: str = "data") -> np.ndarray:
        """`data` as an int32 array [n, dim] of this space, or an `InputError`."""
        data = check_sites(data, self.dim, name)
        data = check_range(data, self.num_values - 1, name, f"num_values={self.values_per_site}")
        bad = data >= np.array(self.values_per_site)
        if bad.any():
            row, site = (int(i) for i in np.argwhere(bad)[0])
            raise InputError(
                f"{name} must lie in 0..{self.values_per_site[site] - 1} at site {site}, got "
                f"{data[row, site]} at row {row} ({int(bad.sum())} such values)"
            )
        return data


def values_per_site(space: Space) -> tuple[int, ...]:
    """How many values each site has.

    Args:
        space: any.

    Returns:
        K_1, ..., K_d.

    Example:
        >>> from aloex.spaces import Bits, Mixed, values_per_site
        >>> values_per_site(Bits(3)), values_per_site(Mixed((2, 3)))
        ((2, 2, 2), (2, 3))
    """
    if isinstance(space, Mixed):
        return space.values_per_site
    return (space.num_values,) * space.dim


def contains(space: Space, x: Int[Array, " dim"]) -> Bool[Array, ""]:
    """Whether every site of x has its value; it may not in a Mixed space only.

    Args:
        space: any.
        x: what a network has drawn [dim], from the largest number of values for each site.

    Returns:
        One truth value [].

    Example:
        >>> import jax.numpy as jnp
        >>> from aloex.spaces import Mixed, contains
        >>> [bool(contains(Mixed((2, 3)), jnp.array(x))) for x in ([1, 2], [2, 1])]
        [True, False]
    """
    if not isinstance(space, Mixed):
        return jnp.array(True)
    return jnp.all(x < jnp.asarray(space.values_per_site, x.dtype))
