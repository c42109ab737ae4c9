"""Where the examples of `learn` come from, each kind made into what `fit` takes.

A table in memory stays a table, and a memory-mapped one stays on the disk. A function
(key, n) -> batch is compiled into the step. The batches of an iterator are cut to the size that a
step takes.
"""

from collections.abc import Callable, Iterator
from os import PathLike
from typing import Any, NamedTuple

import jax
import numpy as np

from aloex.base.errors import InputError, require
from aloex.learning.config import MAX_VALUES, Config
from aloex.learning.data.batches import HostBatches
from aloex.learning.data.columns import Columns
from aloex.learning.data.tables import pieces
from aloex.spaces import Space, check_table

Batch = np.ndarray | tuple[np.ndarray, np.ndarray]


class Source(NamedTuple):
    """Data and what they say of the space."""

    x: Any  # a table, a function (key, n) -> batch, or an iterator of batches
    z: np.ndarray | None
    dim: int
    cond_dim: int
    num_values: int | tuple[int, ...] | None  # None where the data cannot tell
    columns: Columns | None = None

    def for_fit(self, config: Config) -> Any:
        """x as `fit` takes it, with every value known to be in the space, or an `InputError`.

        The batches of an iterator are checked as they come; those of a function cannot be.
        """
        if isinstance(self.x, IteratorBatches):
            return self.x.of_size(config.batch_size * config.num_data, config.space)
        if callable(self.x):
            return self.x
        if not isinstance(self.x, np.memmap):
            return config.space.check(self.x, "x")
        for rows in pieces(self.x):
            config.space.check(rows, "x")
        return self.x

    def example_conditions(self, config: Config) -> Any:
        """Rows of z, from which the chains of a conditional model take theirs."""
        if config.cond_dim == 0 or config.persistence == 1:
            return None
        if isinstance(self.x, IteratorBatches):
            return self.x.z
        if callable(self.x):
            drawn: Any = self.x(jax.random.key(0), config.batch_size)
            return np.asarray(drawn[1])
        return self.z


def read(x: Any, z: Any = None) -> Source:
    """The source for what the user gave as x and z."""
    if callable(x):
        require(z is None, "a stream gives z with its batches, as tuples (x, z): leave out z")
        return Source(x, None, *_shape_of_stream(x), None)
    if isinstance(x, Iterator):
        require(z is None, "a stream gives z with its batches, as tuples (x, z): leave out z")
        batches = IteratorBatches(x)
        return Source(batches, None, batches.dim, batches.cond_dim, None)
    columns = None
    if type(x).__module__.partition(".")[0] == "pandas" and hasattr(x, "columns"):
        columns = Columns.of(x)
        x = columns.encode(x)
    z = None if z is None else conditions(z)
    x = x if isinstance(x, np.memmap) else _table(x)
    check_table(x, "x")
    num_values = columns.num_values if columns else max(_num_values(rows) for rows in pieces(x))
    return Source(x, z, x.shape[1], _cond_dim(z), num_values, columns)


def _table(x: Any) -> np.ndarray:
    """Whatever NumPy makes an array of, or an `InputError` that says what it was."""
    require(
        x is not None and not isinstance(x, str | bytes | PathLike),
        f"x must be a table [examples, sites], got {x!r}; read a file first, for instance with "
        "np.load",
    )
    try:
        return np.asarray(x)
    except ValueError:
        raise InputError("x must be a table [examples, sites], but its rows differ") from None


def _shape_of_stream(draw: Callable[..., Any]) -> tuple[int, int]:
    """Sites and conditions of a stream's batches, after a look at one of 2 and one of 3 rows."""
    for n in (2, 3):
        drawn: Any = jax.eval_shape(lambda key, n=n: draw(key, n), jax.random.key(0))
        parts: tuple[Any, ...] = drawn if isinstance(drawn, tuple) else (drawn,)
        for name, part in zip("xz", parts, strict=False):
            require(
                len(getattr(part, "shape", ())) == 2 and part.shape[0] == n,
                f"a stream asked for {n} rows must give {name} as an array of shape ({n}, ...), "
                f"got {part}",
            )
        dtype = parts[0].dtype
        require(
            any(np.issubdtype(dtype, kind) for kind in (np.integer, np.bool_)),
            f"a stream must give x as integers, got {dtype}; use x.astype(int)",
        )
    return parts[0].shape[1], parts[1].shape[1] if len(parts) > 1 else 0


def conditions(z: Any) -> np.ndarray:
    """Conditions as a table of finite float32 numbers."""
    z = numbers(z)
    z = z[:, None] if z.ndim == 1 else z
    require(z.ndim == 2, f"z must be a table [examples, columns], got shape {z.shape}")
    return z


def numbers(z: Any) -> np.ndarray:
    """Finite float32 numbers."""
    try:
        z = np.asarray(z, np.float32)
    except (TypeError, ValueError) as error:
        raise InputError(f"z must hold numbers: {error}") from None
    require(bool(np.isfinite(z).all()), "z must be finite, but has NaN or infinite values")
    return z


class IteratorBatches:
    """Batches of one size from an iterator of tables, or of pairs (x, z), of any number of rows."""

    def __init__(self, batches: Iterator[Batch]):
        self.batches = batches
        self.x, self.z = self._next()
        self.dim, self.cond_dim = self.x.shape[1], _cond_dim(self.z)

    def of_size(self, n: int, space: Space) -> HostBatches:
        """What `fit` takes; one thread asks, so that batches stay in order."""

        def make(step: int) -> tuple[np.ndarray, np.ndarray | None]:
            x, z = self._take(n)
            return space.check(x, "x").astype(np.int32), z

        return HostBatches(make, num_threads=1)

    def _take(self, n: int) -> tuple[np.ndarray, np.ndarray | None]:
        """The next n rows."""
        while len(self.x) < n:
            x, z = self._next()
            found, first = (x.shape[1], _cond_dim(z)), (self.dim, self.cond_dim)
            require(
                found == first,
                "all batches must have as many columns of x and of z as the first, which had "
                f"{first[0]} and {first[1]}; got {found[0]} and {found[1]}",
            )
            self.x = np.concatenate([self.x, x])
            self.z = None if z is None or self.z is None else np.concatenate([self.z, z])
        x, z = self.x[:n], None if self.z is None else self.z[:n]
        self.x, self.z = self.x[n:], None if self.z is None else self.z[n:]
        return x, z

    def _next(self) -> tuple[np.ndarray, np.ndarray | None]:
        try:
            batch = next(self.batches)
        except StopIteration:
            raise InputError(
                "the iterator of batches ended before the last step; let it go on, for instance "
                "by itertools.cycle, or take fewer steps"
            ) from None
        x, z = batch if isinstance(batch, tuple) else (batch, None)
        x, z = check_table(_table(x), "x"), None if z is None else conditions(z)
        if z is not None and len(z) != len(x):
            raise InputError(
                f"x and z of a batch must have as many rows, got shapes {x.shape} and {z.shape}"
            )
        return x, z


def _cond_dim(z: Any) -> int:
    return 0 if z is None else z.shape[1]


def _num_values(x: np.ndarray) -> int:
    """How many values x shows, at least 2."""
    counts = np.issubdtype(x.dtype, np.integer)
    largest = int(x.max(initial=0)) if counts else 0
    require(
        largest < MAX_VALUES,
        f"x has the value {largest}, but a site can have {MAX_VALUES} values; number them "
        "0, 1, ... first, for instance with np.unique(x, return_inverse=True)",
    )
    return max(2, largest + 1)
