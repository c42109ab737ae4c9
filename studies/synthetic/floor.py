"""The entropy of each quantised picture: no model of the bits can have a smaller mean NLL.

With cells of width w = 1 / int_scale and p the density of the points,

    H(bits) = -E log p + 2 log int_scale + e,   0 <= e <= w^2 J / (2 pi^2),   J = E |grad log p|^2,

because e is the mean over cells of KL(p in the cell || uniform), and the log-Sobolev inequality on
a square bounds each. Gaussian noise of deviation sd leaves J <= 2 / sd^2. The checkerboard has
edges instead of noise; its entropy is summed over all cells, exactly. Left out are points beyond
the last cell (probability below 1e-10) and what drawing in float32 changes (below 1e-5 nats).

-E log p is a sum over a grid, without randomness. Halving its spacing shows the error.
"""

import math

import numpy as np
from scipy.special import entr

from aloex.apps.synthetic.data import DATA_SETS, NUM_CELLS, DataSet
from aloex.apps.synthetic.density import Mixture, density, mixture_of


def floor(name: str, *, refine: int = 2) -> float:
    """The entropy of the data set's 32 bits, in nats. `refine` divides the grid's spacing."""
    scale = DataSet(name).int_scale
    if name == "checkerboard":
        return _checkerboard_entropy(scale)
    return differential_entropy(name, refine=refine) + 2 * math.log(scale)


def table() -> dict[str, dict[str, float]]:
    """Each floor with what bounds its error, ready for JSON."""
    return {name: _row(name) for name in DATA_SETS}


def differential_entropy(name: str, *, refine: int = 2) -> float:
    """-E log p of the continuous points, in nats."""
    DataSet(name)
    if name == "checkerboard":
        return math.log(32)
    if name == "pinwheel":
        points, weights = _pinwheel_nodes(refine)
        return -float(weights @ np.log(density(name, points)))
    mixture = mixture_of(name, refine)
    x, y, area = _plane(mixture, refine)
    return area * float(entr(mixture.on_grid(x, y)).sum())


def _row(name: str) -> dict[str, float]:
    scale, checkerboard = DataSet(name).int_scale, name == "checkerboard"
    bound = 0.0 if checkerboard else _fisher_bound(name) / (2 * np.pi**2 * scale**2)
    return {
        "floor": floor(name),
        "differential_entropy": differential_entropy(name),
        "int_scale": scale,
        "change_when_spacing_halves": abs(floor(name) - floor(name, refine=4)),
        "quantisation_bound": bound,
    }


def _fisher_bound(name: str) -> float:
    """J or more; for the pinwheel an estimate of J."""
    if name != "pinwheel":
        return 2 / mixture_of(name).sd ** 2
    # Where an arm folds over itself, p and J are infinite. The fold and all that is near it have
    # probability 4e-8, and e there is of that order. Features within 4 deviations keep clear of it;
    # those beyond would add 0.2% to J.
    points, weights = _pinwheel_nodes(2, limit=4.0)
    step = 1e-5 * np.eye(2)
    log_p = lambda shift: np.log(density(name, points + shift))
    slopes = [(log_p(shift) - log_p(-shift)) / 2e-5 for shift in step]
    return float(weights @ (slopes[0] ** 2 + slopes[1] ** 2))


def _plane(mixture: Mixture, refine: int) -> tuple[np.ndarray, np.ndarray, float]:
    """A grid of spacing sd / refine over all but 1e-17 of the mass, and the area of its cells."""
    margin, spacing = mixture.box + 9 * mixture.sd, mixture.sd / refine
    low, high = mixture.centres.min(axis=0) - margin, mixture.centres.max(axis=0) + margin
    x, y = (np.arange(low[i], high[i], spacing) for i in range(2))
    return x, y, spacing**2


def _pinwheel_nodes(refine: int, limit: float = 7.0) -> tuple[np.ndarray, np.ndarray]:
    """Points [n, 2] of one arm, for a grid of its two normal features, with their weights."""
    grid = np.linspace(-limit, limit, round(4 * limit * refine) + 1)
    z_along, z_across = (z.ravel() for z in np.meshgrid(grid, grid))
    weights = np.exp(-(z_along**2 + z_across**2) / 2)
    along, across = 1 + 0.3 * z_along, 0.1 * z_across
    angle = 0.25 * np.exp(along)
    cos, sin = np.cos(angle), np.sin(angle)
    points = 2 * np.stack([along * cos + across * sin, across * cos - along * sin], axis=1)
    return points, weights / weights.sum()


def _checkerboard_entropy(scale: float) -> float:
    """Cell (i, j) has probability sum_m a_m[i] a_m[j] / 32: m is the parity of column and row.

    a_m[i] is the width of cell i within parity m. It takes few values, most often 0 or w, so that
    the sum over 2^32 cells is one over pairs of distinct values.
    """
    cells = np.arange(-NUM_CELLS, NUM_CELLS)[:, None]
    overlap = lambda low: np.clip(
        np.minimum(cells + 1, (low + 2) * scale) - np.maximum(cells, low * scale), 0, 1
    )
    even, odd = overlap(np.array([-4, 0])).sum(axis=1), overlap(np.array([-2, 2])).sum(axis=1)
    widths, counts = np.unique(np.stack([even, odd], axis=1), axis=0, return_counts=True)
    probs = widths @ widths.T / (32 * scale**2)
    return float(counts @ entr(probs) @ counts)
