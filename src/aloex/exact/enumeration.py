"""Laws, log Z and transition matrices of spaces that are small enough to be listed."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from aloex.cursor import Energy
from aloex.spaces import Space


def energies(f: Energy, space: Space, z: Array | None = None) -> Float[Array, " size"]:
    """f(x, z) of every state x, in the order of `space.enumerate()`.

    Args:
        f: the energy, f(x, z) -> scalar.
        space: small enough to be listed.
        z: the condition, if f has one.

    Returns:
        The energies [size].

    Example:
        >>> from aloex import exact, spaces
        >>> exact.energies(lambda x, z: 1.0 * x.sum(), spaces.Bits(2)).tolist()
        [0.0, 1.0, 1.0, 2.0]
    """
    return jax.vmap(lambda x: f(x, z))(space.enumerate())


def log_z(f: Energy, space: Space, z: Array | None = None) -> Float[Array, ""]:
    """log Z_f = log sum_x exp f(x, z), the log partition function.

    Args:
        f, space, z: as for `energies`.

    Returns:
        One number [].

    Example:
        >>> from aloex import exact, spaces
        >>> f = lambda x, z: 1.0 * x.sum()
        >>> round(float(exact.log_z(f, spaces.Bits(2))), 3)  # 2 log (1 + e)
        2.627
    """
    return jax.nn.logsumexp(energies(f, space, z))


def log_p(f: Energy, space: Space, z: Array | None = None) -> Float[Array, " size"]:
    """log p_f(x | z) = f(x, z) - log Z_f of every state x.

    Args:
        f, space, z: as for `energies`.

    Returns:
        The log probabilities [size], in the order of `space.enumerate()`.

    Example:
        >>> import jax.numpy as jnp
        >>> from aloex import exact, spaces
        >>> found = exact.log_p(lambda x, z: 1.0 * x.sum(), spaces.Bits(2))
        >>> [round(float(p), 3) for p in jnp.exp(found)]
        [0.072, 0.197, 0.197, 0.534]
    """
    return jax.nn.log_softmax(energies(f, space, z))


def kl(log_p: Float[Array, " size"], log_q: Float[Array, " size"]) -> Float[Array, ""]:
    """KL(p || q) = sum_x p(x) (log p(x) - log q(x)), with 0 log 0 = 0.

    Args:
        log_p, log_q: log probabilities of every state [size].

    Returns:
        One number [].

    Example:
        >>> import jax.numpy as jnp
        >>> from aloex import exact
        >>> p, q = jnp.array([1.0, 0.0]), jnp.array([0.5, 0.5])
        >>> round(float(exact.kl(jnp.log(p), jnp.log(q))), 3)  # log 2
        0.693
    """
    p = jnp.exp(log_p)
    return jnp.sum(jnp.where(p > 0, p * (jnp.where(p > 0, log_p, 0) - log_q), 0))


def log_frequencies(x: Int[Array, "n dim"], space: Space) -> Float[Array, " size"]:
    """The empirical distribution of a data set: log (rows equal to x / n) of every state x.

    Args:
        x: data [n, dim].
        space: small enough to be listed.

    Returns:
        The log frequencies [size], -inf of states that do not occur.

    Example:
        >>> import jax.numpy as jnp
        >>> from aloex import exact, spaces
        >>> x = jnp.array([[0, 0], [0, 1], [0, 1], [1, 1]])
        >>> [round(float(p), 3) for p in jnp.exp(exact.log_frequencies(x, spaces.Bits(2)))]
        [0.25, 0.5, 0.0, 0.25]
    """
    counts = jnp.zeros(space.size).at[jax.vmap(space.index)(x)].add(1)
    return jnp.log(counts / x.shape[0])


def site_matrix(
    space: Space, log_conditional: Callable[[Array], Array], i: int
) -> Float[Array, "size size"]:
    """The transition matrix that redraws site i with log probabilities `log_conditional(x)`.

    K[x, x'] = exp log_conditional(x)[x'_i] where x' differs from x at site i at most, else 0.

    Args:
        space: small enough to be listed.
        log_conditional: a function of x [dim] that gives log probabilities [num_values].
        i: the site.

    Returns:
        The matrix [size, size], in the order of `space.enumerate()`.

    Example:
        >>> import jax.numpy as jnp
        >>> from aloex import exact, spaces
        >>> fair = lambda x: jnp.log(jnp.array([0.5, 0.5]))
        >>> exact.site_matrix(spaces.Bits(2), fair, 0)[0].round(3).tolist()  # from 00 to 00 or 10
        [0.5, 0.0, 0.5, 0.0]
    """
    states = space.enumerate()
    log_probs = jax.vmap(log_conditional)(states)
    values = jnp.arange(space.num_values, dtype=states.dtype)
    to = jax.vmap(lambda x: jax.vmap(lambda v: space.index(x.at[i].set(v)))(values))(states)
    matrix = jnp.zeros((space.size, space.size), log_probs.dtype)
    return matrix.at[jnp.arange(space.size)[:, None], to].set(jnp.exp(log_probs))
