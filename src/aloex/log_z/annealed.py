"""Annealed importance sampling (Neal 2001): log Z along a ladder of temperatures.

A chain starts at a draw of the base. For each step from b to b' its weight w is multiplied by
exp(f_{b'}(x) - f_b(x)); then a kernel moves it that leaves p_{b'} unchanged. E[w] = Z, whatever the
ladder; more temperatures make w vary less.

Forward, log mean(w) is a stochastic lower bound: E[log mean(w)] <= log Z. So it flatters the model:
with log Z too low, the likelihood of data comes out too high. The same walk from b = 1 to 0, from
exact draws of p_f, has E[w] = 1 / Z, and -log mean(w) is a stochastic upper bound. Persistent
chains, or any other chain of MCMC, are no exact draws: from these the reverse walk bounds nothing.
Where there are test points but no exact draws, `raise_` bounds the likelihood from below.
"""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Float, Int, Key

from aloex.base.errors import require
from aloex.cursor import Energy
from aloex.kernels import Kernel
from aloex.log_z.estimate import LogZ, log_z_from_weights
from aloex.log_z.path import Path, path, rungs
from aloex.samplers import Tractable
from aloex.spaces import Space

Ladder = Float[Array, " temperatures"] | Float[np.ndarray, " temperatures"] | int


class Bracket(NamedTuple):
    """log Z from both sides.

    Args:
        lower: by `ais`.
        upper: by `reverse_ais`.

    Example:
        >>> import jax, jax.numpy as jnp
        >>> from aloex import log_z, spaces
        >>> x = jnp.array([[0, 0], [0, 1], [1, 0], [1, 1]])
        >>> f = lambda x, z=None: 0.0 * x.sum()
        >>> found = log_z.bracket(jax.random.key(0), f, spaces.Bits(2), x, ladder=3)
        >>> round(float(found.upper.value - found.lower.value), 3)
        0.0
    """

    lower: LogZ
    upper: LogZ


def ais(
    key: Key[Array, ""],
    f: Energy,
    space: Space,
    z: Array | None = None,
    *,
    base: Tractable | None = None,
    ladder: Ladder = 1000,
    num_chains: int = 256,
    kernel: Kernel | None = None,
    num_steps: int = 1,
) -> LogZ:
    """Annealed importance sampling from draws of the base to p_f: log Z, too low on average.

    Args:
        key: of all randomness.
        f: the energy, f(x, z) -> scalar.
        space: of x; states of a fixed length.
        z: the condition, one for all chains; `jax.vmap` takes many.
        base: a law to start from, uniform unless given.
        ladder: inverse temperatures, rising from 0 to 1, or how many of them in equal steps.
        num_chains: independent chains.
        kernel: what moves a chain, `kernels.Gibbs(space)` unless given.
        num_steps: its steps at each temperature.

    Returns:
        The estimate, a lower bound on average.

    Example:
        >>> import jax
        >>> from aloex import log_z, spaces
        >>> f = lambda x, z=None: 0.0 * x.sum()
        >>> found = log_z.ais(jax.random.key(0), f, spaces.Bits(3), ladder=3, num_chains=4)
        >>> round(float(found.value), 3), found.bound  # log 8
        (2.079, 'lower')
    """
    way = path(f, space, z, base=base, kernel=kernel, num_steps=num_steps)
    _check_chains(num_chains)
    key_start, key_chains = jax.random.split(key)
    x = jax.vmap(way.start)(jax.random.split(key_start, num_chains))
    return log_z_from_weights(log_weights(key_chains, x, way, rungs(ladder)), method="AIS forward")


