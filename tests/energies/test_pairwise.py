"""Ising, Potts and RBM energies: their formulas and their differences, by enumeration."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import logsumexp

from aloex import differences as diff
from aloex import exact, kernels
from aloex.base.errors import InputError
from aloex.energies import (
    RBM,
    Ising,
    Potts,
    SparseCouplings,
    ising_lattice,
    lattice_edges,
    potts_lattice,
)
from aloex.spaces import Bits, Categorical
from stats import compiled

RNG = np.random.default_rng(0)
MATRIX = RNG.normal(size=(4, 4))  # neither symmetric nor with zeros on its diagonal
FIELD = RNG.normal(size=4)
EDGES = [(0, 1), (2, 1), (0, 3), (0, 1)]  # twice between 0 and 1
WEIGHTS = RNG.normal(size=4)
TABLE = RNG.normal(size=(4, 3))
HIDDEN, BIAS = RNG.normal(size=(3, 4)), RNG.normal(size=3)
sparse = lambda: SparseCouplings(4, EDGES, WEIGHTS)


def pairs(agree, x):
    """The sum over coupled pairs of an agreement, for the matrix and for the edges."""
    off = [(i, j) for i in range(4) for j in range(i)]
    dense = sum((MATRIX[i, j] + MATRIX[j, i]) / 2 * agree(x[i], x[j]) for i, j in off)
    sparse = sum(w * agree(x[i], x[j]) for (i, j), w in zip(EDGES, WEIGHTS, strict=True))
    return dense, sparse


def ising(x, which):
    spins = 2 * x - 1
    return pairs(lambda a, b: (2 * a - 1) * (2 * b - 1), x)[which] + FIELD @ spins


def potts(x, which):
    return pairs(lambda a, b: float(a == b), x)[which] + TABLE[np.arange(4), x].sum()


def rbm(x):
    units = np.array(np.meshgrid(*[[0, 1]] * 3)).reshape(3, -1).T
    return logsumexp(FIELD @ x + units @ (BIAS + HIDDEN @ x))


CASES = {
    "Ising-dense": (Bits(4), lambda: Ising(MATRIX, FIELD), lambda x: ising(x, 0)),
    "Ising-sparse": (Bits(4), lambda: Ising(sparse(), FIELD), lambda x: ising(x, 1)),
    "Potts-dense": (Categorical(4, 3), lambda: Potts(MATRIX, TABLE), lambda x: potts(x, 0)),
    "Potts-sparse": (Categorical(4, 3), lambda: Potts(sparse(), TABLE), lambda x: potts(x, 1)),
    "RBM": (Bits(4), lambda: RBM(HIDDEN, FIELD, BIAS), rbm),
}


@pytest.mark.parametrize("name", CASES)
def test_values_and_differences_by_enumeration(name):
    space, build, formula = CASES[name]
    with exact.float64():
        f, states = build(), space.enumerate()

        @compiled
        def tables(f, x):
            found = diff.differences(f, space, x, how="auto")
            changes = diff.exact_changes(f, space, diff.start(f, x))
            return f(x), found, changes

        values, found, changes = jax.vmap(lambda x: tables(f, x))(states)
        expected = np.array([formula(x) for x in np.asarray(states)])
        np.testing.assert_allclose(values, expected, atol=1e-12)
        np.testing.assert_allclose(found, changes, atol=1e-12)
        assert diff.are_own_and_exact(f) and float(jnp.std(found)) > 0.1
        own = jnp.take_along_axis(found, states[..., None], axis=2)
        assert not own.any()


def test_potts_of_two_values_is_ising():
    f, g = potts_lattice(2, 2, 2, 1.0), ising_lattice(2, 2, 0.5)
    x = Bits(4).enumerate()
    apart = jax.vmap(f)(x) - jax.vmap(g)(x)
    np.testing.assert_allclose(apart, 2.0, atol=1e-5)  # 1[a = b] = (1 + s s') / 2, four edges


def test_edges_of_a_lattice():
    assert lattice_edges(2, 3).tolist() == [[0, 1], [1, 2], [3, 4], [4, 5], [0, 3], [1, 4], [2, 5]]
    around = lattice_edges(3, 4, periodic=True)
    assert len({frozenset(edge) for edge in around.tolist()}) == 2 * 12 == len(around)
    assert np.bincount(around.reshape(-1)).tolist() == [4] * 12


def test_the_colours_of_a_checkerboard_do_not_interact():
    kernel = kernels.ColouredGibbs(Categorical(6, 3), kernels.checkerboard(2, 3))
    kernel.check_colours(potts_lattice(2, 3, 3, 0.7), jnp.zeros(6, jnp.int32))


def test_gradients_keep_a_matrix_symmetric():
    f, x = Ising(MATRIX), jnp.array([1, 0, 1, 1])
    slope = jax.grad(lambda f: f(x))(f).couplings
    np.testing.assert_array_equal(slope, slope.T)
    assert not jnp.diag(slope).any() and slope.any()


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Ising(np.zeros((2, 3))), r"matrix of shape \(dim, dim\).* got shape \(2, 3\)"),
        (lambda: Ising(np.zeros((2, 2)), [1.0]), r"one number or 2 numbers, got shape \(1,\)"),
        (lambda: Potts(np.zeros((2, 2)), 0.0), r"\(num_values,\) or \(2, num_values\)"),
        (lambda: potts_lattice(2, 2, 3, field=[0.0, 1.0]), "end in as many numbers"),
        (lambda: RBM([1.0]), r"\(hidden, dim\), got shape \(1,\)"),
        (lambda: RBM([[1.0]], [1.0, 2.0]), "visible bias must be one number or 1 numbers"),
        (lambda: SparseCouplings(2, [(0, 2)], 1.0), "pairs of the sites 0..1"),
        (lambda: SparseCouplings(2, [(1, 1)], 1.0), r"join two sites, got \[\[1, 1\]\]"),
        (lambda: SparseCouplings(3, EDGES[:2], [1.0] * 3), "one number or 2 numbers"),
        (lambda: ising_lattice(1, 1), "sides of at least 1 and two sites"),
        (lambda: ising_lattice(2, 3, periodic=True), "periodic lattice needs sides of at least 3"),
    ],
)
def test_what_is_refused(build, message):
    with pytest.raises(InputError, match=message):
        build()
