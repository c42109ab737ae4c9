"""Clusters far apart: a mixture of products of bits around random centres, of unequal shares."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from aloex.spaces import Bits
from studies.samplers.problems.problem import Expectation, Problem, of_bits

LOG_Z = 3.0  # any number but 0, which a sampler that knows of no log Z would say


class Mixture(eqx.Module):
    """f(x) = log sum_c exp(l_c + sum_i a_ci x_i) + constant."""

    log_shares: Float[Array, " clusters"]
    logits: Float[Array, "clusters dim"]
    constant: float = eqx.field(static=True, default=LOG_Z)
    differences_are_exact = True

    def __call__(self, x: Array, z: Array | None = None) -> Float[Array, ""]:
        """f(x): log Z is the constant if the shares add up to 1."""
        return jax.nn.logsumexp(self.log_joint(x)) + self.constant

    def log_joint(self, x: Array) -> Float[Array, " clusters"]:
        """log of share times probability, for each cluster."""
        inside = self.logits @ x.astype(self.logits.dtype)
        return self.log_shares + inside - jax.nn.softplus(self.logits).sum(axis=1)

    def differences(self, x: Array, z: Array | None = None) -> Float[Array, "dim 2"]:
        """log of the mean over clusters given x of exp(a_ci (v - x_i))."""
        here = jax.nn.log_softmax(self.log_joint(x))
        flip = jax.nn.logsumexp(here[:, None] + self.logits * (1 - 2 * x), axis=0)
        return jnp.where(jnp.arange(2) == x[:, None], 0, flip[:, None])


def clusters(
    dim: int = 64, num_clusters: int = 8, *, noise: float = 0.05, seed: int = 0
) -> Problem:
    """Each bit differs from its centre with probability `noise`; shares fall from about 1/4."""
    rng = np.random.default_rng(seed)
    centres = rng.integers(0, 2, (num_clusters, dim))
    shares = 0.75 ** np.arange(num_clusters)
    shares /= shares.sum()
    logits = (2 * centres - 1) * np.log((1 - noise) / noise)
    return mixture_problem(f"clusters-{dim}", shares, logits)


def mixture_problem(
    name: str, shares: Float[np.ndarray, " clusters"], logits: Float[np.ndarray, "clusters dim"]
) -> Problem:
    """The problem of a mixture, all of which is known."""
    f = Mixture(jnp.asarray(np.log(shares), float), jnp.asarray(logits, float))

    def cluster(c: int) -> Expectation:
        # The mean of p(c | x) is the share of c.
        return Expectation(lambda x: jax.nn.softmax(f.log_joint(x))[c], float(shares[c]))

    return Problem(
        name=name,
        space=Bits(logits.shape[1]),
        f=f,
        log_z=LOG_Z,
        marginals=of_bits(shares @ (1 / (1 + np.exp(-logits)))),
        expectations={f"cluster {c}": cluster(c) for c in range(len(shares))},
    )
