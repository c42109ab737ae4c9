"""An energy of blocks of bytes: a softmax layer's logits for each slot, and a term for each pair.

    f(x | z) = sum_i a_i(z) . w(x_i) + sum_{i < j} e(x_i) . M(offset of j - offset of i) e(x_j)

with a_i a network that reads the context, the position in the file, and the site of slot i. The
distribution of a single byte is thus exact, p(v | z) ~ exp a(z) . w(v), and costs one evaluation of
a.
"""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from aloex.apps.fuzz.model.blocks import HERE, NUM_SLOTS, UNUSED, unpacked
from aloex.apps.fuzz.model.byte_model import ByteModel, ModelSettings
from aloex.apps.fuzz.model.contexts import AROUND, MASKED, POSITION_DIM, WINDOW, position_features
from aloex.kernels import Gibbs
from aloex.nets import Features, Linear, elu
from aloex.spaces import Categorical, Space

PAIR_DIM = 16
OFFSETS = (*AROUND, 0, 0)  # of the sites of the context, of the byte itself, of an unused slot
MAX_DISTANCE = 2 * max(AROUND)


class BlockEnergy(eqx.Module):
    """f(x, z) of a block x, z packed as in `blocks`."""

    features: Features
    first: Linear
    sites: Float[Array, "sites hidden"]
    last: Linear
    embedding: Float[Array, "256 pair_dim"]
    pairs: Float[Array, "distances pair_dim pair_dim"]

    def __init__(self, settings: ModelSettings, *, key: Key[Array, ""]):
        keys = jax.random.split(key, 4)
        symbols = Categorical(WINDOW, MASKED + 1)
        self.features = Features(
            symbols, cond_dim=POSITION_DIM, embed_dim=settings.embed_dim, key=keys[0]
        )
        self.first = Linear(self.features.size, settings.hidden, key=keys[1])
        self.sites = jnp.zeros((len(OFFSETS), settings.hidden))
        self.last = Linear(settings.hidden, 256, key=keys[2])
        self.embedding = jax.random.normal(keys[3], (256, PAIR_DIM))
        self.pairs = jnp.zeros((2 * MAX_DISTANCE + 1, PAIR_DIM, PAIR_DIM))

    def __call__(self, x: Int[Array, " slots"], z: Float[Array, " cond"]) -> Float[Array, ""]:
        logits, coupling = self.terms(z)
        e = self.embedding[x]
        pairs = jnp.einsum("ia,ijab,jb->", e, coupling, e)
        return jnp.sum(jnp.take_along_axis(logits, x[:, None], axis=1)) + pairs

    def logits(
        self,
        context: Int[Array, " window"],
        position: Float[Array, " position"],
        sites: Int[Array, " slots"],
    ) -> Float[Array, "slots 256"]:
        """a . w(v) for every value v, at each of some sites."""
        hidden = self.first(self.features(context, position, self.first.weight.dtype))
        return jax.vmap(self.last)(elu(hidden + self.sites[sites]))

    def terms(
        self, z: Float[Array, " cond"]
    ) -> tuple[Float[Array, "slots 256"], Float[Array, "slots slots a b"]]:
        """The terms that depend on z alone: logits of each slot, and the M of each pair i < j."""
        context, slots, position = unpacked(z)
        there, order = slots != UNUSED, jnp.arange(NUM_SLOTS)
        at = jnp.array(OFFSETS)[slots]
        coupling = self.pairs[at[None, :] - at[:, None] + MAX_DISTANCE]
        both = there[:, None] & there & (order[:, None] < order)
        logits = self.logits(context, position, slots)
        return jnp.where(there[:, None], logits, 0), jnp.where(both[:, :, None, None], coupling, 0)

    def at_slot(self, state: "SlotState", i: Int[Array, ""] | int) -> Float[Array, " 256"]:
        """f for every value of slot i, up to a constant."""
        both_ways = state.coupling[i] + jnp.swapaxes(state.coupling[:, i], 1, 2)
        pull = jnp.einsum("jab,jb->a", both_ways, self.embedding[state.x])
        return state.logits[i] + self.embedding @ pull


class SlotState(NamedTuple):
    """The state of a chain, and the terms of its energy."""

    x: Int[Array, " slots"]
    logits: Float[Array, "slots 256"]
    coupling: Float[Array, "slots slots a b"]


class SlotGibbs(eqx.Module):
    """`Gibbs` for a `BlockEnergy`: a sweep over the slots that reads the context once."""

    def init(self, key: Key[Array, ""], x: Int[Array, " slots"], f: Any, z: Any = None) -> Any:
        return SlotState(x, *f.terms(z))

    def step(self, key: Key[Array, ""], state: SlotState, f: Any) -> tuple[SlotState, None]:
        noise = jax.random.gumbel(key, (NUM_SLOTS, 256))

        def update(i: Array, x: Int[Array, " slots"]) -> Int[Array, " slots"]:
            # Gumbel-max: a draw from the softmax.
            value = jnp.argmax(f.at_slot(state._replace(x=x), i) + noise[i])
            return x.at[i].set(value.astype(x.dtype))

        return state._replace(x=jax.lax.fori_loop(0, NUM_SLOTS, update, state.x)), None

    def transition_matrix(self, space: Space, f: Any, z: Any = None) -> Float[Array, "size size"]:
        """The matrix of `Gibbs`, by enumeration of all states."""
        return Gibbs(space).transition_matrix(space, f, z)


class ByteEnergy(ByteModel):
    """log p(byte | context, position) of a `BlockEnergy`, whatever method it was learned by."""

    f: BlockEnergy
    settings: ModelSettings = eqx.field(static=True)

    def __init__(self, settings: ModelSettings, *, key: Key[Array, ""]):
        self.settings, self.f = settings, BlockEnergy(settings, key=key)

    def __call__(
        self, x: Int[Array, " window"], offset: Int[Array, ""], after: Int[Array, ""]
    ) -> Float[Array, " values"]:
        here = jnp.array([HERE])
        return jax.nn.log_softmax(self.f.logits(x, position_features(offset, after), here)[0])
