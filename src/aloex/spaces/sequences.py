"""Token sequences of varying length, and what the rest must know of their padding."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, Key

from aloex.base.errors import require
from aloex.spaces.check import check_range, check_sites, digits, require_small
from aloex.spaces.space import Space


@dataclass(frozen=True)
class Sequences:
    """Token sequences of length 0 to max_length, padded at the end with the symbol `pad`.

    Args:
        max_length: the longest length.
        num_values: number of different tokens, 0..num_values - 1; the padding is num_values.

    Example:
        >>> import numpy as np
        >>> from aloex.spaces import Sequences
        >>> words = Sequences(max_length=3, num_values=26)
        >>> words.pad
        26
        >>> words.check(np.array([[7, 8, words.pad]])).tolist()
        [[7, 8, 26]]
    """

    max_length: int
    num_values: int

    def __post_init__(self):
        require(self.max_length >= 1, f"max_length must be at least 1, got {self.max_length}")
        require(self.num_values >= 1, f"an alphabet needs a token, got {self.num_values}")

    @property
    def dim(self) -> int:
        return self.max_length

    @property
    def pad(self) -> int:
        return self.num_values

    @property
    def size(self) -> int:
        return int(sum(self._counts()))

    def _counts(self) -> list[int]:
        return [self.num_values**n for n in range(self.max_length + 1)]

    def length(self, x: Int[Array, " dim"]) -> Int[Array, ""]:
        """The number of tokens before the padding."""
        return jnp.sum(x != self.pad)

    def sample(self, key: Key[Array, ""]) -> Int[Array, " dim"]:
        """One draw, uniform over all sequences (so mostly long ones)."""
        key_length, key_tokens = jax.random.split(key)
        log_counts = jnp.arange(self.max_length + 1) * np.log(self.num_values)
        length = jax.random.categorical(key_length, log_counts)
        tokens = jax.random.randint(key_tokens, (self.max_length,), 0, self.num_values)
        return jnp.where(jnp.arange(self.max_length) < length, tokens, self.pad)

    def neighbours(self, x: Int[Array, " dim"]) -> Int[Array, "n dim"]:
        """All distinct sequences one replacement, insertion or deletion away (not compiled)."""
        symbols, values = np.asarray(x), range(self.num_values)
        tokens = symbols[symbols != self.pad].tolist()
        n = len(tokens)
        found = {tuple(tokens[:i] + tokens[i + 1 :]) for i in range(n)}
        found |= {(*tokens[:i], v, *tokens[i + 1 :]) for i in range(n) for v in values}
        if n < self.max_length:
            found |= {(*tokens[:i], v, *tokens[i:]) for i in range(n + 1) for v in values}
        rows = [list(s) + [self.pad] * (self.max_length - len(s)) for s in found - {tuple(tokens)}]
        return jnp.asarray(np.array(sorted(rows), dtype=np.int32).reshape(-1, self.max_length))

    def enumerate(self) -> Int[Array, "size dim"]:
        """All sequences, the shorter first, then in lexicographic order."""
        require_small(self.size, self)
        blocks = []
        for n, count in enumerate(self._counts()):
            block = np.full((count, self.max_length), self.pad, dtype=np.int32)
            block[:, :n] = digits(np.arange(count), n, self.num_values)
            blocks.append(block)
        return jnp.asarray(np.concatenate(blocks))

    def index(self, x: Int[Array, " dim"]) -> Int[Array, ""]:
        """The row of x in `enumerate()`."""
        n = self.length(x)
        first = jnp.asarray(np.cumsum([0, *self._counts()])[:-1])[n]
        power = jnp.where(x != self.pad, n - 1 - jnp.arange(self.max_length), 0)
        return first + jnp.sum(jnp.where(x != self.pad, x * self.num_values**power, 0))

    def check(self, data: np.ndarray, name: str = "data") -> np.ndarray:
        """`data` as an int32 array [n, max_length] padded at the end, or an `InputError`."""
        data = check_sites(data, self.max_length, name)
        data = check_range(data, self.pad, name, f"{self.num_values} tokens and the padding")
        inside = (data[:, :-1] == self.pad) & (data[:, 1:] != self.pad)
        require(
            not inside.any(),
            f"{name} has a token after the padding symbol {self.pad} "
            f"(row {int(inside.any(axis=1).argmax())}); padding belongs at the end",
        )
        return data


def num_symbols(space: Space) -> int:
    """How many symbols a state is written in: the values and, for sequences, the padding.

    Args:
        space: any.

    Returns:
        The number.

    Example:
        >>> from aloex.spaces import Bits, Sequences, num_symbols
        >>> num_symbols(Bits(4)), num_symbols(Sequences(max_length=4, num_values=2))
        (2, 3)
    """
    return space.num_values + isinstance(space, Sequences)


def require_fixed_length(space: Space, what: str) -> None:
    """An `InputError` for parts that change sites in place and know no padding.

    Args:
        space: any.
        what: the part that needs a fixed length.

    Example:
        >>> from aloex.spaces import Bits, require_fixed_length
        >>> require_fixed_length(Bits(4), "this sampler")
    """
    require(not isinstance(space, Sequences), f"{what} needs Bits or Categorical, got {space}")
