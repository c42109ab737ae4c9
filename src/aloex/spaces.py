"""What x is: bits, categories or variable-length token sequences.

A space draws uniformly (`sample`), names the single-site neighbours of a state (`neighbours`), and
when it is small lists all its states (`enumerate`), with `index` as the inverse of that list.
States are integer arrays of one fixed shape, so everything can be compiled and batched; a sequence
shorter than `max_length` is padded with the symbol `num_values`, which is no token.
"""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, Key

from aloex.base.errors import InputError, require

MAX_ENUMERABLE = 2**22  # states that `enumerate` agrees to list


@runtime_checkable
class Space(Protocol):
    """What the rest of the library asks of a space."""

    @property
    def dim(self) -> int: ...
    @property
    def num_values(self) -> int: ...
    @property
    def size(self) -> int: ...
    def sample(self, key: Key[Array, ""]) -> Int[Array, " dim"]: ...
    def neighbours(self, x: Int[Array, " dim"]) -> Int[Array, "n dim"]: ...
    def enumerate(self) -> Int[Array, "size dim"]: ...
    def index(self, x: Int[Array, " dim"]) -> Int[Array, ""]: ...
    def check(self, data: np.ndarray, name: str = "data") -> np.ndarray: ...


@dataclass(frozen=True)
class Categorical:
    """{0, ..., num_values - 1}^dim."""

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
        _require_small(self.size, self)
        return jnp.asarray(_digits(np.arange(self.size), self.dim, self.num_values))

    def index(self, x: Int[Array, " dim"]) -> Int[Array, ""]:
        """The row of x in `enumerate()`."""
        return x @ (self.num_values ** jnp.arange(self.dim - 1, -1, -1))

    def check(self, data: np.ndarray, name: str = "data") -> np.ndarray:
        """`data` as an int32 array [n, dim] of this space, or an `InputError`."""
        data = _check_sites(data, self.dim, name)
        return _check_range(data, self.num_values - 1, name, f"num_values={self.num_values}")


@dataclass(frozen=True)
class Bits:
    """{0, 1}^dim."""

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
        data = _check_sites(data, self.dim, name)
        return _check_range(data, 1, name, "bits")


@dataclass(frozen=True)
class Sequences:
    """Token sequences of length 0 to max_length, padded at the end with the symbol `pad`."""

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
        _require_small(self.size, self)
        blocks = []
        for n, count in enumerate(self._counts()):
            block = np.full((count, self.max_length), self.pad, dtype=np.int32)
            block[:, :n] = _digits(np.arange(count), n, self.num_values)
            blocks.append(block)
        return jnp.asarray(np.concatenate(blocks))

    def index(self, x: Int[Array, " dim"]) -> Int[Array, ""]:
        """The row of x in `enumerate()`."""
        n = self.length(x)
        first = jnp.asarray(np.cumsum([0, *self._counts()])[:-1])[n]
        place = jnp.where(x != self.pad, n - 1 - jnp.arange(self.max_length), 0)
        return first + jnp.sum(jnp.where(x != self.pad, x * self.num_values**place, 0))

    def check(self, data: np.ndarray, name: str = "data") -> np.ndarray:
        """`data` as an int32 array [n, max_length] padded at the end, or an `InputError`."""
        data = _check_sites(data, self.max_length, name)
        data = _check_range(data, self.pad, name, f"{self.num_values} tokens and the padding")
        inside = (data[:, :-1] == self.pad) & (data[:, 1:] != self.pad)
        require(
            not inside.any(),
            f"{name} has a token after the padding symbol {self.pad} "
            f"(row {int(inside.any(axis=1).argmax())}); padding belongs at the end",
        )
        return data


def num_symbols(space: Space) -> int:
    """How many symbols a state is written in: the values and, for sequences, the padding."""
    return space.num_values + isinstance(space, Sequences)


def check_table(data: np.ndarray, name: str) -> np.ndarray:
    """`data` as an array of integers or booleans [n >= 1, sites], or an `InputError`."""
    data = np.asarray(data)
    require(data.ndim == 2, f"{name} must be a table [examples, sites], got shape {data.shape}")
    require(data.shape[0] > 0, f"{name} is empty: there must be at least one example")
    if data.dtype != bool and not np.issubdtype(data.dtype, np.integer):
        raise InputError(
            f"{name} must hold integers, got {data.dtype}; use {name}.astype(int) if that is meant"
        )
    return data


def require_fixed_length(space: Space, what: str) -> None:
    """An `InputError` for parts that change sites in place and know no padding."""
    require(not isinstance(space, Sequences), f"{what} needs Bits or Categorical, got {space}")


def _digits(numbers: np.ndarray, length: int, base: int) -> np.ndarray:
    """Each number's `length` digits in `base`, most significant first."""
    return (numbers[:, None] // base ** np.arange(length - 1, -1, -1) % base).astype(np.int32)


def _require_small(size: int, space: Space) -> None:
    require(
        size <= MAX_ENUMERABLE,
        f"{space} has {size:.3g} states, more than the {MAX_ENUMERABLE} that can be listed",
    )


def _check_sites(data: np.ndarray, dim: int, name: str) -> np.ndarray:
    data = check_table(data, name)
    require(data.shape[1] == dim, f"{name} has {data.shape[1]} sites, but the space has {dim}")
    return data


def _check_range(data: np.ndarray, largest: int, name: str, what: str) -> np.ndarray:
    if data.dtype == bool:
        return data.astype(np.int32)
    bad = (data < 0) | (data > largest)
    if bad.any():
        row, site = (int(i) for i in np.argwhere(bad)[0])
        raise InputError(
            f"{name} must lie in 0..{largest} ({what}), got {data[row, site]} at row {row}, "
            f"site {site} ({int(bad.sum())} such values)"
        )
    return data.astype(np.int32)
