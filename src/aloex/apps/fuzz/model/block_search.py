"""q for blocks of bytes: an LSTM over the slots, an editor of slot and value, and a stop policy.

All are the library's own. They are given the condition as numbers that a small network of their own
makes of it.
"""

from collections.abc import Callable, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from aloex.apps.fuzz.model.blocks import NOWHERE, NUM_SLOTS, SPACE, unpacked
from aloex.apps.fuzz.model.contexts import HOLE, PLACE, WINDOW
from aloex.nets import Features, Linear, elu
from aloex.samplers import AutoregressiveRNN, LocalSearch, PositionValue, Stop
from aloex.spaces import Categorical

MAX_STOP = 0.95  # bound on the probability to stop: without it searches give up editing


class Reader(eqx.Module):
    """The condition in a few numbers: of what is around, and of where the slots are."""

    features: Features
    linear: Linear
    sites: Float[Array, "slots sites size"]

    def __init__(self, size: int, *, embed_dim: int = 8, key: Key[Array, ""]):
        key_features, key_linear, key_sites = jax.random.split(key, 3)
        symbols = Categorical(WINDOW, HOLE + 1)
        self.features = Features(symbols, cond_dim=PLACE, embed_dim=embed_dim, key=key_features)
        self.linear = Linear(self.features.size, size, key=key_linear)
        self.sites = 0.5 * jax.random.normal(key_sites, (NUM_SLOTS, NOWHERE + 1, size))

    def __call__(self, z: Float[Array, " cond"]) -> Float[Array, " size"]:
        context, slots, where = unpacked(z)
        read = self.linear(self.features(context, where, self.linear.weight.dtype))
        return elu(read + jnp.sum(self.sites[jnp.arange(NUM_SLOTS), slots], axis=0))


class Given(eqx.Module):
    """A q0, an editor or a stop policy, given what a reader makes of z."""

    inner: Any
    reader: Any

    def sample(self, key: Key[Array, ""], *x_and_z: Array) -> Int[Array, " slots"]:
        *x, z = x_and_z
        return self.inner.sample(key, *x, self.reader(z))

    def log_prob(self, *x_and_z: Array) -> Float[Array, ""]:
        *x, z = x_and_z
        return self.inner.log_prob(*x, self.reader(z))

    def __call__(self, x: Int[Array, " slots"], z: Float[Array, " cond"]) -> Float[Array, ""]:
        return self.inner(x, self.reader(z))


def build_q0(hidden: int, *, key: Key[Array, ""]) -> Given:
    """The LSTM, with fresh weights."""
    key_rnn, key_reader = jax.random.split(key)
    q0 = AutoregressiveRNN(SPACE, hidden=hidden, head_hidden=hidden, cond_dim=hidden, key=key_rnn)
    return Given(q0, Reader(hidden, key=key_reader))


def build_q(hidden: int, max_edits: int, *, key: Key[Array, ""]) -> LocalSearch:
    """The whole search, with fresh weights."""
    key_q0, *keys = jax.random.split(key, 5)
    return with_edits(build_q0(hidden, key=key_q0), Reader, SPACE, hidden, max_edits, keys)


def with_edits(
    q0: Any,
    reader: Callable[..., Any],
    space: Categorical,
    hidden: int,
    max_edits: int,
    keys: Sequence[Key[Array, ""]],
) -> LocalSearch:
    """A search from q0, whose editor and stop policy are given what readers make of z."""
    sizes: dict[str, Any] = {"hidden": (hidden,), "cond_dim": hidden}
    editor = PositionValue(space, **sizes, key=keys[0])
    stop = Stop(space, **sizes, max_stop_prob=MAX_STOP, key=keys[2])
    read = lambda key: reader(hidden, key=key)
    return LocalSearch(q0, Given(editor, read(keys[1])), Given(stop, read(keys[3])), max_edits)