def reverse_ais(
    key: Key[Array, ""],
    f: Energy,
    space: Space,
    x: Int[Array, "chains dim"],
    z: Array | None = None,
    *,
    base: Tractable | None = None,
    ladder: Ladder = 1000,
    kernel: Kernel | None = None,
    num_steps: int = 1,
) -> LogZ:
    """Annealed importance sampling from exact draws of p_f to the base: log Z, too high on average.

    That holds for independent exact draws only: of a model whose states can be listed, of one that
    is known to have made them. Draws of persistent chains, or of any chain that has not converged,
    may give anything, and no number in the result tells.

    Args:
        key: of all randomness.
        f: the energy, f(x, z) -> scalar.
        space: of x; states of a fixed length.
        x: independent exact draws of p_f [chains, dim], a chain each.
        z, base, ladder, kernel, num_steps: as for `ais`.

    Returns:
        The estimate, an upper bound on average if the draws are exact.

    Example:
        >>> import jax, jax.numpy as jnp
        >>> from aloex import log_z, spaces
        >>> x = jnp.array([[0, 0], [0, 1], [1, 0], [1, 1]])
        >>> f = lambda x, z=None: 0.0 * x.sum()
        >>> found = log_z.reverse_ais(jax.random.key(0), f, spaces.Bits(2), x, ladder=3)
        >>> round(float(found.value), 3), found.bound  # log 4
        (1.386, 'upper')
    """
    way = path(f, space, z, base=base, kernel=kernel, num_steps=num_steps)
    _check_chains(x.shape[0])
    log_w = log_weights(key, checked_rows(space, x), way, rungs(ladder)[::-1])
    found = log_z_from_weights(log_w)
    return LogZ(
        -found.value,
        found.standard_error,
        found.effective_sample_size,
        num_weights=found.num_weights,
        bound="upper",
        method="AIS reverse",
    )


def bracket(
    key: Key[Array, ""],
    f: Energy,
    space: Space,
    x: Int[Array, "chains dim"],
    z: Array | None = None,
    **settings: Any,
) -> Bracket:
    """Both bounds, with as many chains forward as there are rows of x.

    Args:
        key, f, space: as for `ais`.
        x: independent exact draws of p_f [chains, dim]; the upper bound holds for no others.
        z: as for `ais`.
        **settings: base, ladder, kernel and num_steps, as for `ais`.

    Returns:
        Estimates `lower` and `upper`.

    Example:
        >>> import jax, jax.numpy as jnp
        >>> from aloex import log_z, spaces
        >>> f = lambda x, z=None: 2.0 * x[0] * x[1]
        >>> x = jnp.array([[1, 1]] * 71 + [[0, 1], [1, 0], [0, 0]] * 10)  # p_f(1, 1) = 0.71
        >>> found = log_z.bracket(jax.random.key(0), f, spaces.Bits(2), x, ladder=50)
        >>> bool(found.lower.value < 2.4 and found.upper.value > 2.3)  # log Z = 2.34
        True
    """
    key_forward, key_reverse = jax.random.split(key)
    lower = ais(key_forward, f, space, z, num_chains=x.shape[0], **settings)
    return Bracket(lower, reverse_ais(key_reverse, f, space, x, z, **settings))


@eqx.filter_jit
def log_weights(
    key: Key[Array, ""],
    x: Int[Array, "chains dim"],
    path: Path,
    bs: Float[Array, " temperatures"],
) -> Float[Array, " chains"]:
    """log w of each chain that starts at a row of x and goes through the temperatures bs."""

    def weighted(x: Array, log_w: Array, b: Array, b_next: Array) -> Array:
        by = b_next - b
        return log_w + jnp.where(by == 0, 0, by * path.slope(x))  # 0 times infinity is 0

    def step(
        state: tuple[Array, Array], inputs: tuple[Array, Array, Array]
    ) -> tuple[tuple[Array, Array], None]:
        x, log_w = state
        key, b, b_next = inputs
        log_w = weighted(x, log_w, b, b_next)
        return (path.move(key, x, b_next), log_w), None

    def chain(key: Key[Array, ""], x: Int[Array, " dim"]) -> Float[Array, ""]:
        # Moves after the last change of b would not touch the weight.
        inputs = (jax.random.split(key, len(bs) - 2), bs[:-2], bs[1:-1])
        (x, log_w), _ = jax.lax.scan(step, (x, jnp.zeros((), bs.dtype)), inputs)
        return weighted(x, log_w, bs[-2], bs[-1])

    return jax.vmap(chain)(jax.random.split(key, x.shape[0]), x)


def checked_rows(space: Space, x: Int[Array, "n dim"]) -> Int[Array, "n dim"]:
    """Rows of the space; their values can be seen outside compiled code only."""
    return x if isinstance(x, Tracer) else jnp.asarray(space.check(np.asarray(x), "x"))


def _check_chains(num_chains: int) -> None:
    require(num_chains >= 2, f"an error needs two chains or more, got {num_chains}")
