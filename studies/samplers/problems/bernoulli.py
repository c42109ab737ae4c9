"""Independent bits: what no sampler may get wrong."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from aloex.spaces import Bits
from studies.samplers.problems.problem import Expectation, Problem, of_bits


class Product(eqx.Module):
    """f(x) = sum_i a_i x_i."""

    logits: Float[Array, " dim"]
    differences_are_exact = True

    def __call__(self, x: Array, z: Array | None = None) -> Float[Array, ""]:
        """f(x)."""
        return self.logits @ x.astype(self.logits.dtype)

    def differences(self, x: Array, z: Array | None = None) -> Float[Array, "dim 2"]:
        """a_i (v - x_i)."""
        return self.logits[:, None] * (jnp.arange(2) - x[:, None])


def bernoulli(dim: int = 64, *, scale: float = 1.5, seed: int = 0) -> Problem:
    """Bits with normal log-odds."""
    logits = np.random.default_rng(seed).normal(0, scale, dim)
    ones = 1 / (1 + np.exp(-logits))
    return Problem(
        name=f"bernoulli-{dim}",
        space=Bits(dim),
        f=Product(jnp.asarray(logits, float)),
        log_z=float(np.logaddexp(0, logits).sum()),
        marginals=of_bits(ones),
        expectations={"ones": Expectation(lambda x: 1.0 * x.sum(), float(ones.sum()))},
        colours=(tuple(range(dim)),),
    )
