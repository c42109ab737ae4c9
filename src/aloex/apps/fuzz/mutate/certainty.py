"""Where numbers are changed: where the model is sure of the byte, for there is structure.

    p(place) ~ (1 - entropy of the byte there / log 256)^4,

the byte given its place and half of what is around it. Content, such as an entropy-coded stream,
is what the model cannot foresee.
"""

from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from aloex.apps.fuzz.model.byte_law import ByteLaw
from aloex.apps.fuzz.model.contexts import fill, hide
from aloex.apps.fuzz.mutate.mutators import generator
from aloex.apps.fuzz.mutate.numbers import Places

LEVEL, POWER = 0.5, 4
MAX_PLACES = 4096  # of a seed that are looked at


class Sure:
    """Places of seeds where a model is sure; computed when first asked for, and kept."""

    def __init__(self, model: ByteLaw, max_places: int = MAX_PLACES):
        self.model, self.max_places = model, max_places
        self._places: dict[tuple[bytes, int], Places] = {}

    def __call__(self, seed: bytes, keep: int) -> Places:
        if (seed, keep) not in self._places:
            self._places[seed, keep] = self._look(seed, keep)
        return self._places[seed, keep]

    def _look(self, seed: bytes, keep: int) -> Places:
        room = len(seed) - keep
        some = generator(0, room).choice(room, min(room, self.max_places), replace=False)
        position, data = keep + np.sort(some), np.frombuffer(seed, np.uint8)
        weights, nothing = np.empty(len(position), np.float32), np.zeros_like(position)
        fill(weights, partial(_certainty, self.model), data, nothing, nothing + len(seed), position)
        return Places(position, np.cumsum(weights + 1e-9))


@eqx.filter_jit
def _certainty(model: ByteLaw, x, offset, after) -> Float[Array, " n"]:
    """The weight of each place, with half of what is around it believed."""

    def one(x, offset, after):
        key = jax.random.fold_in(jax.random.key(0), offset)
        log_p = model(hide(key, x, jnp.asarray(LEVEL)), offset, after)
        entropy = -jnp.sum(jnp.exp(log_p) * log_p)
        return jnp.clip(1 - entropy / jnp.log(256.0), 0, 1) ** POWER

    return jax.vmap(one)(x, offset, after)
