"""Points of a pinwheel, as 16 bits: 8 bits of Gray code for each coordinate."""

import numpy as np

BITS = 8  # per coordinate
LIMIT = 4.0  # the picture is [-LIMIT, LIMIT]^2


def pinwheel(rng: np.random.Generator, n: int) -> np.ndarray:
    """n independent points [n, 2] of five bent arms."""
    arm = rng.integers(5, size=n)
    along, across = 1 + 0.3 * rng.standard_normal(n), 0.1 * rng.standard_normal(n)
    angle = 2 * np.pi / 5 * arm + 0.25 * np.exp(along)
    cos, sin = np.cos(angle), np.sin(angle)
    return 2 * np.stack([along * cos + across * sin, across * cos - along * sin], axis=1)


def to_cells(points: np.ndarray) -> np.ndarray:
    """The cell (column, row) of the 2^BITS x 2^BITS grid in which each point lies."""
    size = 2**BITS
    return np.clip(((points / LIMIT + 1) / 2 * size).astype(int), 0, size - 1)


def to_points(cells: np.ndarray) -> np.ndarray:
    """The middle of each cell."""
    return ((cells + 0.5) / 2**BITS * 2 - 1) * LIMIT


def encode(cells: np.ndarray) -> np.ndarray:
    """Bits [n, 2 BITS] of cells [n, 2]: neighbouring cells differ in one bit."""
    gray = cells ^ (cells >> 1)
    places = np.arange(BITS - 1, -1, -1)
    return (gray[:, :, None] >> places & 1).reshape(len(cells), 2 * BITS).astype(np.int32)


def decode(bits: np.ndarray) -> np.ndarray:
    """The cells [n, 2] that bits [n, 2 BITS] stand for."""
    gray = np.asarray(bits).reshape(-1, 2, BITS)
    binary = np.bitwise_xor.accumulate(gray, axis=2)
    return binary @ (2 ** np.arange(BITS - 1, -1, -1))
