"""The likelihood of data under an energy, given log Z."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from aloex.base.errors import require
from aloex.cursor import Energy
from aloex.log_z import LogZ
from aloex.metrics.mmd import Estimate, mean_and_error


def nll(
    f: Energy,
    x: Int[Array, "n dim"],
    log_z: LogZ | Float[Array, ""] | float,
    z: Array | None = None,
    *,
    batch_size: int = 4096,
) -> Estimate:
    """The mean of -log p_f(x) = log Z - f(x) over the rows of x, all under the same z.

    Its error is that of the rows and, if log Z is an estimate, that of log Z, in one. It is on the
    same side of the truth as log Z: a lower bound on log Z flatters the model. Use the same f for
    both terms, in the same precision.

    Args:
        f: the energy, f(x, z) -> scalar.
        x: rows of data [n, dim].
        log_z: exact, or an estimate of `aloex.log_z`.
        z: the condition.
        batch_size: rows at a time.

    Returns:
        The mean and its standard error.

    Example:
        >>> import math
        >>> import jax.numpy as jnp
        >>> from aloex import metrics
        >>> found = metrics.nll(lambda x, z: 0.0, jnp.zeros((4, 3), int), math.log(8))
        >>> round(float(found.mean), 3), float(found.standard_error)
        (2.079, 0.0)
    """
    require(x.shape[0] >= 2, f"nll needs two rows or more for an error, got {x.shape[0]}")
    value, error = (log_z.value, log_z.standard_error) if isinstance(log_z, LogZ) else (log_z, 0.0)
    minus_f = mean_and_error(_minus_f(x, f, z, batch_size))
    return Estimate(value + minus_f.mean, jnp.hypot(minus_f.standard_error, error))


@eqx.filter_jit
def _minus_f(
    x: Int[Array, "n dim"], f: Energy, z: Array | None, batch_size: int
) -> Float[Array, " n"]:
    return jax.lax.map(lambda row: -f(row, z), x, batch_size=batch_size)
