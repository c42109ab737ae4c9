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

    With `max_stop_prob` below 1 the odds approach that bound smoothly. Early on, while f is flat,
    edits bring nothing; a policy that grows sure of stopping then gives no weight to any trajectory
    with edits, so it would never learn that they have become worth having.

    Args:
        space: of x.
        hidden: sizes of the hidden layers.
        cond_dim: size of z; 0 without conditions.
        max_stop_prob: bound on the probability to stop, in (0, 1].
        key: for the weights.

    >>> import jax
    >>> from aloex.spaces import Bits
    >>> stop = Stop(Bits(3), hidden=(4,), max_stop_prob=0.9, key=jax.random.key(0))
    >>> bool(jax.nn.sigmoid(stop(jax.numpy.array([0, 1, 1]))) < 0.9)
    True
    """

    features: Features
    net: Dense
    max_stop_prob: float = eqx.field(static=True)

    def __init__(
        self,
        space: Space,
        *,
        hidden: tuple[int, ...] = (512, 512),
        cond_dim: int = 0,
        max_stop_prob: float = 1.0,
        key: Key[Array, ""],
    ):
        require(0 < max_stop_prob <= 1, f"max_stop_prob must be in (0, 1], got {max_stop_prob}")
        self.max_stop_prob = max_stop_prob
        key_features, key_net = jax.random.split(key)
        self.features = Features(space, cond_dim=cond_dim, key=key_features)
        self.net = Dense((self.features.size, *hidden, 1), key=key_net)

    def __call__(self, x: Int[Array, " dim"], z: Array | None = None) -> Float[Array, ""]:
        """The log-odds of stopping at x."""
        log_odds = self.net(self.features(x, z, self.net.dtype))[0]
        if self.max_stop_prob == 1:
            return log_odds
        most = math.log(self.max_stop_prob / (1 - self.max_stop_prob))
        return most - jax.nn.softplus(most - log_odds)
