"""Spaces of a fixed number of sites: bits, and categories of the same number of values."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, Key

from aloex.base.errors import require
from aloex.spaces.check import check_range, check_sites, digits, require_small


@dataclass(frozen=True)
class Categorical:
    """{0, ..., num_values - 1}^dim.

    Args:
        dim: number of sites.
        num_values: values of each site, at least 2.

    Example:
        >>> import jax.numpy as jnp
        >>> from aloex.spaces import Categorical
        >>> space = Categorical(dim=2, num_values=3)
        >>> space.size
        9
        >>> space.neighbours(jnp.array([0, 2])).tolist()
        [[1, 2], [2, 2], [0, 0], [0, 1]]
    """

    dim: int
    num_values: int

    def __post_init__(self):
        require(self.dim >= 1, f"a space needs at least one site, got dim={self.dim}")
        require(self.num_values >= 2, f"a site needs two values or more, got {self.num_values}")

    @property
    def size(self) -> int:
        return self.num_values**self.dim

    def sample(self, key: Key[Array, ""]) -> Int[Array, " dim"]:
        """One uniform draw."""
        return jax.random.randint(key, (self.dim,), 0, self.num_values)

    def neighbours(self, x: Int[Array, " dim"]) -> Int[Array, "n dim"]:
        """The dim (num_values - 1) states that differ from x in one site."""
        moves = np.kron(np.eye(self.dim, dtype=int), np.arange(1, self.num_values)[:, None])
        return (x + moves) % self.num_values

    def enumerate(self) -> Int[Array, "size dim"]:
        """All states; the last site changes fastest."""
        require_small(self.size, self)
        return jnp.asarray(digits(np.arange(self.size), self.dim, self.num_values))

    def index(self, x: Int[Array, " dim"]) -> Int[Array, ""]:
        """The row of x in `enumerate()`."""
        return x @ (self.num_values ** jnp.arange(self.dim - 1, -1, -1))

    def check(self, data: np.ndarray, name: str = "data") -> np.ndarray:
        """`data` as an int32 array [n, dim] of this space, or an `InputError`."""
        data = check_sites(data, self.dim, name)
        return check_range(data, self.num_values - 1, name, f"num_values={self.num_values}")


@dataclass(frozen=True)
class Bits:
    """{0, 1}^dim.

    Args:
        dim: number of bits.

    Example:
        >>> import jax.numpy as jnp
        >>> from aloex.spaces import Bits
        >>> space = Bits(2)
        >>> space.enumerate().tolist()
        [[0, 0], [0, 1], [1, 0], [1, 1]]
        >>> int(space.index(jnp.array([1, 0])))
        2
    """

    dim: int

    def __post_init__(self):
        require(self.dim >= 1, f"a space needs at least one site, got dim={self.dim}")

    @property
    def num_values(self) -> int:
        return 2

    @property
    def size(self) -> int:
        return 2**self.dim

    def sample(self, key: Key[Array, ""]) -> Int[Array, " dim"]:
        """One uniform draw."""
        return jax.random.bernoulli(key, shape=(self.dim,)).astype(jnp.int32)

    def neighbours(self, x: Int[Array, " dim"]) -> Int[Array, "n dim"]:
        """The dim states one flip away."""
        return x ^ np.eye(self.dim, dtype=np.int32)

    def enumerate(self) -> Int[Array, "size dim"]:
        """All states; the last bit changes fastest."""
        return Categorical(self.dim, 2).enumerate()

    def index(self, x: Int[Array, " dim"]) -> Int[Array, ""]:
        """The row of x in `enumerate()`."""
        return Categorical(self.dim, 2).index(x)

    def check(self, data: np.ndarray, name: str = "data") -> np.ndarray:
        """`data` as an int32 array [n, dim] of bits, or an `InputError`."""
        data = check_sites(data, self.dim, name)
        return check_range(data, 1, name, "bits")
