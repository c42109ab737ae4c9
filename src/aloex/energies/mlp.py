"""An MLP energy over bits or embedded categories, with the condition z appended to its input."""

import equinox as eqx
import jax
from jaxtyping import Array, Float, Int, Key

from aloex.base.errors import require
from aloex.nets import Dense, Features, Linear, elu
from aloex.spaces import Space


class MLP(eqx.Module):
    """f(x, z) = MLP([features of x, z]); the paper's is hidden = (256, 256, 256) over 32 bits.

    Args:
        space: what x is.
        hidden: sizes of the layers.
        cond_dim: numbers in a condition z; 0 for none.
        embed_dim: numbers that stand for a category; bits stand for themselves.
        key: of the first weights.

    Example:
        >>> import jax
        >>> from aloex import energies, spaces
        >>> space = spaces.Bits(4)
        >>> f = energies.MLP(space, hidden=(8,), key=jax.random.key(0))
        >>> f(space.sample(jax.random.key(1))).shape
        ()
    """

    features: Features
    first: Linear
    rest: Dense

    def __init__(
        self,
        space: Space,
        *,
        hidden: tuple[int, ...] = (256, 256, 256),
        cond_dim: int = 0,
        embed_dim: int = 8,
        key: Key[Array, ""],
    ):
        require(len(hidden) > 0, "an MLP energy needs at least one hidden layer, got none")
        key_features, key_first, key_rest = jax.random.split(key, 3)
        self.features = Features(space, cond_dim=cond_dim, embed_dim=embed_dim, key=key_features)
        self.first = Linear(self.features.size, hidden[0], key=key_first)
        self.rest = Dense((*hidden, 1), key=key_rest)

    def __call__(self, x: Int[Array, " dim"], z: Array | None = None) -> Float[Array, ""]:
        """f(x, z)."""
        return self.head(self.hidden(x, z))

    def hidden(self, x: Int[Array, " dim"], z: Array | None = None) -> Float[Array, " width"]:
        """The first layer before its activation: a bias, a vector per site, and z's part."""
        return self.first(self.features(x, z, self.first.weight.dtype))

    def head(self, hidden: Float[Array, " width"]) -> Float[Array, ""]:
        """The energy from the first layer's sums."""
        return self.rest(elu(hidden))[0]

    def site(self, i: Int[Array, ""] | int, v: Int[Array, ""]) -> Float[Array, " width"]:
        """The vector that value v at site i adds to the first layer."""
        embedding = self.features.embedding
        if embedding is None:
            return self.first.weight[:, i] * v
        width = embedding.shape[1]
        block = jax.lax.dynamic_slice_in_dim(self.first.weight, i * width, width, axis=1)
        return block @ embedding[v]
