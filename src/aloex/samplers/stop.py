"""The stop policy q_stop of the local search."""

import equinox as eqx
import jax
from jaxtyping import Array, Float, Int, Key

from aloex.nets import Dense, Features
from aloex.spaces import Space


class Stop(eqx.Module):
    """q_stop(x | z) = sigmoid(stop(x, z)): an MLP that returns the log-odds of stopping at x."""

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
        key_features, key_net = jax.random.split(key)
        self.features = Features(space, cond_dim=cond_dim, key=key_features)
        self.net = Dense((self.features.size, *hidden, 1), key=key_net)

    def __call__(self, x: Int[Array, " dim"], z: Array | None = None) -> Float[Array, ""]:
        return self.net(self.features(x, z, self.net.dtype))[0]
