"""What a model expects in inputs, as tables for the mutation engine: no model runs beside it.

For each byte of an input a table has the 7 likeliest other bytes, and their cumulative shares of
255, under the mean over visible fractions f and temperatures t of

    p(v) ~ p_model(v | f of the context, position)^(1 / t),   v other than the byte that is there.

f goes from the position alone to all that is around the byte. What the 7 leave is for the engine,
which draws any byte there. The mask of the context is a function of the position, so a table is a
function of the model and of the input.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, UInt8
from numpy.typing import NDArray

from aloex.apps.fuzz.model.byte_model import ByteModel
from aloex.apps.fuzz.model.contexts import fill_in_batches, mask
from aloex.apps.fuzz.native import LIKELY

VISIBLE_FRACTIONS, TEMPERATURES = (0.0, 0.5, 1.0), (1.0, 3.0)
MAX_POSITIONS = 1024  # of an input that the model looks at, from its beginning
NUM_LIKELY: int = LIKELY["bytes"].shape[0]
ALL = 255


def likely_bytes(model: ByteModel) -> Callable[[Sequence[bytes]], list[NDArray[Any]]]:
    """A function from inputs to their tables: an array of `LIKELY` for each, a row for each byte.

    Rows beyond `MAX_POSITIONS` expect nothing.
    """

    def tables(inputs: Sequence[bytes]) -> list[NDArray[Any]]:
        found = [np.zeros(len(data), LIKELY) for data in inputs]
        data = np.frombuffer(b"".join(inputs), np.uint8)
        length = np.array([len(x) for x in inputs], np.int64)
        asked = np.minimum(length, MAX_POSITIONS)
        owner = np.repeat(np.arange(len(inputs)), asked)
        bounds = np.concatenate([[0], np.cumsum(asked)])
        position = np.arange(len(owner)) - bounds[owner]
        begin = (np.cumsum(length) - length)[owner]
        rows = np.empty((len(owner), 2, NUM_LIKELY), np.uint8)
        current = data[begin + position]
        fill_in_batches(rows, partial(_rows, model), data, begin, length[owner], position, current)
        for i, table in enumerate(found):
            part = slice(bounds[i], bounds[i + 1])
            table["bytes"][: asked[i]], table["upto"][: asked[i]] = rows[part, 0], rows[part, 1]
        return found

    return tables


@eqx.filter_jit
def _rows(
    model: ByteModel,
    x: Int[Array, "n window"],
    offset: Int[Array, " n"],
    after: Int[Array, " n"],
    current: Int[Array, " n"],
) -> UInt8[Array, "n 2 likely"]:
    """The bytes and the shares of some rows."""

    def one(x: Array, offset: Array, after: Array, current: Array) -> UInt8[Array, "2 likely"]:
        p = jnp.zeros(256)
        for i, fraction in enumerate(VISIBLE_FRACTIONS):
            key = jax.random.fold_in(jax.random.fold_in(jax.random.key(0), offset), i)
            log_p = model(mask(key, x, jnp.asarray(fraction)), offset, after)
            p += _mean(jnp.where(jnp.arange(256) == current, -jnp.inf, log_p))
        share, bytes_ = jax.lax.top_k(p / len(VISIBLE_FRACTIONS), NUM_LIKELY)
        upto = jnp.minimum(jnp.round(ALL * jnp.cumsum(share)), ALL)
        return jnp.stack([bytes_, upto]).astype(jnp.uint8)

    return jax.vmap(one)(x, offset, after, current)


def _mean(log_p: Float[Array, " values"]) -> Float[Array, " values"]:
    """The mean over the temperatures."""
    parts = [jax.nn.softmax(log_p / t) for t in TEMPERATURES]
    return sum(parts[1:], parts[0]) / len(parts)
