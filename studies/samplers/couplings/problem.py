"""Ising models on a torus, samples of them, and how far learned couplings are from the true ones.

As in the literature (Grathwohl et al. 2021; Zhang et al. 2022), without a field and with spins s,

    p(s) ~ exp(s' J s) = exp(2 sum_{i < j} J_ij s_i s_j),    J = sigma A,

where A tells the neighbours on a D x D lattice with periodic boundary. Each pair counts twice, so
that `energies.Ising`, which counts it once, has the couplings 2 J, and the critical sigma of an
endless lattice is log(1 + sqrt 2) / 4 = 0.2203. A score is -log of the root mean square error of
J, over all D^4 entries, natural logarithm.
"""

from functools import lru_cache

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from aloex.energies import Ising, ising_lattice, lattice_edges
from aloex.spaces import Bits
from studies.samplers.rivals import swendsen_wang

NUM_SAMPLES = 2000
NUM_CLUSTER_STEPS = 200  # from uniform states

Matrix = Float[np.ndarray, "dim dim"]
Spins = Float[np.ndarray, "n dim"]


def adjacency(side: int) -> Matrix:
    """1 between neighbours on a torus, else 0."""
    matrix = np.zeros((side**2, side**2))
    i, j = lattice_edges(side, side, periodic=True).T
    matrix[i, j] = matrix[j, i] = 1
    return matrix


def true_couplings(side: int, sigma: float) -> Matrix:
    """J = sigma A."""
    return sigma * adjacency(side)


def energy(side: int, sigma: float) -> Ising:
    """f(x) = s' J s, s = 2 x - 1."""
    return ising_lattice(side, side, 2 * sigma, periodic=True)


@lru_cache(maxsize=1)  # jobs with the same data follow each other
def samples(side: int, sigma: float, seed: int, *, num: int = NUM_SAMPLES) -> Spins:
    """Independent spins by clusters (Swendsen and Wang), each from a chain of its own."""
    f, space = energy(side, sigma), Bits(side**2)
    key_start, key_steps = jax.random.split(jax.random.key(seed))
    x = jax.vmap(space.sample)(jax.random.split(key_start, num)).astype(jnp.int32)

    def step(x: Array, key: Array) -> tuple[Array, None]:
        keys = jax.random.split(key, num)
        return jax.vmap(lambda k, x: swendsen_wang.step(k, x, f))(keys, x), None

    keys = jax.random.split(key_steps, NUM_CLUSTER_STEPS)
    x, _ = jax.jit(lambda x: jax.lax.scan(step, x, keys))(x)
    return 2.0 * np.asarray(x) - 1


def score(learned: Matrix, side: int, sigma: float) -> float:
    """-log RMSE of J."""
    error = learned - true_couplings(side, sigma)
    return float(-np.log(np.sqrt(np.mean(error**2))))
