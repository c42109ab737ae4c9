"""The density of each data set's points in the plane, and the entropy of its bits.

The noise of five data sets is Gaussian, so their density is a mixture, with the angle replaced by
the nodes of a quadrature rule. The pinwheel and the checkerboard have formulas of their own.
"""

import math
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import erf, roots_legendre

from aloex.apps.synthetic.data import DataSet
from aloex.base.errors import require

FLOOR = {  # nats; entropies of the bits, computed by `studies.synthetic.floor`
    "2spirals": 20.04135,
    "8gaussians": 20.03335,
    "circles": 20.55142,
    "moons": 19.75956,
    "pinwheel": 19.53465,
    "swissroll": 20.12605,
    "checkerboard": 20.67690,
}


def density(name: str, points: ArrayLike) -> np.ndarray:
    """p(x, y) of the continuous data at points [n, 2], in float64."""
    DataSet(name)
    points = np.asarray(points, np.float64)
    require(points.shape[1:] == (2,), f"points must have the shape [n, 2], got {points.shape}")
    if name == "checkerboard":
        return _checkerboard_density(points)
    if name == "pinwheel":
        return _pinwheel_density(points)
    mixture = mixture_of(name)
    parts = np.array_split(points, 1 + points.size // 20_000)  # to bound the memory
    return np.concatenate([mixture.at(part) for part in parts])


class Mixture(NamedTuple):
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
def mixture_of(name: str, refine: int = 1) -> Mixture:
    """The data set with its angle replaced by the nodes of a quadrature rule."""
    if name == "8gaussians":
        return Mixture(np.full(8, 1 / 8), 4 / 1.414 * _on_circle(_turn(8)), 0.5 / 1.414)
    if name == "circles":
        k = 150 * refine
        circle = _on_circle(_turn(k))
        return Mixture(np.full(2 * k, 0.5 / k), 3 * np.concatenate([circle, circle / 2]), 0.24)
    nodes, weights = roots_legendre(300 * refine)
    u, weights = (1 + nodes) / 2, weights / 2
    twice = np.concatenate([weights, weights]) / 2
    if name == "moons":
        outer = _on_circle(np.pi * u)
        return Mixture(twice, 2 * np.concatenate([outer, [1, 0.5] - outer]) - [1, 0.2], 0.2)
    if name == "swissroll":
        angle = 1.5 * np.pi * (1 + 2 * u)
        return Mixture(weights, angle[:, None] * _on_circle(angle) / 5, 0.2)
    angle = 3 * np.pi * u  # 2spirals: the angle has density 2u on u in (0, 1)
    curve = angle[:, None] * np.stack([-np.cos(angle), np.sin(angle)], axis=1)
    middle = (curve + 0.25) / 3
    weights = np.concatenate([u * weights, u * weights])
    return Mixture(weights, np.concatenate([middle, -middle]), sd=0.1, box=1 / 6)


def _turn(k: int) -> np.ndarray:
    """k equally spaced angles."""
    return 2 * np.pi / k * np.arange(k)


def _on_circle(angle: np.ndarray) -> np.ndarray:
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


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


def _rising_root(
    g: Callable[[np.ndarray], np.ndarray], target: np.ndarray, low: np.ndarray, high: np.ndarray
) -> np.ndarray:
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
