"""Families of energies f(x; z): one learned sampler for all z, against starting anew for each.

z has numbers of order 1, drawn from `draw`. For each z the energy is an ordinary one, `at(z)`, and
so is the problem, `problem_at(z)`, with exact answers. The values of z to be tested on are of the
same law and were in no training (`unseen_conditions`: another seed).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key

from aloex.energies import RBM, Ising, SparseCouplings, lattice_edges
from aloex.kernels import Kernel, checkerboard
from aloex.spaces import Bits
from studies.samplers.problems.clusters import Mixture, mixture_problem
from studies.samplers.problems.lattices import ising
from studies.samplers.problems.machines import balanced_biases, rbm_problem
from studies.samplers.problems.problem import Colours, Problem, cheapest_kernel

Condition = Float[np.ndarray, " cond"]


class Conditional(eqx.Module):
    """f(x, z) = at(z)(x), with its differences."""

    at: Callable[[Any], Any]  # z -> energy
    differences_are_exact = True

    def __call__(self, x: Array, z: Array | None = None) -> Float[Array, ""]:
        """f(x, z)."""
        return self.at(z)(x)

    def differences(self, x: Array, z: Array | None = None) -> Float[Array, "dim 2"]:
        """Those of f(., z)."""
        return self.at(z).differences(x)


@dataclass(frozen=True)
class Family:
    """Energies of bits with a condition.

    Attributes:
        name: as in the registry.
        space: of x.
        cond_dim: numbers in z.
        f: f(x, z), with exact differences.
        draw: the law of z in training and in tests, key -> z [cond_dim].
        problem_at: the problem of one z, with exact answers; some take seconds.
        colours: sites that are independent given the rest, on lattices.
    """

    name: str
    space: Bits
    cond_dim: int
    f: Conditional
    draw: Callable[[Key[Array, ""]], Float[Array, " cond"]]
    problem_at: Callable[[Condition], Problem]
    colours: Colours | None = None

    @property
    def kernel(self) -> Kernel:
        """A sweep of Gibbs, by colours where there are any."""
        return cheapest_kernel(self.space, self.colours)


def unseen_conditions(
    family: Family, num: int, *, seed: int = 2**31
) -> Float[np.ndarray, "n cond"]:
    """Values of z that no training has seen."""
    keys = jax.random.split(jax.random.key(seed), num)
    return np.asarray(jax.vmap(family.draw)(keys), np.float64)


def affine_ising(
    name: str,
    height: int,
    width: int,
    couplings: Callable[[Any], Any],
    fields: Callable[[Any], Any],
    draw: Callable[[Array], Array],
) -> Family:
    """Ising models on a grid whose couplings [edges] and fields [dim] are functions of z."""
    dim, edges = height * width, lattice_edges(height, width)
    start = SparseCouplings(dim, edges, 0.0)

    def at(z: Array) -> Ising:
        weights = jnp.broadcast_to(jnp.asarray(couplings(z), float), (len(edges),))
        return Ising(eqx.tree_at(lambda c: c.weights, start, weights), fields(z))

    def problem_at(z: Condition) -> Problem:
        return ising(height, width, coupling=couplings(z), field=fields(z), name=name)

    cond_dim = jax.eval_shape(draw, jax.random.key(0)).shape[0]
    colours = checkerboard(height, width)
    return Family(name, Bits(dim), cond_dim, Conditional(at), draw, problem_at, colours)


def _uniform(num: int) -> Callable[[Array], Array]:
    return lambda key: jax.random.uniform(key, (num,), minval=-1.0, maxval=1.0)


def _normal(num: int) -> Callable[[Array], Array]:
    return lambda key: jax.random.normal(key, (num,))


def ising_family(side: int = 8) -> Family:
    """z: coupling, from 0.2 to 0.8, and field, from -0.05 to 0.05."""
    couplings, fields = lambda z: 0.5 + 0.3 * z[0], lambda z: 0.05 * z[1]
    return affine_ising("ising", side, side, couplings, fields, _uniform(2))


def temperature_family(side: int = 8, *, seed: int = 0) -> Family:
    """z: the inverse temperature of a spin glass, from 0.2 to 1.2."""
    rng = np.random.default_rng(seed)
    signs = rng.choice([-1.0, 1.0], len(lattice_edges(side, side)))
    field = 0.1 * rng.normal(size=side**2)
    b = lambda z: 0.7 + 0.5 * z[0]
    return affine_ising(
        "glass-temperature", side, side, lambda z: b(z) * signs, lambda z: b(z) * field, _uniform(1)
    )


def fields_family(side: int = 8, *, coupling: float = 0.6, scale: float = 0.3) -> Family:
    """z: a field for each site, as where a noisy picture is cleaned."""
    couplings, fields = lambda z: coupling, lambda z: scale * z
    return affine_ising("ising-fields", side, side, couplings, fields, _normal(side**2))


def couplings_family(side: int = 8, *, scale: float = 0.8) -> Family:
    """z: a coupling for each pair of neighbours, of either sign: all spin glasses of a size."""
    num = len(lattice_edges(side, side))
    couplings, fields = lambda z: scale * z, lambda z: 0.1
    return affine_ising("glass-couplings", side, side, couplings, fields, _normal(num))


def rbm_family(
    dim: int = 64, num_hidden: int = 10, cond_dim: int = 4, *, scale: float = 1.0, seed: int = 0
) -> Family:
    """z moves the biases of all bits and hidden units."""
    rng = np.random.default_rng(seed)
    weights = scale * rng.choice([-1.0, 1.0], (num_hidden, dim))
    visible, hidden = balanced_biases(weights, 0.2 * rng.normal(size=dim))
    visible_by_z = 0.3 * rng.normal(size=(dim, cond_dim))
    hidden_by_z = 0.7 * rng.normal(size=(num_hidden, cond_dim))
    biases = lambda z: (visible + visible_by_z @ z, hidden + hidden_by_z @ z)
    return Family(
        "rbm",
        Bits(dim),
        cond_dim,
        Conditional(lambda z: RBM(weights, *biases(z))),
        _normal(cond_dim),
        lambda z: rbm_problem("rbm", weights, *biases(z)),
    )


def mixture_family(
    dim: int = 64, num_clusters: int = 8, cond_dim: int = 4, *, noise: float = 0.05, seed: int = 0
) -> Family:
    """z moves the centres of clusters, bit by bit, and their shares."""
    rng = np.random.default_rng(seed)
    centres = rng.choice([-1.0, 1.0], (num_clusters, dim))
    centres_by_z = rng.normal(size=(num_clusters, dim, cond_dim))
    shares_by_z = rng.normal(size=(num_clusters, cond_dim))
    most = np.log((1 - noise) / noise)

    def at(z: Array) -> Mixture:
        log_shares = jax.nn.log_softmax(shares_by_z @ z)
        return Mixture(log_shares, most * jnp.tanh(2 * centres + centres_by_z @ z))

    def problem_at(z: Condition) -> Problem:
        shares = np.exp(shares_by_z @ z)
        logits = most * np.tanh(2 * centres + centres_by_z @ z)
        return mixture_problem("mixture", shares / shares.sum(), logits)

    return Family("mixture", Bits(dim), cond_dim, Conditional(at), _normal(cond_dim), problem_at)


FAMILIES: dict[str, Callable[[], Family]] = {
    "ising": ising_family,
    "glass-temperature": temperature_family,
    "ising-fields": fields_family,
    "glass-couplings": couplings_family,
    "rbm": rbm_family,
    "mixture": mixture_family,
}
