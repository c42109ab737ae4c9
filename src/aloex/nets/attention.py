"""Attention, layer normalisation and the feed-forward layer: the parts of a transformer."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Key

from aloex.nets.dense import Linear


class Attention(eqx.Module):
    """Multi-head attention: each row of `x` attends to all live rows of a memory."""

    query: Linear
    key_value: Linear
    out: Linear
    num_heads: int = eqx.field(static=True)

    def __init__(self, width: int, num_heads: int, *, key: Key[Array, ""]):
        keys = jax.random.split(key, 3)
        self.query, self.out = Linear(width, width, key=keys[0]), Linear(width, width, key=keys[1])
        self.key_value = Linear(width, 2 * width, key=keys[2])
        self.num_heads = num_heads

    def keys_and_values(self, memory: Float[Array, "m width"]) -> Float[Array, "m two heads part"]:
        """Keys and values, which do not depend on who asks."""
        return self.key_value(memory).reshape(len(memory), 2, self.num_heads, -1)

    def __call__(
        self,
        x: Float[Array, "n width"],
        keys_values: Float[Array, "m two heads part"],
        live: Bool[Array, " m"],
    ) -> Float[Array, "n width"]:
        query = self.query(x).reshape(len(x), self.num_heads, -1)
        scores = jnp.einsum("nhp,mhp->hnm", query, keys_values[:, 0]) * query.shape[-1] ** -0.5
        scores = jnp.where(live, scores.astype(jnp.float32), -1e30)
        weights = jax.nn.softmax(scores, axis=-1).astype(x.dtype)
        mixed = jnp.einsum("hnm,mhp->nhp", weights, keys_values[:, 1])
        return self.out(mixed.reshape(x.shape))


class LayerNorm(eqx.Module):
    """Layer normalisation, in float32."""

    scale: Float[Array, " width"]
    shift: Float[Array, " width"]

    def __init__(self, width: int):
        self.scale, self.shift = jnp.ones(width), jnp.zeros(width)

    def __call__(self, x: Float[Array, "*n width"]) -> Float[Array, "*n width"]:
        y = x.astype(jnp.float32)
        y = y - y.mean(axis=-1, keepdims=True)
        y = y * jax.lax.rsqrt(jnp.mean(y**2, axis=-1, keepdims=True) + 1e-5)
        return (y * self.scale + self.shift).astype(x.dtype)


class FeedForward(eqx.Module):
    """Two layers with GELU between them."""

    first: Linear
    second: Linear

    def __init__(self, width: int, hidden: int, *, key: Key[Array, ""]):
        key_first, key_second = jax.random.split(key)
        self.first = Linear(width, hidden, key=key_first)
        self.second = Linear(hidden, width, key=key_second)

    def __call__(self, x: Float[Array, "*n width"]) -> Float[Array, "*n width"]:
        return self.second(jax.nn.gelu(self.first(x)))
