"""Importance weights, given by their logarithms: their mean, their quality, draws by them."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int


def log_mean_exp(log_w: Float[Array, "*rows n"]) -> Float[Array, "*rows"]:
    """log of the mean of the weights, over the last axis.

    >>> import jax.numpy as jnp
    >>> float(jnp.exp(log_mean_exp(jnp.log(jnp.array([1.0, 2.0, 3.0]))))).__round__(4)
    2.0
    """
    return jax.nn.logsumexp(log_w, axis=-1) - jnp.log(log_w.shape[-1])


def effective_sample_size(log_w: Float[Array, "*rows n"]) -> Float[Array, "*rows"]:
    """(sum w)^2 / sum w^2 over the last axis: n if all are alike, 1 if one outweighs the rest.

    >>> import jax.numpy as jnp
    >>> float(effective_sample_size(jnp.array([0.0, 0.0, -jnp.inf])))
    2.0
    """
    return jnp.exp(2 * jax.nn.logsumexp(log_w, axis=-1) - jax.nn.logsumexp(2 * log_w, axis=-1))


def capped(log_w: Float[Array, " n"], same: Bool[Array, "n n"] | None = None) -> Array:
    """Weights of which none counts more than sqrt(n) times their mean (Ionides 2008).

    So one draw of a poor q cannot take the place of all others. With `same` a weight is compared
    with those of its own group only, whose number is n then; see `systematic_in_groups`.
    """
    if same is None:
        return jnp.minimum(log_w, jax.nn.logsumexp(log_w) - 0.5 * jnp.log(log_w.shape[0]))
    total = jax.nn.logsumexp(jnp.where(same, log_w, -jnp.inf), axis=1)
    return jnp.minimum(log_w, total - 0.5 * jnp.log(same.sum(axis=1)))


def systematic(
    offset: Float[Array, ""], log_w: Float[Array, " n"], num: int | None = None
) -> Int[Array, " num"]:
    """Systematic resampling: `num` indices, each as often as its weight asks for, give or take one.

    Args:
        offset: uniform in [0, 1); over it index i comes up num w_i / sum w times on average.
        log_w: log weights; if all are -inf, all count alike.
        num: how many indices; n unless given.

    >>> import jax.numpy as jnp
    >>> systematic(jnp.array(0.5), jnp.log(jnp.array([1.0, 3.0])), 4).tolist()
    [0, 1, 1, 1]
    """
    num = log_w.shape[0] if num is None else num
    log_w = jnp.where(jnp.isfinite(log_w).any(), log_w, 0)
    share = jnp.cumsum(jax.nn.softmax(log_w))
    points = (jnp.arange(num) + offset) / num * share[-1]
    return jnp.minimum(jnp.searchsorted(share, points), log_w.shape[0] - 1)


def systematic_in_groups(
    offset: Float[Array, ""], log_w: Float[Array, " n"], same: Bool[Array, "n n"]
) -> Int[Array, " n"]:
    """Systematic resampling inside every group: row i gets an index of its own group.

    Each group keeps its size m, and over `offset` its index j comes up m w_j / (its sum of w) times
    on average. A group of one stays as it is.

    Args:
        offset: uniform in [0, 1).
        log_w: log weights; if all of a group are -inf, they count alike.
        same: [i, j] says whether rows i and j are of one group.

    >>> import jax.numpy as jnp
    >>> labels = jnp.array([0, 1, 0, 1])
    >>> log_w = jnp.log(jnp.array([1.0, 5.0, 0.0, 5.0]))
    >>> systematic_in_groups(jnp.array(0.5), log_w, labels[:, None] == labels).tolist()
    [0, 1, 0, 3]
    """
    n = log_w.shape[0]
    possible = (same & jnp.isfinite(log_w)).any(axis=1)
    log_w = jnp.where(possible, log_w, 0)
    total = jax.nn.logsumexp(jnp.where(same, log_w, -jnp.inf), axis=1)
    size = same.sum(axis=1)
    # Laid side by side in order of their first rows, a group of m rows takes up a length of m, so
    # exactly m of the points 0 + offset, 1 + offset, ... fall on it.
    first = jnp.argmax(same, axis=1)
    order = jnp.argsort(first)
    lengths = jnp.cumsum((size * jnp.exp(log_w - total))[order])
    found = jnp.searchsorted(lengths, jnp.arange(n) + offset, side="right")
    # Rounding may put a point just beyond the border of its group.
    begin = jnp.searchsorted(first[order], first[order])
    found = jnp.clip(found, begin, begin + size[order] - 1)
    return jnp.zeros(n, found.dtype).at[order].set(order[found])


def pareto_k(log_w: np.ndarray) -> float:
    """The shape k of a generalised Pareto law fitted to the largest weights (Vehtari et al. 2024).

    Below 0.5 the weights have a finite variance. Above 0.7 the error of their mean cannot be told
    from the draws. The fit is that of Zhang and Stephens (2009), with a weak prior towards 0.5.

    Args:
        log_w: log weights [n].

    Returns:
        k; -inf if the largest weights are all alike, NaN for fewer than 25 weights.

    >>> import numpy as np
    >>> u = (np.arange(1000) + 0.5) / 1000
    >>> round(pareto_k(-0.3 * np.log(u)), 1), pareto_k(np.zeros(1000))
    (0.3, -inf)
    """
    n = len(log_w)
    num = int(min(n / 5, 3 * np.sqrt(n)))  # in the tail
    if num < 5:
        return float("nan")
    w = np.sort(np.exp(np.asarray(log_w, float) - np.max(log_w)))
    x = w[-num:] - w[-num - 1]
    if x[-1] <= 1e-9:
        return float("-inf")
    x = np.maximum(x, 1e-300)
    m = 30 + int(np.sqrt(num))
    quarter = x[int(num / 4 + 0.5) - 1]
    b = 1 - np.sqrt(m / (np.arange(1, m + 1) - 0.5))
    b = b / (3 * max(quarter, 1e-12)) + 1 / x[-1]
    ks = np.mean(np.log1p(-b[:, None] * x), axis=1)
    log_likelihood = num * (np.log(-b / ks) - ks - 1)
    posterior = np.exp(log_likelihood - log_likelihood.max())
    b = np.sum(b * posterior) / posterior.sum()
    k = np.mean(np.log1p(-b * x))
    return float((num * k + 10 * 0.5) / (num + 10))
