"""Blocks: a byte and a few bytes around it, to be drawn together given all else.

x holds the values of NUM_SLOTS slots. The condition z holds the site of each slot (the first is the
byte itself, the others are sites of the context), what is visible of the context outside them, and
the position in the file. A slot may be UNUSED: its value then means nothing, and is uniform. So
there are blocks of every size from 1, and all states of a block are possible.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from aloex.apps.fuzz.model.contexts import (
    MASKED,
    POSITION_DIM,
    WINDOW,
    Examples,
    mask,
    position_features,
)
from aloex.spaces import Categorical

NUM_SLOTS = 4
SPACE = Categorical(NUM_SLOTS, 256)
HERE, UNUSED = WINDOW, WINDOW + 1  # sites of slots that are not in the context
COND_DIM = WINDOW + NUM_SLOTS + POSITION_DIM


class Condition(NamedTuple):
    """The condition that a block is drawn under."""

    context: Int[Array, " window"]  # MASKED where the slots are
    slots: Int[Array, " slots"]
    position: Float[Array, " position"]

    def packed(self) -> Float[Array, " cond"]:
        """As one vector of numbers of about 1."""
        parts = (self.context / MASKED, self.slots / UNUSED, self.position)
        return jnp.concatenate(parts).astype(jnp.float32)


def unpacked(z: Float[Array, " cond"]) -> Condition:
    """The inverse of `Condition.packed`."""
    context, slots, position = jnp.split(z, [WINDOW, WINDOW + NUM_SLOTS])
    whole = lambda a, scale: jnp.round(a * scale).astype(jnp.int32)
    return Condition(whole(context, MASKED), whole(slots, UNUSED), position)


class Blocks(eqx.Module):
    """Draws blocks with their conditions, for `fit`.

    The byte is drawn as in `Examples`, and the visible fraction of its context is uniform in
    [0, 1]. 0 to NUM_SLOTS - 1 of the visible bytes then belong to the block.
    """

    examples: Examples

    def draw(self, key: Key[Array, ""]) -> tuple[Int[Array, " slots"], Float[Array, " cond"]]:
        """One block."""
        keys = jax.random.split(key, 6)
        example = self.examples.draw(keys[0])
        byte, offset, after = example[WINDOW:]
        context = mask(keys[2], example[:WINDOW], jax.random.uniform(keys[1]))
        order = jnp.where(context == MASKED, 2, jax.random.uniform(keys[3], context.shape))
        near = jnp.argsort(order)[: NUM_SLOTS - 1]
        wanted = jax.random.randint(keys[4], (), 0, NUM_SLOTS)
        there = (jnp.arange(NUM_SLOTS - 1) < wanted) & (context[near] != MASKED)
        noise = jax.random.randint(keys[5], near.shape, 0, 256)
        x = jnp.append(byte, jnp.where(there, context[near], noise))
        slots = jnp.append(HERE, jnp.where(there, near, UNUSED))
        context = context.at[slots].set(MASKED, mode="drop")
        return x.astype(jnp.int32), Condition(
            context, slots, position_features(offset, after)
        ).packed()

    def __call__(
        self, key: Key[Array, ""], n: int
    ) -> tuple[Int[Array, "n slots"], Float[Array, "n cond"]]:
        return jax.vmap(self.draw)(jax.random.split(key, n))
