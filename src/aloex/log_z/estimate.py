"""What an estimate of log Z says: its value, its error, what it bounds, whether to trust it."""

import math
from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Float, Int

from aloex.base.errors import require
from aloex.importance_weights import effective_sample_size

Bound = Literal["lower", "upper", "none"]

BOUNDS = {
    "lower": "lower bound on average",
    "upper": "upper bound on average if the starts are exact draws",
    "none": "no bound",
}
# Below these the estimate rests on a few draws, and its error on fewer.
MIN_EFFECTIVE, MIN_ANCESTORS, MAX_ERROR = 30, 30, 0.5


class LogZ(eqx.Module):
    """An estimate of log Z.

    `bound` says on which side its mean lies: "lower" for E[value] <= log Z; "upper" for
    E[value] >= log Z, which holds only if the chains began at exact draws of p_f; or "none". A
    single value may lie on the other side, by as much as its error.

    Args:
        value: of log Z.
        standard_error: of the value.
        effective_sample_size: of the weights, (sum w)^2 / sum w^2.
        num_weights: how many weights there are.
        bound: what the value bounds on average.
        method: what found it, in words.
        num_ancestors: for particles that were resampled: how many of the first ones still have
            descendants.

    Example:
        >>> import jax
        >>> from aloex import log_z, samplers, spaces
        >>> q = samplers.Uniform(spaces.Bits(2))
        >>> found = log_z.importance(jax.random.key(0), lambda x, z: 0.0, q, num_draws=40)
        >>> print(found)  # log 4
        log Z = 1.3863 +- 0.0000 (importance sampling, lower bound on average; ESS 40 of 40)
    """

    value: Float[Array, ""]
    standard_error: Float[Array, ""]
    effective_sample_size: Float[Array, ""]
    num_weights: int = eqx.field(static=True, kw_only=True)
    bound: Bound = eqx.field(static=True, kw_only=True)
    method: str = eqx.field(static=True, kw_only=True)
    num_ancestors: Int[Array, ""] | None = eqx.field(kw_only=True, default=None)

    @property
    def warning(self) -> str | None:
        """Why the estimate cannot be trusted, if there is a reason to see; outside of jit."""
        ess, error = float(self.effective_sample_size), float(self.standard_error)
        if not math.isfinite(float(self.value)):
            return "the estimate is not finite"
        if not ess >= MIN_EFFECTIVE:
            return f"a few weights outweigh the rest (ESS {ess:.3g}): neither value nor error holds"
        if self.num_ancestors is not None and int(self.num_ancestors) < MIN_ANCESTORS:
            return (
                f"all particles descend from {int(self.num_ancestors)} of the first: "
                "neither value nor error holds"
            )
        if not error <= MAX_ERROR:
            return f"the error is above {MAX_ERROR}, where the delta method no longer holds"
        return None

    def __str__(self) -> str:
        if isinstance(self.value, Tracer) or np.ndim(self.value) > 0:
            return repr(self)
        ancestors = "" if self.num_ancestors is None else f"; {int(self.num_ancestors)} ancestors"
        warning = "" if self.warning is None else f"; warning: {self.warning}"
        return (
            f"log Z = {with_error(self.value, self.standard_error)} ({self.method}, "
            f"{BOUNDS[self.bound]}; ESS {float(self.effective_sample_size):.0f} of "
            f"{self.num_weights}{ancestors}{warning})"
        )


def with_error(value: Float[Array, ""], error: Float[Array, ""]) -> str:
    """Both numbers, to two digits of the error, four decimals at most."""
    ok = math.isfinite(float(error)) and float(error) > 0
    decimals = min(4, max(0, 1 - math.floor(math.log10(float(error))))) if ok else 4
    return f"{float(value):.{decimals}f} +- {float(error):.{decimals}f}"


def log_z_from_weights(
    log_weights: Float[Array, " n"],
    log_known: Float[Array, " n"] | None = None,
    *,
    num_strata: int = 1,
    method: str = "importance sampling",
) -> LogZ:
    """The logarithm of the mean of independent weights, its error by the delta method.

    The error is sd(w) / (mean(w) sqrt(n)). Weights whose mean is Z give a lower bound on average,
    E[log mean(w)] <= log Z, by about half the squared error.

    Args:
        log_weights: log w of independent draws [n], two or more.
        log_known: log weights [n] of the same draws for another, normalised law, so that their mean
            is known to be 1. The result is the ratio of the two means, whose error is small where
            the weights are alike; it bounds nothing.
        num_strata: the draws come in so many strata of equal size, as many draws of each law in a
            mixture, one law after the other; then only the variance within them counts.
        method: what the draws are, in words.

    Returns:
        The estimate.

    Example:
        >>> import jax.numpy as jnp
        >>> from aloex import log_z
        >>> found = log_z.log_z_from_weights(jnp.log(jnp.array([1.0, 3.0])))
        >>> [round(float(a), 3) for a in (jnp.exp(found.value), found.standard_error)]
        [2.0, 0.5]
    """
    n = log_weights.shape[0]
    require(n >= 2, f"an error needs two weights or more, got {n}")
    log_sum, log_sum_known = jax.nn.logsumexp(log_weights), math.log(n)
    spread = n * jnp.exp(log_weights - log_sum)
    if log_known is not None:
        log_sum_known = jax.nn.logsumexp(log_known)
        spread -= n * jnp.exp(log_known - log_sum_known)
    variance = jnp.var(spread.reshape(num_strata, -1), axis=1, ddof=1)
    return LogZ(
        log_sum - log_sum_known,
        jnp.sqrt(jnp.mean(variance) / n),
        effective_sample_size(log_weights),
        num_weights=n,
        bound="lower" if log_known is None else "none",
        method=method,
    )
