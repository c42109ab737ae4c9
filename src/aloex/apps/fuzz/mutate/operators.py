"""Operators that change an input as a whole: they delete, insert, copy or overwrite stretches.

An operator is a function of an input, of another input, and of a generator. Both inputs have at
least two bytes. A stretch has up to 128 bytes; short ones are more frequent.
"""

from collections.abc import Callable

import numpy as np

Operator = Callable[[bytes, bytes, np.random.Generator], bytes]

MAX_BITS = 7  # of the length of a stretch


def nothing(x: bytes, other: bytes, rng: np.random.Generator) -> bytes:
    """Leave the input as it is."""
    return x


def delete(x: bytes, other: bytes, rng: np.random.Generator) -> bytes:
    """Delete a stretch."""
    i, length = stretch(len(x) - 1, rng)
    return x[:i] + x[i + length :]


def insert(x: bytes, other: bytes, rng: np.random.Generator) -> bytes:
    """Insert a stretch of random bytes."""
    i, length = rng.integers(len(x) + 1), stretch(len(x), rng)[1]
    return x[:i] + rng.bytes(length) + x[i:]


def duplicate(x: bytes, other: bytes, rng: np.random.Generator) -> bytes:
    """Insert a copy of a stretch of the input elsewhere."""
    return splice_insert(x, x, rng)


def splice_insert(x: bytes, other: bytes, rng: np.random.Generator) -> bytes:
    """Insert a stretch of the other input."""
    i, (j, length) = rng.integers(len(x) + 1), stretch(len(other), rng)
    return x[:i] + other[j : j + length] + x[i:]


def overwrite(x: bytes, other: bytes, rng: np.random.Generator) -> bytes:
    """Overwrite a stretch of the input with another one of it."""
    return splice_overwrite(x, x, rng)


def splice_overwrite(x: bytes, other: bytes, rng: np.random.Generator) -> bytes:
    """Overwrite a stretch of the input with one of the other input."""
    length = stretch(min(len(x), len(other)), rng)[1]
    i, j = rng.integers(len(x) - length + 1), rng.integers(len(other) - length + 1)
    return x[:i] + other[j : j + length] + x[i + length :]


def crossover(x: bytes, other: bytes, rng: np.random.Generator) -> bytes:
    """Keep the beginning of the input and continue with the other input."""
    i = rng.integers(min(len(x), len(other)))
    return x[:i] + other[i:]


OPERATORS: tuple[Operator, ...] = (
    nothing,
    delete,
    insert,
    duplicate,
    splice_insert,
    overwrite,
    splice_overwrite,
    crossover,
)


def stretch(size: int, rng: np.random.Generator) -> tuple[int, int]:
    """Draw a stretch of `size` bytes: where it begins, and its length, at least 1."""
    length = min(size, 1 + int(rng.integers(1 << rng.integers(1, MAX_BITS + 1))))
    return int(rng.integers(size - length + 1)), length
