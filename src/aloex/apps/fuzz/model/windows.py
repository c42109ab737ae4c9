"""Windows: the 64 bytes x_{i-31}, ..., x_{i+32} around byte i of a file, to be drawn together.

x holds 64 bytes. The condition z says what each site of the window is: FREE, to be drawn; a byte
that is given; or MASKED, beyond the file or not visible, and ignored. It also has the position of
byte i in its file. What x holds at a site that is not free means nothing, and is uniform, so all
states of x are possible. With all sites free this is the paper's f(x | y).
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Key

from aloex.apps.fuzz.model.contexts import (
    MASKED,
    POSITION_DIM,
    REACH,
    WINDOW,
    Examples,
    mask,
    position_features,
)
from aloex.spaces import Categorical

SPACE = Categorical(WINDOW, 256)
FREE = MASKED + 1
COND_DIM = WINDOW + POSITION_DIM


class Condition(NamedTuple):
    """The condition that a window is drawn under."""

    sites: Int[Array, " sites"]  # bytes, MASKED or FREE
    position: Float[Array, " position"]

    def packed(self) -> Float[Array, " cond"]:
        """As one vector of numbers of about 1."""
        return jnp.concatenate([self.sites / FREE, self.position]).astype(jnp.float32)

    def read(self, x: Int[Array, " sites"]) -> Int[Array, " sites"]:
        """The window: x at the free sites, else what the condition says."""
        return jnp.where(self.sites == FREE, x, self.sites)


def unpacked(z: Float[Array, " cond"]) -> Condition:
    """The inverse of `Condition.packed`; also of windows of another size."""
    sites, position = jnp.split(z, [z.shape[0] - POSITION_DIM])
    return Condition(jnp.round(sites * FREE).astype(jnp.int32), position)


def centre_of(window: Array) -> int:
    """The site of byte i, 31 of 64; also of windows of another size."""
    return (window.shape[0] - 1) // 2


def around(context: Int[Array, " window"], byte: Int[Array, ""] | int) -> Int[Array, " window"]:
    """The window of a byte: 31 of the 32 bytes before it, the byte, and the 32 after it."""
    return jnp.concatenate([context[1:REACH], jnp.atleast_1d(byte), context[REACH:]])


class Windows(eqx.Module):
    """Draws windows with their conditions, for `fit`.

    Byte i is drawn as in `Examples`, and the visible fraction of the rest is uniform in [0, 1]. In
    the first `num_joint` windows of a batch all visible bytes are free, in the others only byte i.
    """

    examples: Examples
    num_joint: int = eqx.field(static=True)

    def draw(
        self, key: Key[Array, ""], joint: Bool[Array, ""]
    ) -> tuple[Int[Array, " sites"], Float[Array, " cond"]]:
        """One window."""
        keys = jax.random.split(key, 4)
        example = self.examples.draw(keys[0])
        byte, offset, after = example[WINDOW:]
        context = mask(keys[2], example[:WINDOW], jax.random.uniform(keys[1]))
        x = around(context, byte)
        free = (x != MASKED) & (joint | (jnp.arange(WINDOW) == centre_of(x)))
        z = Condition(jnp.where(free, FREE, x), position_features(offset, after))
        noise = jax.random.randint(keys[3], x.shape, 0, 256)
        return jnp.where(free, x, noise).astype(jnp.int32), z.packed()

    def __call__(
        self, key: Key[Array, ""], n: int
    ) -> tuple[Int[Array, "n sites"], Float[Array, "n cond"]]:
        return jax.vmap(self.draw)(jax.random.split(key, n), jnp.arange(n) < self.num_joint)
