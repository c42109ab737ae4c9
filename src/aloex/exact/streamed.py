"""log Z of an MLP energy over 2^32 states."""

from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from aloex.base.errors import InputError, require
from aloex.cursor import Energy, Incremental
from aloex.spaces import Bits


def streamed_log_z(
    f: Energy,
    space: Bits,
    z: Array | None = None,
    *,
    log2_chunk: int = 20,
    precision: Literal["highest", "tensorfloat32", "bfloat16"] = "tensorfloat32",
) -> float:
    """log Z_f of an MLP energy by visiting all 2^dim states, 2^log2_chunk at a time.

    The first layer is a sum over bits, so that of (high bits, low bits) is A[high] + B[low]: two
    small tables. What remains is the rest of the network, batched, and a logsumexp per chunk; the
    chunks are added up in float64.

    Args:
        f: an energy that is `cursor.Incremental`, such as `energies.MLP`.
        space: of x.
        z: the condition, if f has one.
        log2_chunk: at least 1; more takes more memory.
        precision: that of the matrix products on an accelerator.

    Returns:
        One number.

    Example:
        >>> import jax
        >>> from aloex import energies, exact, spaces
        >>> space = spaces.Bits(3)
        >>> f = energies.MLP(space, hidden=(4,), key=jax.random.key(0))
        >>> abs(exact.streamed_log_z(f, space) - float(exact.log_z(f, space))) < 0.01
        True
    """
    if not isinstance(f, Incremental):
        raise InputError("streamed_log_z needs an energy with hidden, site and head")
    require(log2_chunk >= 1, f"log2_chunk must be at least 1, got {log2_chunk}")
    num_low = min(space.dim, log2_chunk, 16)
    num_rows = 2 ** max(0, min(space.dim, log2_chunk) - num_low)  # high states in one chunk
    low = jnp.pad(Bits(num_low).enumerate(), ((0, 0), (space.dim - num_low, 0)))
    hidden_low = jax.vmap(lambda x: f.hidden(x, z))(low)
    if space.dim == num_low:
        hidden_high = jnp.zeros_like(hidden_low[:1])
    else:
        high = jnp.pad(Bits(space.dim - num_low).enumerate(), ((0, 0), (0, num_low)))
        base = f.hidden(jnp.zeros(space.dim, jnp.int32), z)  # the bias is in both tables
        hidden_high = jax.vmap(lambda x: f.hidden(x, z))(high) - base
    hidden_high = hidden_high.reshape(-1, num_rows, hidden_high.shape[-1])
    with jax.default_matmul_precision(precision):
        chunks = np.asarray(_chunk_log_sums(f, hidden_high, hidden_low), np.float64)
    largest = chunks.max()
    return float(largest + np.log(np.sum(np.exp(chunks - largest))))


@eqx.filter_jit
def _chunk_log_sums(
    f: Incremental,
    hidden_high: Float[Array, "chunks rows width"],
    hidden_low: Float[Array, "low width"],
) -> Float[Array, " chunks"]:
    def log_sum(rows: Float[Array, "rows width"]) -> Float[Array, ""]:
        hidden = rows[:, None, :] + hidden_low
        return jax.nn.logsumexp(jax.vmap(jax.vmap(f.head))(hidden))

    return jax.lax.map(log_sum, hidden_high)
