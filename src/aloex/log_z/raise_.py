"""RAISE: a lower bound on the log likelihood of test points (Burda, Grosse, Salakhutdinov 2015).

The annealed sampler is a model of its own: draw x_0 from the base, move it by a kernel at each
temperature up to b = 1, and call where it ends x_K. Its law p_ann is close to p_f, closer the more
temperatures there are. For a given x = x_K a chain of reversed kernels goes back from b = 1 to the
base, and with w = p(x_0, ..., x_K) / q(x_0, ..., x_{K-1} | x_K)

    log w = f(x) - sum_k (b_k - b_{k-1}) (f - log p_base)(x_{k-1}),    E[w] = p_ann(x),

because the kernels cancel up to the ratios p_b(x_k) / p_b(x_{k-1}). So E[log mean(w)] is at most
log p_ann(x): where forward AIS flatters a model, RAISE is cautious. It needs no draws of p_f. Far
below forward AIS it says that chains from the base do not find what the test points are like.

The kernel given here makes the way back. The annealed sampler that is bounded moves by its
reversal: itself for kernels in detailed balance, for Gibbs sweeps those in the opposite order.
"""

from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from aloex.base.errors import require
from aloex.cursor import Energy
from aloex.importance_weights import log_mean_exp
from aloex.kernels import Kernel
from aloex.log_z.annealed import Ladder, checked_rows, log_weights
from aloex.log_z.estimate import with_error
from aloex.log_z.path import Path, path, rungs
from aloex.samplers import Tractable
from aloex.spaces import Space


class RaiseBound(eqx.Module):
    """A lower bound on the annealed sampler's log likelihood of test points.

    Args:
        log_probs: of each point [n], lower bounds on average.
        mean: of them.
        standard_error: of the mean, for points that are drawn independently.
        num_chains: chains that each of them took.

    Example:
        >>> import jax, jax.numpy as jnp
        >>> from aloex import log_z, spaces
        >>> x = jnp.array([[0, 0], [0, 1], [1, 0], [1, 1]])
        >>> f = lambda x, z=None: 0.0 * x.sum()
        >>> print(log_z.raise_(jax.random.key(0), f, spaces.Bits(2), x, ladder=3))
        log p = -1.3863 +- 0.0000 (RAISE, lower bound on average; 4 points, 1 chain each)
    """

    log_probs: Float[Array, " n"]
    mean: Float[Array, ""]
    standard_error: Float[Array, ""]
    num_chains: int = eqx.field(static=True)
    bound: Literal["lower"] = eqx.field(static=True, default="lower")

    def __str__(self) -> str:
        chains = "1 chain" if self.num_chains == 1 else f"{self.num_chains} chains"
        return (
            f"log p = {with_error(self.mean, self.standard_error)} (RAISE, lower bound on average; "
            f"{len(self.log_probs)} points, {chains} each)"
        )


def raise_(
    key: Key[Array, ""],
    f: Energy,
    space: Space,
    x: Int[Array, "n dim"],
    z: Array | None = None,
    *,
    base: Tractable | None = None,
    ladder: Ladder = 1000,
    num_chains: int = 1,
    kernel: Kernel | None = None,
    num_steps: int = 1,
) -> RaiseBound:
    """RAISE: chains back from test points bound their log likelihood from below, on average.

    What is bounded is the likelihood under the annealed sampler with this ladder, a close relative
    of p_f.

    Args:
        key: of all randomness.
        f: the energy, f(x, z) -> scalar.
        space: of x; states of a fixed length.
        x: test points [n, dim], two or more; they need not be draws of p_f.
        z, base, ladder, kernel, num_steps: as for `ais`.
        num_chains: for each point; more make the bound tighter.

    Returns:
        The bound for each point, and its mean.

    Example:
        >>> import jax, jax.numpy as jnp
        >>> from aloex import log_z, spaces
        >>> f = lambda x, z=None: 2.0 * x[0] * x[1]
        >>> x = jnp.array([[1, 1], [0, 1]])
        >>> settings = {"ladder": 100, "num_chains": 50}
        >>> found = log_z.raise_(jax.random.key(0), f, spaces.Bits(2), x, **settings)
        >>> bool(found.log_probs[0] > found.log_probs[1] + 1)  # by 2, but for rounding and chance
        True
    """
    way = path(f, space, z, base=base, kernel=kernel, num_steps=num_steps)
    require(x.shape[0] >= 2, f"an error needs two points or more, got {x.shape[0]}")
    require(num_chains >= 1, f"num_chains must be at least 1, got {num_chains}")
    return _raise(key, checked_rows(space, x), way, rungs(ladder), num_chains)


@eqx.filter_jit
def _raise(
    key: Key[Array, ""],
    x: Int[Array, "n dim"],
    path: Path,
    bs: Float[Array, " temperatures"],
    num_chains: int,
) -> RaiseBound:
    # From 1 to 1 no weight changes; it makes the chain begin with a move at b = 1.
    down = jnp.concatenate([bs[-1:], bs[::-1]])
    log_w = log_weights(key, jnp.repeat(x, num_chains, axis=0), path, down)
    f = jax.vmap(lambda x: path.f(x, path.z))(x)
    log_probs = f + log_mean_exp(log_w.reshape(-1, num_chains))
    error = jnp.std(log_probs, ddof=1) / x.shape[0] ** 0.5
    return RaiseBound(log_probs, jnp.mean(log_probs), error, num_chains)
