"""log Z by importance sampling: Z = E_q[w] with w = exp f(x) / q(x) and x from a tractable q.

The mean of the weights is unbiased for Z, so its logarithm is too low on average, by about half
its squared error. Trust neither value nor error when the effective sample size is small: a q that
misses a part of p_f may never show it.
"""

import math
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from aloex.base.errors import require
from aloex.cursor import Energy
from aloex.importance_weights import effective_sample_size
from aloex.metrics.mmd import Estimate, mean_and_error
from aloex.samplers import Tractable
from aloex.spaces import Space


class LogZ(NamedTuple):
    """An estimate of log Z.

    >>> import jax
    >>> from aloex import metrics, spaces
    >>> key, q = jax.random.key(0), metrics.Uniform(spaces.Bits(2))
    >>> found = metrics.importance.log_z(key, lambda x, z: 0.0, q, num_draws=4)
    >>> round(float(found.value), 3), float(found.standard_error)  # log 4
    (1.386, 0.0)
    """

    value: Float[Array, ""]
    standard_error: Float[Array, ""]
    effective_sample_size: Float[Array, ""]  # of the weights, (sum w)^2 / sum w^2


class Uniform(eqx.Module):
    """The q that needs no learning: all states of a space alike, whatever z.

    >>> from aloex.spaces import Bits
    >>> round(float(Uniform(Bits(3)).log_prob(jnp.array([0, 1, 1]))), 3)
    -2.079
    """

    space: Space = eqx.field(static=True)

    def sample(self, key: Key[Array, ""], z: Array | None = None) -> Int[Array, " dim"]:
        return self.space.sample(key)

    def log_prob(self, x: Int[Array, " dim"], z: Array | None = None) -> Float[Array, ""]:
        return jnp.asarray(-math.log(self.space.size))


def log_z(
    key: Key[Array, ""],
    f: Energy,
    q: Tractable,
    z: Array | None = None,
    *,
    num_draws: int = 100_000,
    batch_size: int = 4096,
) -> LogZ:
    """log Z_f from draws of q: log of the mean of exp f(x, z) / q(x | z).

    Args:
        f: the energy.
        q: a law to draw from, which must reach all states that f makes likely.
        z: the condition, one for all draws.
        num_draws: how many draws.
        batch_size: how many at a time.

    Returns:
        The estimate, its standard error and the effective sample size of the weights.

    >>> import jax
    >>> from aloex.spaces import Bits
    >>> found = log_z(jax.random.key(0), lambda x, z: 0.0, Uniform(Bits(3)), num_draws=8)
    >>> round(float(found.value), 3), float(found.effective_sample_size)  # log 8
    (2.079, 8.0)
    """
    require(num_draws >= 2, f"num_draws must be at least 2 for an error, got {num_draws}")
    require(batch_size >= 1, f"batch_size must be at least 1, got {batch_size}")
    return _log_z(jax.random.split(key, num_draws), f, q, z, batch_size)


@eqx.filter_jit
def _log_z(
    keys: Key[Array, " draws"], f: Energy, q: Tractable, z: Array | None, batch_size: int
) -> LogZ:
    def log_weight(key: Key[Array, ""]) -> Float[Array, ""]:
        x = q.sample(key, z)
        return f(x, z) - q.log_prob(x, z)

    return log_z_from_weights(jax.lax.map(log_weight, keys, batch_size=batch_size))


def log_z_from_weights(
    log_weights: Float[Array, " n"],
    log_known: Float[Array, " n"] | None = None,
    *,
    num_strata: int = 1,
) -> LogZ:
    """The logarithm of the mean of independent weights, its error by the delta method.

    The error is sd(w) / (mean(w) sqrt(n)). Where the draws come in strata, as many of each law in
    a mixture, one law after the other, only the variance within them counts. `log_known` are
    weights of the same draws for another law, normalised, so that their mean is known to be 1: the
    result is the ratio of the two means, whose error is small where the weights are alike.
    """
    n = log_weights.shape[0]
    log_sum, log_sum_known = jax.nn.logsumexp(log_weights), math.log(n)
    spread = n * jnp.exp(log_weights - log_sum)
    if log_known is not None:
        log_sum_known = jax.nn.logsumexp(log_known)
        spread -= n * jnp.exp(log_known - log_sum_known)
    variance = jnp.var(spread.reshape(num_strata, -1), axis=1, ddof=1)
    error = jnp.sqrt(jnp.mean(variance) / n)
    return LogZ(log_sum - log_sum_known, error, effective_sample_size(log_weights))


def nll(
    f: Energy,
    x: Int[Array, "n dim"],
    log_z: LogZ | Float[Array, ""] | float,
    z: Array | None = None,
    *,
    batch_size: int = 4096,
) -> Estimate:
    """The mean of -log p_f(x) = log Z - f(x) over the rows of x, all under the same z.

    Its error is that of the rows and, if log Z is an estimate, that of log Z, in one.

    Args:
        f: the energy.
        x: rows of data [n, dim].
        log_z: exact, or estimated by `importance.log_z` or `ais`.
        z: the condition.
        batch_size: rows at a time.

    Returns:
        The mean and its standard error.

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
