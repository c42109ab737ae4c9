"""q for blocks of bytes: an LSTM over the slots, an editor of slot and value, and a stop policy.

All come from the library. Each has a small network that encodes the condition for it.
"""

from collections.abc import Callable, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from aloex.apps.fuzz.model.blocks import NUM_SLOTS, SPACE, UNUSED, unpacked
from aloex.apps.fuzz.model.contexts import MASKED, POSITION_DIM, WINDOW
from aloex.nets import Features, Linear, elu
from aloex.samplers import AutoregressiveRNN, LocalSearch, PositionValue, Stop
from aloex.spaces import Categorical

MAX_STOP = 0.95  # bound on the probability to stop: without it searches stop editing


class BlockEncoder(eqx.Module):
    """Encodes the condition of a block: its context, its position, and the sites of its slots."""

    features: Features
    linear: Linear
    sites: Float[Array, "slots sites size"]

    def __init__(self, size: int, *, embed_dim: int = 8, key: Key[Array, ""]):
        key_features, key_linear, key_sites = jax.random.split(key, 3)
        symbols = Categorical(WINDOW, MASKED + 1)
        self.features = Features(
            symbols, cond_dim=POSITION_DIM, embed_dim=embed_dim, key=key_features
        )
        self.linear = Linear(self.features.size, size, key=key_linear)
        self.sites = 0.5 * jax.random.normal(key_sites, (NUM_SLOTS, UNUSED + 1, size))

    def __call__(self, z: Float[Array, " cond"]) -> Float[Array, " size"]:
        context, slots, position = unpacked(z)
        hidden = self.linear(self.features(context, position, self.linear.weight.dtype))
        return elu(hidden + jnp.sum(self.sites[jnp.arange(NUM_SLOTS), slots], axis=0))


class Conditioned(eqx.Module):
    """A q0, an editor or a stop policy, conditioned on what an encoder makes of z."""

    inner: Any
    encoder: Any

    def sample(self, key: Key[Array, ""], *x_and_z: Array) -> Int[Array, " slots"]:
        *x, z = x_and_z
        return self.inner.sample(key, *x, self.encoder(z))

    def log_prob(self, *x_and_z: Array) -> Float[Array, ""]:
        *x, z = x_and_z
        return self.inner.log_prob(*x, self.encoder(z))

    def __call__(self, x: Int[Array, " slots"], z: Float[Array, " cond"]) -> Float[Array, ""]:
        return self.inner(x, self.encoder(z))


def build_q0(hidden: int, *, key: Key[Array, ""]) -> Conditioned:
    """The LSTM, with fresh weights."""
    key_rnn, key_encoder = jax.random.split(key)
    q0 = AutoregressiveRNN(SPACE, hidden=hidden, head_hidden=hidden, cond_dim=hidden, key=key_rnn)
    return Conditioned(q0, BlockEncoder(hidden, key=key_encoder))


def build_q(hidden: int, max_edits: int, *, key: Key[Array, ""]) -> LocalSearch:
    """The whole search, with fresh weights."""
    key_q0, *keys = jax.random.split(key, 5)
    return with_edits(build_q0(hidden, key=key_q0), BlockEncoder, SPACE, hidden, max_edits, keys)


def with_edits(
    q0: Any,
    encoder: Callable[..., Any],
    space: Categorical,
    hidden: int,
    max_edits: int,
    keys: Sequence[Key[Array, ""]],
) -> LocalSearch:
    """A search from q0 whose editor and stop policy have encoders of z."""
    sizes: dict[str, Any] = {"hidden": (hidden,), "cond_dim": hidden}
    editor = PositionValue(space, **sizes, key=keys[0])
    stop = Stop(space, **sizes, max_stop_prob=MAX_STOP, key=keys[2])
    conditioned = lambda part, key: Conditioned(part, encoder(hidden, key=key))
    return LocalSearch(q0, conditioned(editor, keys[1]), conditioned(stop, keys[3]), max_edits)
