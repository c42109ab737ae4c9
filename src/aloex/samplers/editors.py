"""Editors q_A(x' | x): choose one site and change it. An edit always changes the state."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Key

from aloex.base.errors import require
from aloex.nets import Dense, Features
from aloex.spaces import Bits, Space, require_fixed_length


class Flip(eqx.Module):
    """Bits: q_A(x' | x, z) = softmax(MLP(x, z))[i] where x' is x with bit i flipped.

    Args:
        space: `Bits`.
        hidden: sizes of the hidden layers.
        cond_dim: size of z; 0 without conditions.
        key: for the weights.

    >>> import jax
    >>> from aloex.spaces import Bits
    >>> editor = Flip(Bits(3), hidden=(4,), key=jax.random.key(0))
    >>> x = jax.numpy.array([0, 1, 1])
    >>> int((editor.sample(jax.random.key(1), x) != x).sum())
    1
    """

    features: Features
    net: Dense

    def __init__(
        self,
        space: Space,
        *,
        hidden: tuple[int, ...] = (512, 512),
        cond_dim: int = 0,
        key: Key[Array, ""],
    ):
        require(isinstance(space, Bits), f"Flip edits bits, got {space}; use PositionValue")
        key_features, key_net = jax.random.split(key)
        self.features = Features(space, cond_dim=cond_dim, key=key_features)
        self.net = Dense((self.features.size, *hidden, space.dim), key=key_net)

    def _logits(self, x: Int[Array, " dim"], z: Array | None) -> Float[Array, " dim"]:
        return self.net(self.features(x, z, self.net.dtype))

    def sample(
        self, key: Key[Array, ""], x: Int[Array, " dim"], z: Array | None = None
    ) -> Int[Array, " dim"]:
        site = jax.random.categorical(key, self._logits(x, z))
        return x ^ (jnp.arange(x.shape[0]) == site)

    def log_prob(
        self, x: Int[Array, " dim"], x_next: Int[Array, " dim"], z: Array | None = None
    ) -> Float[Array, ""]:
        log_probs = jax.nn.log_softmax(self._logits(x, z))
        return jnp.where(_one_site(x, x_next), log_probs[jnp.argmax(x != x_next)], -jnp.inf)


class PositionValue(eqx.Module):
    """Categories: q_A(x' | x, z) = p(position i | x, z) p(new value | i, x, z).

    The second network sees x and the position; the current value is masked out.

    Args:
        space: `Categorical` or `Bits`.
        hidden: sizes of the hidden layers of both networks.
        cond_dim: size of z; 0 without conditions.
        embed_dim: size of a value's embedding where values are more than two.
        key: for the weights.

    >>> import jax
    >>> from aloex.spaces import Categorical
    >>> editor = PositionValue(Categorical(3, 4), hidden=(4,), key=jax.random.key(0))
    >>> x = jax.numpy.array([0, 3, 1])
    >>> int((editor.sample(jax.random.key(1), x) != x).sum())
    1
    """

    features: Features
    position: Dense
    value: Dense

    def __init__(
        self,
        space: Space,
        *,
        hidden: tuple[int, ...] = (512, 512),
        cond_dim: int = 0,
        embed_dim: int = 8,
        key: Key[Array, ""],
    ):
        require_fixed_length(space, "PositionValue")
        key_features, key_position, key_value = jax.random.split(key, 3)
        self.features = Features(space, cond_dim=cond_dim, embed_dim=embed_dim, key=key_features)
        size = self.features.size
        self.position = Dense((size, *hidden, space.dim), key=key_position)
        self.value = Dense((size + space.dim, *hidden, space.num_values), key=key_value)

    def _inputs(self, x: Int[Array, " dim"], z: Array | None) -> Float[Array, " size"]:
        return self.features(x, z, self.position.dtype)

    def _value_logits(
        self, inputs: Float[Array, " size"], x: Int[Array, " dim"], site: Int[Array, ""]
    ) -> Float[Array, " values"]:
        here = jax.nn.one_hot(site, x.shape[0], dtype=inputs.dtype)
        logits = self.value(jnp.concatenate([inputs, here]))
        return jnp.where(jnp.arange(logits.shape[0]) == x[site], -jnp.inf, logits)

    def sample(
        self, key: Key[Array, ""], x: Int[Array, " dim"], z: Array | None = None
    ) -> Int[Array, " dim"]:
        key_site, key_value = jax.random.split(key)
        inputs = self._inputs(x, z)
        site = jax.random.categorical(key_site, self.position(inputs))
        value = jax.random.categorical(key_value, self._value_logits(inputs, x, site))
        return x.at[site].set(value.astype(x.dtype))

    def log_prob(
        self, x: Int[Array, " dim"], x_next: Int[Array, " dim"], z: Array | None = None
    ) -> Float[Array, ""]:
        inputs = self._inputs(x, z)
        site = jnp.argmax(x != x_next)
        log_position = jax.nn.log_softmax(self.position(inputs))[site]
        # An unedited x (padding) must not send -inf backwards through the mask.
        value = jnp.where(
            x[site] == x_next[site],
            (x[site] + 1) % self.value.out_size,
            x_next[site],
        )
        log_value = jax.nn.log_softmax(self._value_logits(inputs, x, site))[value]
        return jnp.where(_one_site(x, x_next), log_position + log_value, -jnp.inf)


def _one_site(x: Int[Array, " dim"], x_next: Int[Array, " dim"]) -> Bool[Array, ""]:
    return jnp.sum(x != x_next) == 1
