"""Pieces of networks that energies and samplers share."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from aloex.errors import require
from aloex.spaces import Bits, Space


def elu(x: Array) -> Array:
    """ELU by exp - 1: 1e-7 less exact near 0 than expm1, and more than twice as fast on a CPU."""
    return jnp.where(x > 0, x, jnp.exp(jnp.minimum(x, 0)) - 1)


def mlp(sizes: tuple[int, ...], *, key: Key[Array, ""]) -> eqx.nn.Sequential:
    """Linear layers of the given sizes with ELU between them."""
    keys = jax.random.split(key, len(sizes) - 1)
    layers: list[eqx.Module] = []
    for key_layer, n_in, n_out in zip(keys, sizes[:-1], sizes[1:], strict=True):
        layers += [eqx.nn.Linear(n_in, n_out, key=key_layer), eqx.nn.Lambda(elu)]
    return eqx.nn.Sequential(layers[:-1])


class Features(eqx.Module):
    """x and z as one vector: bits as they are, categories embedded, the condition at the end."""

    embedding: Float[Array, "values width"] | None
    dim: int = eqx.field(static=True)
    cond_dim: int = eqx.field(static=True)

    def __init__(self, space: Space, *, cond_dim: int = 0, embed_dim: int = 8, key: Key[Array, ""]):
        self.dim, self.cond_dim = space.dim, cond_dim
        if isinstance(space, Bits):
            self.embedding = None
        else:
            self.embedding = jax.random.normal(key, (space.num_values, embed_dim))

    @property
    def size(self) -> int:
        width = 1 if self.embedding is None else self.embedding.shape[1]
        return self.dim * width + self.cond_dim

    def __call__(self, x: Int[Array, " dim"], z: Array | None, dtype) -> Float[Array, " size"]:
        check_condition(z, self.cond_dim)
        if self.embedding is None:
            features = x.astype(dtype)
        else:
            features = self.embedding[x].reshape(-1)
        return features if z is None else jnp.concatenate([features, z.astype(dtype)])


def check_condition(z: Array | None, cond_dim: int) -> None:
    """z must be there exactly when the network was built for one, and of that size."""
    given = None if z is None else z.shape
    require(
        given == ((cond_dim,) if cond_dim else None),
        f"this network was built with cond_dim={cond_dim}, but got "
        + ("no condition z" if z is None else f"a condition z of shape {given}"),
    )
