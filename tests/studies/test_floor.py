"""The floor: densities add up to 1 and fit the draws, entropies converge and fit the draws."""

import json
from functools import cache

import jax
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import entr, i0e
from scipy.stats import norm

from aloex.apps.synthetic.data import DATA_SETS, INT_SCALE, DataSet
from aloex.apps.synthetic.density import FLOOR, density
from aloex.base.errors import InputError
from stats import assert_draws_match, assert_mean_matches, compiled
from studies.synthetic.floor import _checkerboard_entropy, differential_entropy, floor, table

NUM_DRAWS = 20_000
EDGES = np.arange(-7, 7.01, 0.5)  # of the bins; those of the checkerboard's squares are among them
NODES = 6  # per bin and axis


@cache
def draws(name):
    points = compiled(lambda key: DataSet(name).points(key, NUM_DRAWS))(jax.random.key(1))
    return np.asarray(points, np.float64)


def bin_probs(name):
    """The density integrated over every bin, by Gauss and Legendre's rule."""
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    x = (EDGES[:-1, None] + (1 + nodes) / 4).ravel()
    p = density(name, np.stack(np.meshgrid(x, x, indexing="ij"), axis=-1).reshape(-1, 2))
    shape = (len(EDGES) - 1, NODES)
    return np.einsum("ikjl,k,l->ij", p.reshape(*shape, *shape), weights / 4, weights / 4)


@pytest.mark.parametrize("name", DATA_SETS)
def test_draws_follow_the_density(name):
    """Null hypothesis: the points are independent draws from `density`."""
    probs = bin_probs(name)
    assert probs.sum() == pytest.approx(1, abs=1e-5)
    counts = np.histogram2d(*draws(name).T, bins=(EDGES, EDGES))[0]
    assert counts.sum() == NUM_DRAWS
    assert_draws_match(counts.ravel(), probs.ravel())


@pytest.mark.parametrize("name", DATA_SETS)
def test_entropy_is_the_mean_of_the_draws(name):
    """Null hypothesis: -log p of the draws has the entropy as its mean."""
    log_p = np.log(density(name, draws(name)))
    assert_mean_matches(-log_p, differential_entropy(name))


@pytest.mark.parametrize("name", DATA_SETS)
def test_committed_floor(name):
    assert floor(name) == pytest.approx(FLOOR[name], abs=6e-6)


def test_errors_are_far_below_a_thousandth():
    rows = json.loads(json.dumps(table()))
    assert tuple(rows) == DATA_SETS
    for name, row in rows.items():
        assert row["floor"] == floor(name)
        assert row["change_when_spacing_halves"] < 1e-6
        assert row["quantisation_bound"] < 1e-6
        shift = 2 * np.log(INT_SCALE[name]) - row["floor"] + row["differential_entropy"]
        assert abs(shift) < (2e-4 if name == "checkerboard" else 1e-9)


def test_circles_in_closed_form():
    """Rings with Gaussian noise are Rice's: their entropy is an integral over the radius."""

    def p(r):
        rings = [np.exp(-((r - a) ** 2) / (2 * sd**2)) * i0e(r * a / sd**2) for a in (1.5, 3)]
        return sum(rings) / (4 * np.pi * sd**2)

    sd = 0.24
    entropy, _ = quad(lambda r: -2 * np.pi * r * p(r) * np.log(p(r)), 0, 5.5, limit=200)
    assert differential_entropy("circles") == pytest.approx(entropy, abs=1e-6)
    r = np.array([0.0, 0.7, 2.2, 3.3])
    np.testing.assert_allclose(density("circles", np.stack([r * 0.6, -r * 0.8], 1)), p(r))


def test_pinwheel_by_change_of_variables():
    """Where the arms are far apart, p is the density of the features over the Jacobian."""

    def point(along, across):
        angle = 2 * np.pi / 5 * 3 + np.exp(along) / 4
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        return 2 * np.array([along, across]) @ turn

    for along, across in [(1.3, 0.15), (1.1, -0.2), (1.6, 0.1), (1.5, -0.25)]:
        columns = [
            (point(along + d, across + e) - point(along - d, across - e)) / 2e-5
            for d, e in 1e-5 * np.eye(2)
        ]
        p = norm.pdf(along, 1, 0.3) * norm.pdf(across, 0, 0.1) / 5
        expected = p / abs(np.linalg.det(columns))
        assert density("pinwheel", [point(along, across)]) == pytest.approx(expected, rel=1e-6)


def test_quantised_gaussians_directly():
    """On a grid coarse enough to list, e is positive and within its bound, and near it."""
    scale, sd = 5, 0.5 / 1.414
    angle = np.arange(8) * np.pi / 4
    edges = np.arange(-40, 41) / scale
    x, y = (
        np.diff(norm.cdf(edges, 4 / 1.414 * side(angle)[:, None], sd)) for side in (np.cos, np.sin)
    )
    e = entr(x.T @ y / 8).sum() - differential_entropy("8gaussians") - 2 * np.log(scale)
    bound = 2 / sd**2 / (2 * np.pi**2 * scale**2)
    assert bound / 2 < e < bound  # 0.027 and 0.032


@pytest.mark.parametrize("scale", [3.7, 5.0, 6.25])
def test_quantised_checkerboard_directly(scale):
    """Against a list of all cells, from the recipe of the data, on grids coarse enough for that."""
    edges = np.arange(-30, 31) / scale
    overlap = lambda low: np.diff(np.clip(edges, low, low + 2)) / 2
    probs = sum(
        np.outer(overlap(2 * column), overlap(2 * (column % 2 - down))) / 8
        for column in (-2, -1, 0, 1)
        for down in (0, 2)
    )
    assert np.sum(probs) == pytest.approx(1)
    assert _checkerboard_entropy(scale) == pytest.approx(entr(probs).sum(), abs=1e-10)


def test_bad_arguments():
    for call in (floor, differential_entropy):
        with pytest.raises(InputError, match=r"'rings'.*circles"):
            call("rings")
    with pytest.raises(InputError, match=r"\[n, 2\], got \(3,\)"):
        density("moons", np.zeros(3))
