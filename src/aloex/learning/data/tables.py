"""Tables of data for `fit`: checked, and told from one another, without reading them into memory.

A memory-mapped table is read some rows at a time.
"""

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from aloex.base.errors import require
from aloex.spaces import check_table

MAX_BYTES = 64 * 2**20  # of a table that are in memory at a time


def check_data(x: Any, z: Any) -> tuple[np.ndarray, np.ndarray | None]:
    """The tables as arrays; x is int32 unless it is memory-mapped."""
    mapped = isinstance(x, np.memmap)
    checked = check_table(x, "x")
    if z is not None:
        z = z if isinstance(z, np.memmap) else np.asarray(z)
        require(
            z.ndim >= 1 and z.shape[0] == checked.shape[0],
            f"x and z must have as many rows, got shapes {checked.shape} and {z.shape}",
        )
    return x if mapped else checked.astype(np.int32), z


def fingerprint(x: np.ndarray, z: np.ndarray | None) -> str:
    """Tells one data set from another, so that a run is not resumed on other data."""
    found = hashlib.sha256()
    for table, dtype in ((x, np.int32), (z, None)):
        if table is not None:
            found.update(repr(table.shape).encode())
            for rows in pieces(table):
                found.update(np.ascontiguousarray(rows, dtype).tobytes())
    return found.hexdigest()[:16]


def pieces(table: np.ndarray) -> Iterator[np.ndarray]:
    """The rows of a table, some at a time."""
    size = max(1, MAX_BYTES // max(table[:1].nbytes, 1))
    for first in range(0, len(table), size):
        yield table[first : first + size]
