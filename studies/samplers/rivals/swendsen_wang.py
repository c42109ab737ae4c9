"""Swendsen-Wang: clusters of a lattice change at once, so that whole modes are crossed in a step.

Given x, the bond of an edge that x satisfies is closed with probability 1 - exp(-c |J|), c = 2 for
Ising (J s_i s_j > 0) and 1 for Potts (x_i = x_j, J > 0); all other bonds are open. Given the bonds,

    p(x | bonds) ~ exp(field terms of x) 1[every closed bond is satisfied],

so each cluster of closed bonds is drawn anew, alone, from the fields in it: kept or flipped whole
(Ising, where a negative coupling fixes that its ends differ), or given one value (Potts). Drawing
this exactly stands where a ghost spin would be, and changes more clusters. It leaves p_f unchanged
for any field; in strong or random ones, and on frustrated lattices, clusters are of little use.
(R. H. Swendsen and J.-S. Wang, Nonuniversal critical dynamics in Monte Carlo simulations, 1987;
R. G. Edwards and A. D. Sokal, 1988.)
"""

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Key

from aloex.base.errors import InputError, require
from aloex.energies import Ising, Potts, SparseCouplings
from studies.samplers.problems import Problem
from studies.samplers.rivals.base import Budget, Chains, burnt_in


@dataclass(frozen=True)
class SwendsenWang:
    """The budget counts steps of burn-in; a step draws all bonds and all clusters once."""

    num_chains: int = 64

    def fit(self, key: Key[Array, ""], problem: Problem, budget: Budget) -> Chains:
        """Burnt-in chains; only `Ising` and `Potts` energies with sparse couplings have them."""
        f = problem.f
        if not isinstance(f, Ising | Potts) or not isinstance(f.couplings, SparseCouplings):
            raise InputError(
                f"Swendsen-Wang needs Ising or Potts with SparseCouplings, got {problem.name}"
            )
        require(
            isinstance(f, Ising) or bool(jnp.all(f.couplings.weights >= 0)),
            "Swendsen-Wang for Potts needs couplings of 0 or more",
        )
        return burnt_in(key, problem, lambda key, x: step(key, x, f), budget, self.num_chains)


def step(key: Key[Array, ""], x: Int[Array, " dim"], f: Ising | Potts) -> Int[Array, " dim"]:
    """Bonds, then clusters."""
    key_bonds, key_clusters = jax.random.split(key)
    closed = jax.random.bernoulli(key_bonds, closing_probabilities(f, x))
    labels = cluster_labels(sparse_couplings(f), closed)
    options = jax.random.categorical(key_clusters, cluster_logits(f, x, labels))
    return recoloured(f, x, labels, options)


def closing_probabilities(f: Ising | Potts, x: Int[Array, " dim"]) -> Float[Array, " edges"]:
    """Of each edge's bond."""
    couplings = sparse_couplings(f)
    left, right = x[couplings.edges].T
    if isinstance(f, Potts):
        satisfied, strength = left == right, couplings.weights
    else:
        satisfied = (left == right) == (couplings.weights > 0)
        strength = 2 * jnp.abs(couplings.weights)
    return jnp.where(satisfied, -jnp.expm1(-strength), 0)


def cluster_labels(couplings: SparseCouplings, closed: Bool[Array, " edges"]) -> Int[Array, " dim"]:
    """The smallest site of each site's cluster.

    Every site takes the smallest label among its own and those behind closed bonds, and then the
    label of its label, until nothing changes.
    """
    dim = couplings.neighbours.shape[0]
    is_closed = jnp.append(closed, False)[couplings.edge_of]

    def spread(state: tuple[Array, Array]) -> tuple[Array, Array]:
        labels, _ = state
        behind = jnp.where(is_closed, labels[couplings.neighbours], dim)
        lower = jnp.minimum(labels, behind.min(axis=1))
        lower = lower[lower]
        return lower, jnp.any(lower != labels)

    start = jnp.arange(dim), jnp.array(True)
    return jax.lax.while_loop(lambda state: state[1], spread, start)[0]


def cluster_logits(
    f: Ising | Potts, x: Int[Array, " dim"], labels: Int[Array, " dim"]
) -> Float[Array, "dim options"]:
    """log weights of a cluster's options, in the row of its label: keep or flip, or the values."""
    if isinstance(f, Potts):
        of_sites = f.field
    else:
        kept = f.field * (2 * x - 1)
        of_sites = jnp.stack([kept, -kept], axis=1)
    return jax.ops.segment_sum(of_sites, labels, num_segments=len(x))


def recoloured(
    f: Ising | Potts, x: Int[Array, " dim"], labels: Int[Array, " dim"], options: Array
) -> Int[Array, " dim"]:
    """x after every cluster has taken its option."""
    chosen = options[labels].astype(x.dtype)
    return chosen if isinstance(f, Potts) else jnp.where(chosen == 1, 1 - x, x)


def sparse_couplings(f: Ising | Potts) -> SparseCouplings:
    """Those of f, which `fit` has looked at."""
    couplings: Any = f.couplings
    return couplings
