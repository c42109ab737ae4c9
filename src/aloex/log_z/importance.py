"""log Z by importance sampling: Z = E_q[w] with w = exp f(x) / q(x) and x from a tractable q.

The mean of the weights is unbiased for Z, so its logarithm is too low on average, by about half
its squared error. Trust neither value nor error when the effective sample size is small: a q that
misses a part of p_f may never show it.
"""

import equinox as eqx
import jax
from jaxtyping import Array, Float, Key

from aloex.base.errors import require
from aloex.cursor import Energy
from aloex.energies import as_energy
from aloex.log_z.estimate import LogZ, log_z_from_weights
from aloex.samplers import Tractable


def importance(
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
        key: of all draws.
        f: the energy, f(x, z) -> scalar.
        q: a law to draw from and score, which must reach all states that f makes likely.
        z: the condition, one for all draws.
        num_draws: how many draws.
        batch_size: how many at a time.

    Returns:
        The estimate, a lower bound on average.

    Example:
        >>> import jax
        >>> from aloex import log_z, samplers, spaces
        >>> q = samplers.Uniform(spaces.Bits(3))
        >>> found = log_z.importance(jax.random.key(0), lambda x, z: 0.0, q, num_draws=8)
        >>> round(float(found.value), 3), float(found.effective_sample_size)  # log 8
        (2.079, 8.0)
    """
    require(num_draws >= 2, f"num_draws must be at least 2 for an error, got {num_draws}")
    require(batch_size >= 1, f"batch_size must be at least 1, got {batch_size}")
    keys = jax.random.split(key, num_draws)
    return _importance(keys, as_energy(f, z), q, z, batch_size)


@eqx.filter_jit
def _importance(
    keys: Key[Array, " draws"], f: Energy, q: Tractable, z: Array | None, batch_size: int
) -> LogZ:
    def log_weight(key: Key[Array, ""]) -> Float[Array, ""]:
        x = q.sample(key, z)
        return f(x, z) - q.log_prob(x, z)

    return log_z_from_weights(jax.lax.map(log_weight, keys, batch_size=batch_size))
