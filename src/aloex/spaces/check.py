"""Whether a table of integers belongs to a space, and digits of its states' numbers."""

from typing import Any

import numpy as np

from aloex.base.errors import InputError, require

MAX_ENUMERABLE = 2**22  # states that `enumerate` agrees to list


def check_table(data: Any, name: str) -> np.ndarray:
    """Whether `data` is a table of integers or booleans.

    Args:
        data: anything that NumPy makes an array of.
        name: of the data, for the message.

    Returns:
        The data as an array [n >= 1, sites].

    Raises:
        InputError: it is something else.

    Example:
        >>> from aloex.spaces import check_table
        >>> check_table([[0, 1], [1, 1]], "x").shape
        (2, 2)
    """
    data = np.asarray(data)
    require(data.ndim == 2, f"{name} must be a table [examples, sites], got shape {data.shape}")
    require(data.shape[0] > 0, f"{name} is empty: there must be at least one example")
    require(data.shape[1] > 0, f"{name} has no sites: its shape is {data.shape}")
    if data.dtype != bool and not np.issubdtype(data.dtype, np.integer):
        raise InputError(
            f"{name} must hold integers, got {data.dtype}; use {name}.astype(int) if that is meant"
        )
    return data


def digits(numbers: np.ndarray, length: int, base: int) -> np.ndarray:
    """Each number's `length` digits in `base`, most significant first."""
    return (numbers[:, None] // base ** np.arange(length - 1, -1, -1) % base).astype(np.int32)


def require_small(size: int, space: Any) -> None:
    require(
        size <= MAX_ENUMERABLE,
        f"{space} has {size:.3g} states, more than the {MAX_ENUMERABLE} that can be listed",
    )


def check_sites(data: np.ndarray, dim: int, name: str) -> np.ndarray:
    data = check_table(data, name)
    require(data.shape[1] == dim, f"{name} has {data.shape[1]} sites, but the space has {dim}")
    return data


def check_range(data: np.ndarray, largest: int, name: str, what: str) -> np.ndarray:
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
