"""Layers for texts and programs that only these networks use."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Integer, Key


def max_of(x: Float[Array, " n *rest"], live: Bool[Array, " n"]) -> Float[Array, " *rest"]:
    """The maximum over the live ones of the first axis.

    The gradient goes to the first that attains it. That of `jnp.max` looks for entries equal to
    the maximum, and is 0 / 0 where a compiler computes them twice and rounds differently.
    """
    live = live.reshape(-1, *(1,) * (x.ndim - 1))
    best = jnp.argmax(jnp.where(live, jax.lax.stop_gradient(x), -jnp.inf), axis=0)
    winner = jnp.arange(len(x)).reshape(live.shape) == best
    return jnp.sum(jnp.where(winner, x, 0), axis=0)


class Embed(eqx.Module):
    """A vector for each symbol, by a product: its gradient needs no scattered sums."""

    weight: Float[Array, "symbols width"]

    def __init__(self, symbols: int, width: int, *, key: Key[Array, ""], scale: float = 1.0):
        self.weight = scale * jax.random.normal(key, (symbols, width))

    def __call__(self, x: Integer[Array, "*n"]) -> Float[Array, "*n width"]:
        return jax.nn.one_hot(x, self.weight.shape[0], dtype=self.weight.dtype) @ self.weight
