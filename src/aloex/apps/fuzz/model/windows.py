"""Windows: the 64 bytes x_{i-31}, ..., x_{i+32} around byte i of a file, to be drawn together.

x holds 64 bytes. The condition z says what each site of the window is: FREE, to be drawn; a byte
that is given; or a HOLE, which is beyond the file or not believed and counts for nothing. It also
has the place of byte i in its file. What x holds at a site that is not free means nothing, and is
uniform, so all states of x are possible. With all sites free this is the paper's f(x | y).
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Key

from aloex.apps.fuzz.model.contexts import HOLE, PLACE, REACH, WINDOW, Examples, hide, place
from aloex.spaces import Categorical

SPACE = Categorical(WINDOW, 256)
FREE = HOLE + 1
COND_DIM = WINDOW + PLACE


class Condition(NamedTuple):
    """What a window is drawn given."""

    sites: Int[Array, " sites"]  # bytes, HOLE or FREE
    place: Float[Array, " place"]

    def packed(self) -> Float[Array, " cond"]:
        """As one vector, of numbers of about 1."""
        return jnp.concatenate([self.sites / FREE, self.place]).astype(jnp.float32)

    def read(self, x: Int[Array, " sites"]) -> Int[Array, " sites"]:
        """The window as it is seen: x where it is free."""
        return jnp.where(self.sites == FREE, x, self.sites)


def unpacked(z: Float[Array, " cond"]) -> Condition:
    """The inverse of `Condition.packed`; also of windows of another size."""
    sites, where = jnp.split(z, [z.shape[0] - PLACE])
    return Condition(jnp.round(sites * FREE).astype(jnp.int32), where)


def centre_of(window: Array) -> int:
    """The site of byte i, 31 of 64; also of windows of another size."""
    return (window.shape[0] - 1) // 2


def around(context: Int[Array, " window"], byte: Int[Array, ""] | int) -> Int[Array, " window"]:
    """The window of a byte: 31 of the 32 bytes before it, the byte, and the 32 after it."""
    return jnp.concatenate([context[1:REACH], jnp.atleast_1d(byte), context[REACH:]])


class Windows(eqx.Module):
    """Draws windows with their conditions, `fit`'s stream.

    Byte i is drawn as in `Examples`, the rest believed at a level that is uniform in [0, 1]. In the
    first `num_whole` windows of a batch all that is believed is free, in the others only byte i.
    """

    examples: Examples
    num_whole: int = eqx.field(static=True)

    def draw(
        self, key: Key[Array, ""], whole: Bool[Array, ""]
    ) -> tuple[Int[Array, " sites"], Float[Array, " cond"]]:
        """One window."""
        keys = jax.random.split(key, 4)
        example = self.examples.draw(keys[0])
        byte, offset, after = example[WINDOW:]
        context = hide(keys[2], example[:WINDOW], jax.random.uniform(keys[1]))
        x = around(context, byte)
        free = (x != HOLE) & (whole | (jnp.arange(WINDOW) == centre_of(x)))
        z = Condition(jnp.where(free, FREE, x), place(offset, after))
        noise = jax.random.randint(keys[3], x.shape, 0, 256)
        return jnp.where(free, x, noise).astype(jnp.int32), z.packed()

    def __call__(
        self, key: Key[Array, ""], n: int
    ) -> tuple[Int[Array, "n sites"], Float[Array, "n cond"]]:
        return jax.vmap(self.draw)(jax.random.split(key, n), jnp.arange(n) < self.num_whole)
