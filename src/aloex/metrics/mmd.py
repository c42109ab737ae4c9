"""MMD^2 = E k(x, x') + E k(y, y') - 2 E k(x, y), for kernels of the Hamming distance.

The estimate is the U-statistic, which leaves out the pairs of a row with itself: it is unbiased,
and so at times negative. All it needs is how many pairs of rows lie at each distance 0..dim. These
counts are whole numbers, so little is lost to rounding, and several kernels can share them.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from aloex.base.errors import require
from aloex.nets import on_cpu

MAX_ROWS = 2**15  # the number of pairs must fit an int32

Kernel = Callable[[Array, int], Array]  # k(distances, dim) of each distance
Draw = Callable[[Array, int], Array]  # draw(key, n) -> rows [n, dim]


class Estimate(NamedTuple):
    """A mean and how far off it may be.

    >>> import jax.numpy as jnp
    >>> from aloex import metrics
    >>> f = lambda x, z: 1.0 * x.sum()
    >>> found = metrics.nll(f, jnp.array([[0, 0], [1, 1]]), log_z=2.627)
    >>> round(float(found.mean), 3), float(found.standard_error)
    (1.627, 1.0)
    """

    mean: Float[Array, ""]
    standard_error: Float[Array, ""]


def exp_hamming(distance: Float[Array, " n"], dim: int) -> Float[Array, " n"]:
    """k = exp(-0.1 Hamming): MMD is 0 only between equal distributions.

    Args:
        distance: Hamming distances [n].
        dim: number of sites; it does not matter here.

    Returns:
        The kernel at each distance [n].

    >>> import jax.numpy as jnp
    >>> from aloex import metrics
    >>> [round(float(k), 3) for k in metrics.exp_hamming(jnp.array([0.0, 10.0]), 32)]
    [1.0, 0.368]
    """
    return jnp.exp(-0.1 * distance)


def linear_hamming(distance: Float[Array, " n"], dim: int) -> Float[Array, " n"]:
    """k = dim - Hamming, the ALOE paper's, which sees nothing but the one-site marginals.

    It counts the sites where two rows agree, so MMD^2 = sum_i |p_i - q_i|^2 over the distributions
    of the single sites: a model that draws each site on its own can reach 0.

    Args:
        distance: Hamming distances [n].
        dim: number of sites.

    Returns:
        The kernel at each distance [n].

    >>> import jax.numpy as jnp
    >>> from aloex import metrics
    >>> metrics.linear_hamming(jnp.array([0.0, 10.0]), 32).tolist()
    [32.0, 22.0]
    """
    return dim - distance


@eqx.filter_jit
def mmd(
    x: Int[Array, "n dim"],
    y: Int[Array, "m dim"],
    kernel: Any = exp_hamming,
    *,
    num_values: int = 2,
) -> Any:
    """The unbiased estimate of MMD^2 between rows x and rows y of values 0..num_values-1.

    MMD^2 = E k(x, x') + E k(y, y') - 2 E k(x, y), over pairs of different rows.

    Args:
        x, y: two samples [n, dim] and [m, dim].
        kernel: a function k(distances, dim), or a tuple or dict of such; the answer has its form.
        num_values: values of a site.

    Returns:
        One number [], or as many as there are kernels.

    >>> import jax.numpy as jnp
    >>> from aloex import metrics
    >>> x, y = jnp.zeros((4, 3), int), jnp.ones((4, 3), int)
    >>> float(metrics.mmd(x, y, metrics.linear_hamming))  # 3 sites, each |(1, 0) - (0, 1)|^2 = 2
    6.0
    """
    (n, dim), m = x.shape, y.shape[0]
    require(min(n, m) >= 2, f"mmd needs two rows or more on either side, got {n} and {m}")
    require(max(n, m) <= MAX_ROWS, f"mmd takes up to {MAX_ROWS} rows a side, got {n} and {m}")
    require(num_values >= 2, f"num_values must be at least 2, got {num_values}")
    x, y = _check_values(x, num_values), _check_values(y, num_values)
    pairs = lambda a, b: _pairs_by_distance(a, b, num_values)
    # A row's pair with itself lies at distance 0.
    within_x = pairs(x, x).at[0].add(-n) / (n * (n - 1))
    within_y = pairs(y, y).at[0].add(-m) / (m * (m - 1))
    weights = within_x + within_y - 2 * pairs(x, y) / (n * m)
    distances = jnp.arange(dim + 1, dtype=weights.dtype)
    return jax.tree.map(lambda k: jnp.sum(weights * k(distances, dim)), kernel)


def repeated(
    key: Key[Array, ""],
    draw_model: Draw,
    draw_data: Draw,
    *,
    num_repeats: int = 10,
    n: int = 4000,
    kernel: Any = exp_hamming,
    num_values: int = 2,
) -> Any:
    """The mean of MMD^2 over repeats, each with n fresh draws a side: an `Estimate` per kernel.

    Args:
        key: of all draws.
        draw_model, draw_data: functions of a key and n that draw rows [n, dim].
        num_repeats: how many repeats, two or more.
        n: draws a side in each.
        kernel, num_values: as for `mmd`.

    Returns:
        The `Estimate`, or a tuple or dict of them, in the form of `kernel`.

    >>> import jax
    >>> from aloex import metrics, spaces
    >>> draw = lambda key, n: jax.vmap(spaces.Bits(2).sample)(jax.random.split(key, n))
    >>> found = metrics.repeated(jax.random.key(0), draw, draw, num_repeats=2, n=50)
    >>> bool(abs(found.mean) < 0.1)
    True
    """
    require(num_repeats >= 2, f"num_repeats must be at least 2 for an error, got {num_repeats}")
    keys_model, keys_data = jax.vmap(jax.random.split, out_axes=1)(
        jax.random.split(key, num_repeats)
    )
    x, y = _draws(draw_model, keys_model, n), _draws(draw_data, keys_data, n)
    values = [mmd(*rows, kernel, num_values=num_values) for rows in zip(x, y, strict=True)]
    return jax.tree.map(lambda *v: mean_and_error(jnp.stack(v)), *values)


def _draws(draw: Draw, keys: Key[Array, " repeats"], n: int) -> Int[Array, "repeats n dim"]:
    """n draws with each key: on an accelerator all at once; a CPU has no use for that."""
    if on_cpu():
        return jnp.stack([_draw(draw, key, n) for key in keys])
    return _draw_all(draw, keys, n)


@eqx.filter_jit
def _draw(draw: Draw, key: Key[Array, ""], n: int) -> Int[Array, "n dim"]:
    return draw(key, n)


@eqx.filter_jit
def _draw_all(draw: Draw, keys: Key[Array, " repeats"], n: int) -> Int[Array, "repeats n dim"]:
    return jax.vmap(lambda key: draw(key, n))(keys)


def mean_and_error(values: Float[Array, " n"]) -> Estimate:
    """The mean of independent values and its standard error."""
    return Estimate(jnp.mean(values), jnp.std(values, ddof=1) / values.shape[0] ** 0.5)


def _check_values(x: Int[Array, "n dim"], num_values: int) -> Int[Array, "n dim"]:
    # Draws inside compiled code have no values yet, so this error waits until it runs.
    message = f"mmd was told num_values={num_values}, but a row holds a value outside "
    bad = jnp.any((x < 0) | (x >= num_values))
    return eqx.error_if(x, bad, message + f"0..{num_values - 1}; pass the space's num_values")


def _pairs_by_distance(
    x: Int[Array, "n dim"], y: Int[Array, "m dim"], num_values: int
) -> Int[Array, " distances"]:
    """How many of the n m pairs of rows lie at each Hamming distance 0..dim."""
    dim = x.shape[1]
    if num_values == 2:  # signs agree or cancel: one column per bit instead of two
        distances = (dim - (2.0 * x - 1) @ (2.0 * y - 1).T) / 2
    else:
        one_hot = lambda a: jax.nn.one_hot(a, num_values).reshape(a.shape[0], -1)
        distances = dim - one_hot(x) @ one_hot(y).T
    if on_cpu():
        return jnp.bincount(distances.astype(jnp.int32).reshape(-1), length=dim + 1)
    # All pairs add to a few bins: on an accelerator they would wait for one another.
    return jax.lax.map(lambda d: jnp.sum(distances == d), jnp.arange(dim + 1, dtype=jnp.float32))
