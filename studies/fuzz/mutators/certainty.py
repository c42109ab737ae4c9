"""Positions where a model is certain of the byte: structure, whose numbers are changed.

    p(position) ~ (1 - entropy of the byte there / log 256)^4,

with the byte given its position and half of its context. Content such as an entropy-coded stream
cannot be predicted.
"""

from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from aloex.apps.fuzz.model import ByteModel, fill_in_batches, mask
from studies.fuzz.mutators.edits import generator
from studies.fuzz.mutators.numbers import Positions

VISIBLE_FRACTION, POWER = 0.5, 4
MAX_POSITIONS = 4096  # of a seed that the model looks at


class Certainty:
    """Positions of seeds with weights by how certain a model is; kept once they are computed."""

    def __init__(self, model: ByteModel, max_positions: int = MAX_POSITIONS):
        self.model, self.max_positions = model, max_positions
        self._known: dict[tuple[bytes, int], Positions] = {}

    def __call__(self, seed: bytes, keep: int) -> Positions:
        if (seed, keep) not in self._known:
            self._known[seed, keep] = self._compute(seed, keep)
        return self._known[seed, keep]

    def _compute(self, seed: bytes, keep: int) -> Positions:
        room = len(seed) - keep
        some = generator(0, room).choice(room, min(room, self.max_positions), replace=False)
        position, data = keep + np.sort(some), np.frombuffer(seed, np.uint8)
        weights, begin = np.empty(len(position), np.float32), np.zeros_like(position)
        ask = partial(_certainty, self.model)
        fill_in_batches(weights, ask, data, begin, begin + len(seed), position)
        return Positions(position, np.cumsum(weights + 1e-9))


@eqx.filter_jit
def _certainty(
    model: ByteModel,
    x: Int[Array, "n window"],
    offset: Int[Array, " n"],
    after: Int[Array, " n"],
) -> Float[Array, " n"]:
    """The weight of each position, with half of its context visible."""

    def one(x: Array, offset: Array, after: Array) -> Float[Array, ""]:
        key = jax.random.fold_in(jax.random.key(0), offset)
        log_p = model(mask(key, x, jnp.asarray(VISIBLE_FRACTION)), offset, after)
        entropy = -jnp.sum(jnp.exp(log_p) * log_p)
        return jnp.clip(1 - entropy / jnp.log(256.0), 0, 1) ** POWER

    return jax.vmap(one)(x, offset, after)
