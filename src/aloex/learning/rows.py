"""Rows in chunks of two sizes, so that any number of them needs two compiled programs at most."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from aloex.base.errors import require
from aloex.learning.data.sources import numbers

CHUNK, LARGE_CHUNK = 256, 4096


def chunk_size(n: int) -> int:
    """How many of n rows to take at a time: many where there are many, as accelerators like."""
    return CHUNK if n <= 4 * CHUNK else LARGE_CHUNK


def chunk(rows: np.ndarray, first: int, size: int = CHUNK) -> Array:
    """`size` rows from the first on, filled up with copies of the last."""
    return jnp.asarray(rows[np.minimum(np.arange(first, first + size), len(rows) - 1)])


def chunk_or_none(rows: np.ndarray | None, first: int, size: int = CHUNK) -> Array | None:
    """The same, if there are any."""
    return None if rows is None else chunk(rows, first, size)


def conditions(z: Any, n: int, width: int, whose: str) -> np.ndarray | None:
    """z as a row of numbers for each of n examples, or None if there is none.

    Args:
        z: one condition for all [c], or a row for each [n, c].
        n: how many examples.
        width: c; 0 where there are no conditions.
        whose: what is conditional, for messages.
    """
    if z is None:
        require(width == 0, f"this {whose} has a condition: z must have {width} columns")
        return None
    require(width > 0, f"this {whose} was learned without a condition: leave out z")
    z = np.atleast_1d(numbers(z))
    if z.ndim == 1:
        z = z[:, None] if width == 1 else z[None]
    require(
        z.ndim == 2 and z.shape[0] in (1, n) and z.shape[1] == width,
        f"z must have shape ({n}, {width}), or ({width},) for all alike, got {z.shape}",
    )
    return np.broadcast_to(z, (n, width))
