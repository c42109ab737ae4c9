"""Where the examples of `learn` come from, each kind made into what `fit` takes.

A table in memory stays a table. A memory-mapped one stays on disk: the rows of a batch are drawn as
they would be in memory, and read then. A function (key, n) -> batch is compiled into the step. The
batches of an iterator are cut to the size that a step takes.
"""

# JAX and NumPy are typed in part, so what they return is not known to pyright.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false, reportUnknownLambdaType=false

import hashlib
import logging
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback
from jaxtyping import Array

from aloex.base.errors import InputError, require
from aloex.learning.columns import Columns
from aloex.learning.config import MAX_VALUES, Config
from aloex.spaces import Space, check_table

CHUNK = 2**16  # rows of a memory-mapped table that are looked at together
Batch = np.ndarray | tuple[np.ndarray, np.ndarray]


class Source(NamedTuple):
    """Data and what they say of the space."""

    x: Any  # a table, or a stream of batches
    z: np.ndarray | None
    dim: int
    cond_dim: int
    num_values: int | tuple[int, ...] | None  # None where the data cannot tell
    columns: Columns | None = None

    def checked(self, space: Space) -> "Source":
        """The same with every value known to be in the space, or an `InputError`.

        The batches of an iterator are checked as they come; those of a function cannot be.
        """
        if isinstance(self.x, MappedRows):
            for rows in self.x.chunks():
                space.check(rows, "x")
        elif isinstance(self.x, IteratorBatches):
            self.x.space = space
        elif not callable(self.x):
            return self._replace(x=space.check(self.x, "x"))
        return self

    def record(self) -> dict[str, str]:
        """What a run folder keeps of the data that `fit` does not see whole."""
        return {"data": self.x.fingerprint()} if isinstance(self.x, MappedRows) else {}

    def chain_conditions(self, config: Config) -> Array | None:
        """A row of z for each chain, where a conditional model has chains."""
        z = self.x.z if isinstance(self.x, MappedRows) else self.z
        if z is None or config.persistence == 1:
            return None
        rows = np.random.default_rng(0).integers(0, len(z), config.batch_size)
        return jnp.asarray(z[rows])

    @contextmanager
    def own_errors(self) -> Generator[None, None, None]:
        """What goes wrong in an iterator's batches is told in our words, not the compiler's."""
        if not isinstance(self.x, IteratorBatches):
            yield
            return
        log = logging.getLogger("jax._src.callback")  # it would print a traceback as well
        try:
            log.disabled = True
            yield
        except jax.errors.JaxRuntimeError:
            if self.x.error is not None:
                raise self.x.error from None
            raise
        finally:
            log.disabled = False


def read(x: Any, z: Any = None) -> Source:
    """The source for what the user gave as x and z."""
    if callable(x):
        require(z is None, "a stream gives z with its batches, as tuples (x, z): leave out z")
        drawn = jax.eval_shape(lambda key: x(key, 2), jax.random.key(0))
        x_shape, z_shape = drawn if isinstance(drawn, tuple) else (drawn, None)
        return Source(x, None, _dim(x_shape.shape), _cond_dim(z_shape), None)
    if isinstance(x, Iterator):
        require(z is None, "a stream gives z with its batches, as tuples (x, z): leave out z")
        batches = IteratorBatches(x)
        return Source(batches, None, batches.dim, batches.cond_dim, None)
    columns = None
    if type(x).__module__.partition(".")[0] == "pandas" and hasattr(x, "columns"):
        columns = Columns.of(x)
        x = columns.encode(x)
    z = None if z is None else conditions(z)
    if isinstance(x, np.memmap):
        rows = MappedRows(check_table(x, "x"), z)
        return Source(
            rows, None, x.shape[1], _cond_dim(z), max(_num_values(c) for c in rows.chunks())
        )
    x = np.asarray(x)
    num_values = columns.num_values if columns else _num_values(x)
    return Source(x, z, x.shape[1] if x.ndim == 2 else 1, _cond_dim(z), num_values, columns)


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


class MappedRows:
    """A stream of rows of a table that may be larger than memory, drawn with replacement."""

    def __init__(self, x: np.ndarray, z: np.ndarray | None):
        require(
            z is None or len(z) == len(x),
            f"x and z must have as many rows, got {len(x)} and {0 if z is None else len(z)}",
        )
        self.x, self.z = x, z

    def __call__(self, key: Array, n: int) -> Array | tuple[Array, Array]:
        rows = jax.random.randint(key, (n,), 0, len(self.x))
        shape = jax.ShapeDtypeStruct((n, self.x.shape[1]), np.int32)
        x = jax.pure_callback(lambda i: self.x[np.asarray(i)].astype(np.int32), shape, rows)
        return x if self.z is None else (x, jnp.asarray(self.z)[rows])

    def chunks(self) -> Iterator[np.ndarray]:
        """The table piece by piece."""
        for first in range(0, len(self.x), CHUNK):
            yield np.asarray(self.x[first : first + CHUNK])

    def fingerprint(self) -> str:
        """Tells one table from another, so that a run is not resumed on other data."""
        digest = hashlib.sha256(repr((self.x.shape, str(self.x.dtype))).encode())
        for rows in self.chunks():
            digest.update(np.ascontiguousarray(rows).tobytes())
        digest.update(b"" if self.z is None else np.ascontiguousarray(self.z).tobytes())
        return digest.hexdigest()[:16]


class IteratorBatches:
    """A stream from an iterator of tables, or of pairs (x, z) of tables, of any number of rows."""

    def __init__(self, batches: Iterator[Batch]):
        self.batches = batches
        self.space: Space | None = None
        self.error: InputError | None = None  # what went wrong inside the compiled program
        self.x, self.z = self._next()
        self.dim, self.cond_dim = _dim(self.x.shape), _cond_dim(self.z)

    def __call__(self, key: Array, n: int) -> Array | tuple[Array, Array]:
        x = jax.ShapeDtypeStruct((n, self.dim), np.int32)
        if self.z is None:
            return io_callback(lambda: self._take(n)[0], x)
        z = jax.ShapeDtypeStruct((n, self.cond_dim), np.float32)
        return io_callback(lambda: self._take(n), (x, z))

    def _take(self, n: int) -> tuple[np.ndarray, np.ndarray | None]:
        """The next n rows."""
        try:
            while len(self.x) < n:
                x, z = self._next()
                self.x = np.concatenate([self.x, x])
                self.z = None if z is None or self.z is None else np.concatenate([self.z, z])
            x, z = self.x[:n], None if self.z is None else self.z[:n]
            self.x, self.z = self.x[n:], None if self.z is None else self.z[n:]
            return (x if self.space is None else self.space.check(x, "x")).astype(np.int32), z
        except InputError as error:
            self.error = error
            raise

    def _next(self) -> tuple[np.ndarray, np.ndarray | None]:
        try:
            batch = next(self.batches)
        except StopIteration:
            raise InputError(
                "the iterator of batches ended before the last step; let it go on, for instance "
                "by itertools.cycle, or take fewer steps"
            ) from None
        x, z = batch if isinstance(batch, tuple) else (batch, None)
        return check_table(x, "x"), None if z is None else conditions(z)


def _dim(shape: tuple[int, ...]) -> int:
    require(len(shape) == 2, f"x must be a table [examples, sites], got shape {shape}")
    return shape[1]


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
