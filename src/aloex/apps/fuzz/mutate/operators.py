"""What changes an input as a whole: stretches of bytes go, come or move.

An operator is a function of an input, another one and a generator. A stretch has up to 128 bytes,
short ones more often. Inputs of a byte or none stay as they are.
"""

from collections.abc import Callable

import numpy as np

Operator = Callable[[bytes, bytes, np.random.Generator], bytes]

MAX_BITS = 7  # of the length of a stretch


def nothing(x: bytes, other: bytes, rng: np.random.Generator) -> bytes:
    """The input as it is."""
    return x


def delete(x: bytes, other: bytes, rng: np.random.Generator) -> bytes:
    """Without a stretch."""
    i, length = stretch(len(x) - 1, rng)
    return x[:i] + x[i + length :]


def insert(x: bytes, other: bytes, rng: np.random.Generator) -> bytes:
    """With a stretch of random bytes."""
    i, length = rng.integers(len(x) + 1), stretch(len(x), rng)[1]
    return x[:i] + rng.bytes(length) + x[i:]


def repeat(x: bytes, other: bytes, rng: np.random.Generator) -> bytes:
    """With a stretch of its own once more, elsewhere."""
    return give(x, x, rng)


def give(x: bytes, other: bytes, rng: np.random.Generator) -> bytes:
    """With a stretch of another input."""
    i, (j, length) = rng.integers(len(x) + 1), stretch(len(other), rng)
    return x[:i] + other[j : j + length] + x[i:]


def move(x: bytes, other: bytes, rng: np.random.Generator) -> bytes:
    """With a stretch of its own over another one."""
    return lay(x, x, rng)


def lay(x: bytes, other: bytes, rng: np.random.Generator) -> bytes:
    """With a stretch of another input over one of its own."""
    length = stretch(min(len(x), len(other)), rng)[1]
    i, j = rng.integers(len(x) - length + 1), rng.integers(len(other) - length + 1)
    return x[:i] + other[j : j + length] + x[i + length :]


def cross(x: bytes, other: bytes, rng: np.random.Generator) -> bytes:
    """Up to a place its own, from there another input's."""
    i = rng.integers(min(len(x), len(other)))
    return x[:i] + other[i:]


OPERATORS: tuple[Operator, ...] = (nothing, delete, insert, repeat, give, move, lay, cross)


def stretch(size: int, rng: np.random.Generator) -> tuple[int, int]:
    """Where a stretch of `size` bytes begins, and its length; at least 1."""
    length = min(size, 1 + int(rng.integers(1 << rng.integers(1, MAX_BITS + 1))))
    return int(rng.integers(size - length + 1)), length
