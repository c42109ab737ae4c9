"""The stop policy q_stop of the local search."""

import math

import equinox as eqx
import jax
from jaxtyping import Array, Float, Int, Key

from aloex.base.errors import require
from aloex.nets import Dense, Features
from aloex.spaces import Space


class Stop(eqx.Module):
    """q_stop(x | z) = sigmoid(stop(x, z)): an MLP that returns the log-odds of stopping at x.

    With `max_prob` below 1 the odds approach that bound smoothly. Early on, while f is flat, edits
    bring nothing; a policy that grows sure of stopping then gives no weight to any trajectory with
    edits, so it would never learn that they have become worth having.
    """

    features: Features
    net: Dense
    max_prob: float = eqx.field(static=True)

    def __init__(
        self,
        space: Space,
        *,
        hidden: tuple[int, ...] = (512, 512),
        cond_dim: int = 0,
        max_prob: float = 1.0,
        key: Key[Array, ""],
    ):
        require(0 < max_prob <= 1, f"max_prob must be in (0, 1], got {max_prob}")
        self.max_prob = max_prob
        key_features, key_net = jax.random.split(key)
        self.features = Features(space, cond_dim=cond_dim, key=key_features)
        self.net = Dense((self.features.size, *hidden, 1), key=key_net)

    def __call__(self, x: Int[Array, " dim"], z: Array | None = None) -> Float[Array, ""]:
        log_odds = self.net(self.features(x, z, self.net.dtype))[0]
        if self.max_prob == 1:
            return log_odds
        most = math.log(self.max_prob / (1 - self.max_prob))
        return most - jax.nn.softplus(most - log_odds)
