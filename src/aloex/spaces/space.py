"""What the rest of the library asks of a space."""

from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Array, Int, Key


@runtime_checkable
class Space(Protocol):
    """A finite set of states, each an array of `dim` integers.

    Example:
        >>> from aloex.spaces import Bits, Space
        >>> isinstance(Bits(4), Space)
        True
    """

    @property
    def dim(self) -> int:
        """The number of sites of a state."""
        ...

    @property
    def num_values(self) -> int:
        """How many values a site can have; where sites differ, the most."""
        ...

    @property
    def size(self) -> int:
        """The number of states."""
        ...

    def sample(self, key: Key[Array, ""]) -> Int[Array, " dim"]:
        """One uniform draw."""
        ...

    def neighbours(self, x: Int[Array, " dim"]) -> Int[Array, "n dim"]:
        """The states one change of a site away from x."""
        ...

    def enumerate(self) -> Int[Array, "size dim"]:
        """All states."""
        ...

    def index(self, x: Int[Array, " dim"]) -> Int[Array, ""]:
        """The row of x in `enumerate()`."""
        ...

    def check(self, data: np.ndarray, name: str = "data") -> np.ndarray:
        """`data` as an int32 array of states [n, dim], or an `InputError`."""
        ...
