"""Blocks: a byte and a few of those around it, to be drawn together given all else.

x holds the values of NUM_SLOTS slots. The condition z says where they are (the first is the byte
itself, the others are places around it), what is believed of the context outside them, and the
place in the file. A slot may be nowhere: its value then means nothing, and is uniform. So there
are blocks of every size from 1 up, and all states of a block are possible.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from aloex.apps.fuzz.model.contexts import HOLE, PLACE, WINDOW, Examples, hide, place
from aloex.spaces import Categorical

NUM_SLOTS = 4
SPACE = Categorical(NUM_SLOTS, 256)
HERE, NOWHERE = WINDOW, WINDOW + 1  # slots that are not in the context
COND_DIM = WINDOW + NUM_SLOTS + PLACE


class Condition(NamedTuple):
    """What a block is drawn given."""

    context: Int[Array, " window"]  # with holes where the slots are
    slots: Int[Array, " slots"]
    place: Float[Array, " place"]

    def packed(self) -> Float[Array, " cond"]:
        """As one vector, of numbers of about 1."""
        parts = (self.context / HOLE, self.slots / NOWHERE, self.place)
        return jnp.concatenate(parts).astype(jnp.float32)


def unpacked(z: Float[Array, " cond"]) -> Condition:
    """The inverse of `Condition.packed`."""
    context, slots, where = jnp.split(z, [WINDOW, WINDOW + NUM_SLOTS])
    whole = lambda a, scale: jnp.round(a * scale).astype(jnp.int32)
    return Condition(whole(context, HOLE), whole(slots, NOWHERE), where)


class Blocks(eqx.Module):
    """Draws blocks with their conditions, `fit`'s stream.

    The byte is drawn as in `Examples`, its context believed at a level that is uniform in [0, 1];
    0 to NUM_SLOTS - 1 of the bytes believed are then drawn with it.
    """

    examples: Examples

    def draw(self, key: Key[Array, ""]) -> tuple[Int[Array, " slots"], Float[Array, " cond"]]:
        """One block."""
        keys = jax.random.split(key, 6)
        example = self.examples.draw(keys[0])
        byte, offset, after = example[WINDOW:]
        context = hide(keys[2], example[:WINDOW], jax.random.uniform(keys[1]))
        order = jnp.where(context == HOLE, 2, jax.random.uniform(keys[3], context.shape))
        near = jnp.argsort(order)[: NUM_SLOTS - 1]
        wanted = jax.random.randint(keys[4], (), 0, NUM_SLOTS)
        there = (jnp.arange(NUM_SLOTS - 1) < wanted) & (context[near] != HOLE)
        noise = jax.random.randint(keys[5], near.shape, 0, 256)
        x = jnp.append(byte, jnp.where(there, context[near], noise))
        slots = jnp.append(HERE, jnp.where(there, near, NOWHERE))
        context = context.at[slots].set(HOLE, mode="drop")
        return x.astype(jnp.int32), Condition(context, slots, place(offset, after)).packed()

    def __call__(
        self, key: Key[Array, ""], n: int
    ) -> tuple[Int[Array, "n slots"], Float[Array, "n cond"]]:
        return jax.vmap(self.draw)(jax.random.split(key, n))
