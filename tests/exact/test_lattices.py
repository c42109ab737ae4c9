"""Transfer matrices and sums over hidden units against enumeration, in float64."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from aloex import energies, exact
from aloex.base.errors import InputError
from aloex.spaces import Bits, Categorical

RNG = np.random.default_rng(1)


def by_enumeration(f, space, num_values):
    """log Z, marginals and laws of counts."""
    log_z, p = float(exact.log_z(f, space)), np.exp(np.asarray(exact.log_p(f, space)))
    states = np.asarray(space.enumerate())
    is_value = states[:, :, None] == np.arange(num_values)
    marginals = np.einsum("s,siv->iv", p, is_value)
    count = is_value.sum(axis=1)
    laws = [np.bincount(count[:, v], p, minlength=space.dim + 1) for v in range(num_values)]
    return log_z, marginals, np.array(laws)


@pytest.mark.parametrize(
    ("height", "width", "num_values", "periodic"),
    [
        *[(2, 3, 2, False), (4, 2, 2, False), (1, 5, 2, False), (5, 1, 2, False)],
        *[(3, 4, 2, True), (2, 3, 3, False), (3, 1, 4, False), (3, 3, 3, True)],
    ],
)
def test_lattices_by_enumeration(height, width, num_values, periodic):
    """With another coupling on each edge and another field on each site."""
    num_edges = len(energies.lattice_edges(height, width, periodic=periodic))
    dim, coupling = height * width, RNG.normal(size=num_edges)
    with exact.float64():
        if num_values == 2:
            shape, space, field = (height, width), Bits(dim), RNG.normal(size=dim)
            kind, of_kind = energies.ising_lattice, exact.ising_lattice
        else:
            shape, space = (height, width, num_values), Categorical(dim, num_values)
            field = RNG.normal(size=(dim, num_values))
            kind, of_kind = energies.potts_lattice, exact.potts_lattice
        f = kind(*shape, coupling, field, periodic=periodic)
        found = of_kind(*shape, coupling, field, periodic=periodic)
        log_z, marginals, laws = by_enumeration(f, space, num_values)
    assert found.log_z == pytest.approx(log_z, abs=1e-11)
    np.testing.assert_allclose(found.marginals, marginals, atol=1e-12)
    np.testing.assert_allclose(found.counts, laws, atol=1e-12)
    more_than_half = laws[1, dim // 2 + 1 :].sum()
    assert found.majority(1) == pytest.approx(more_than_half)
    tie = laws[1, dim // 2] if dim % 2 == 0 else 0
    assert found.majority(1, ties=0.5) == pytest.approx(more_than_half + tie / 2)


def test_known_values_of_the_8_by_8_lattice():
    """Field 0.01; from an independent program. Ties count for neither mode."""
    for coupling, log_z, upper in ((0.6, 70.2095, 0.7468), (0.8, 91.0540, 0.7765)):
        found = exact.ising_lattice(8, 8, coupling, 0.01)
        assert found.log_z == pytest.approx(log_z, abs=5e-5)
        assert found.majority(1) == pytest.approx(upper, abs=5e-5)


def test_a_high_strip_does_not_overflow():
    """Its free energy per row is the largest eigenvalue's logarithm."""
    rows = [exact.ising_lattice(n, 2, 3.0, 1.0).log_z for n in (400, 401)]
    spins = np.array([[a, b] for a in (-1.0, 1.0) for b in (-1.0, 1.0)])
    own = 3.0 * spins.prod(axis=1) + spins.sum(axis=1)
    transfer = np.exp(3.0 * spins @ spins.T + (own[:, None] + own) / 2)
    assert rows[1] - rows[0] == pytest.approx(np.log(np.linalg.eigvalsh(transfer).max()))


@pytest.mark.parametrize("num_hidden", [1, 3, 15])
def test_rbm_by_enumeration(num_hidden):
    w, b, c = RNG.normal(size=(num_hidden, 4)), RNG.normal(size=4), RNG.normal(size=num_hidden)
    found, space = exact.rbm(w, b, c), Bits(4)
    with exact.float64():
        f = energies.RBM(w, b, c)
        p, states = np.exp(np.asarray(exact.log_p(f, space))), space.enumerate()
        assert found.log_z == pytest.approx(float(exact.log_z(f, space)), abs=1e-12)
        np.testing.assert_allclose(found.marginals, p @ states, atol=1e-12)
        units = jax.nn.sigmoid(jnp.asarray(states @ w.T + c))
        np.testing.assert_allclose(found.hidden_marginals, p @ np.asarray(units), atol=1e-12)


def test_what_is_refused():
    with pytest.raises(InputError, match="7 edges must be one number or as many numbers"):
        exact.ising_lattice(2, 3, [1.0, 2.0])
    with pytest.raises(InputError, match="sides of at least 3 and two sites, got 2 x 3"):
        exact.potts_lattice(2, 3, 3, periodic=True)
    with pytest.raises(InputError, match="1 to 24 hidden units, got shape"):
        exact.rbm(np.zeros((25, 2)))
