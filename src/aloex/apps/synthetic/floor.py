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
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import entr, erf, roots_legendre

from aloex.apps.synthetic.data import DATA_SETS, NUM_CELLS, DataSet
from aloex.base.errors import require

FLOOR = {  # nats; `floor` of each, rounded
    "2spirals": 20.04135,
    "8gaussians": 20.03335,
    "circles": 20.55142,
    "moons": 19.75956,
    "pinwheel": 19.53465,
    "swissroll": 20.12605,
    "checkerboard": 20.67690,
}


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
    mixture = _mixture(name, refine)
    x, y, area = _plane(mixture, refine)
    return area * float(entr(mixture.on_grid(x, y)).sum())


def density(name: str, points: ArrayLike) -> np.ndarray:
    """p(x, y) of the continuous data at points [n, 2], in float64."""
    DataSet(name)
    points = np.asarray(points, np.float64)
    require(points.shape[1:] == (2,), f"points must have the shape [n, 2], got {points.shape}")
    if name == "checkerboard":
        return _checkerboard_density(points)
    if name == "pinwheel":
        return _pinwheel_density(points)
    mixture = _mixture(name)
    parts = np.array_split(points, 1 + points.size // 20_000)  # to bound the memory
    return np.concatenate([mixture.at(part) for part in parts])


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
        return 2 / _mixture(name).sd ** 2
    # Where an arm folds over itself, p and J are infinite. The fold and all that is near it have
    # probability 4e-8, and e there is of that order. Features within 4 deviations keep clear of it;
    # those beyond would add 0.2% to J.
    points, weights = _pinwheel_nodes(2, limit=4.0)
    step = 1e-5 * np.eye(2)
    log_p = lambda shift: np.log(density(name, points + shift))
    slopes = [(log_p(shift) - log_p(-shift)) / 2e-5 for shift in step]
    return float(weights @ (slopes[0] ** 2 + slopes[1] ** 2))


class _Mixture(NamedTuple):
    """Equal-shaped blobs: Gaussian noise, after a uniform shift in a box if it has a width."""

    weights: np.ndarray  # [k]
    centres: np.ndarray  # [k, 2]
    sd: float
    box: float = 0.0

    def at(self, points: np.ndarray) -> np.ndarray:
        x, y = (self._kernel(points[:, i], i) for i in range(2))
        return (x * y) @ self.weights

    def on_grid(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """p at all (x[i], y[j]): a blob is a product, so this is a product of matrices."""
        return (self._kernel(x, 0) * self.weights) @ self._kernel(y, 1).T

    def _kernel(self, values: np.ndarray, axis: int) -> np.ndarray:
        distance = (values[:, None] - self.centres[:, axis]) / self.sd
        if self.box == 0:
            return np.exp(-(distance**2) / 2) / (math.sqrt(2 * math.pi) * self.sd)
        half = self.box / (2 * self.sd)
        upper, lower = ((distance + side) / math.sqrt(2) for side in (half, -half))
        return (erf(upper) - erf(lower)) / (2 * self.box)


@cache
def _mixture(name: str, refine: int = 1) -> _Mixture:
    """The data set with its angle replaced by the nodes of a quadrature rule."""
    if name == "8gaussians":
        return _Mixture(np.full(8, 1 / 8), 4 / 1.414 * _on_circle(_turn(8)), 0.5 / 1.414)
    if name == "circles":
        k = 150 * refine
        circle = _on_circle(_turn(k))
        return _Mixture(np.full(2 * k, 0.5 / k), 3 * np.concatenate([circle, circle / 2]), 0.24)
    nodes, weights = roots_legendre(300 * refine)
    u, weights = (1 + nodes) / 2, weights / 2
    twice = np.concatenate([weights, weights]) / 2
    if name == "moons":
        outer = _on_circle(np.pi * u)
        return _Mixture(twice, 2 * np.concatenate([outer, [1, 0.5] - outer]) - [1, 0.2], 0.2)
    if name == "swissroll":
        angle = 1.5 * np.pi * (1 + 2 * u)
        return _Mixture(weights, angle[:, None] * _on_circle(angle) / 5, 0.2)
    angle = 3 * np.pi * u  # 2spirals: the angle has density 2u on u in (0, 1)
    curve = angle[:, None] * np.stack([-np.cos(angle), np.sin(angle)], axis=1)
    middle = (curve + 0.25) / 3
    weights = np.concatenate([u * weights, u * weights])
    return _Mixture(weights, np.concatenate([middle, -middle]), sd=0.1, box=1 / 6)


def _turn(k: int) -> np.ndarray:
    """k equally spaced angles."""
    return 2 * np.pi / k * np.arange(k)


def _on_circle(angle: np.ndarray) -> np.ndarray:
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


def _plane(mixture: _Mixture, refine: int) -> tuple[np.ndarray, np.ndarray, float]:
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


def _pinwheel_density(points: np.ndarray) -> np.ndarray:
    """Sum over the features (along, across) = r (cos psi, sin psi) that lead to the point.

    Turning keeps the radius r. For the angle phi of the point, psi solves
    g(psi) = psi - exp(r cos psi) / 4 = phi + 2 pi m / 5 for an integer m, and g' is the Jacobian.
    While r exp(r) <= 4, g rises on (-pi, pi] by 2 pi, so there are five solutions. Beyond, it rises
    from `first` on; what the first five solutions miss has features 7 deviations from their mean,
    or, past the fold below `first`, probability 1e-9.
    """
    r = np.hypot(*points.T)[:, None] / 2
    phi = np.arctan2(points[:, 1], points[:, 0])[:, None]
    steep = 4 * np.exp(-r) / np.maximum(r, 1e-300)
    first = np.where(steep < 1, -np.arcsin(np.minimum(steep, 1)), -np.pi)
    g = lambda psi: psi - np.exp(r * np.cos(psi)) / 4
    m = np.ceil((g(first) - phi) * 5 / (2 * np.pi)) + np.arange(5)
    target = phi + 2 * np.pi / 5 * m
    psi = _rising_root(g, target, first + 0 * m, np.pi + 0 * m)
    along, across = r * np.cos(psi), r * np.sin(psi)
    features = np.exp(-(((along - 1) / 0.3) ** 2 + (across / 0.1) ** 2) / 2) / (2 * np.pi * 0.03)
    return (features / (1 + across * np.exp(along) / 4)).sum(axis=1) / (5 * 2**2)


def _rising_root(g, target: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """x in [low, high] with g(x) = target, by bisection; g rises."""
    for _ in range(45):
        middle = (low + high) / 2
        below = g(middle) < target
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return (low + high) / 2


def _checkerboard_density(points: np.ndarray) -> np.ndarray:
    """Uniform on eight squares of side 2."""
    column, row = np.floor(points / 2).T
    inside = (np.abs(column + 0.5) < 2) & (np.abs(row + 0.5) < 2)
    return np.where(inside & (column % 2 == row % 2), 1 / 32, 0.0)


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
