"""Seeds: one check for all of them."""

from numbers import Integral
from typing import Any

from aloex.base.errors import InputError

NUM_SEEDS = 2**32  # JAX makes the same key of two seeds that differ by a multiple of it


def check_seed(seed: Any, name: str = "seed") -> int:
    """The seed as an int, or an `InputError` unless it is a whole number in 0..2^32 - 1.

    Example:
        >>> from aloex.base.seeds import check_seed
        >>> check_seed(7)
        7
    """
    whole = isinstance(seed, int | Integral) and not isinstance(seed, bool)
    if not whole or not 0 <= int(seed) < NUM_SEEDS:
        raise InputError(f"{name} must be a whole number in 0..2^32 - 1, got {seed!r}")
    return int(seed)
