"""The oracle: exact answers by enumeration on small spaces, and log Z of an MLP over 2^32 states.

Run it inside `float64()`, with models passed through `to_float64`, when rounding matters.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, Literal, Protocol, TypeVar, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from aloex.base.errors import InputError, require
from aloex.cursor import Energy, Incremental
from aloex.spaces import Bits, Space
from aloex.trajectory import Trajectory

Model = TypeVar("Model")  # a tree of arrays


@contextmanager
def float64() -> Generator[None]:
    """Double precision inside the block.

    Returns:
        A context manager.

    Example:
        >>> import jax.numpy as jnp
        >>> from aloex import exact
        >>> with exact.float64():
        ...     print(jnp.ones(2).dtype)
        float64
    """
    with jax.enable_x64(True):
        yield


def to_float64(model: Model) -> Model:
    """The same model with every floating-point array in double precision.

    Args:
        model: any tree of arrays, of any shapes.

    Returns:
        A tree of the same structure.

    Example:
        >>> import jax.numpy as jnp
        >>> from aloex import exact
        >>> with exact.float64():
        ...     print(exact.to_float64({"w": jnp.zeros(2, jnp.float32)})["w"].dtype)
        float64
    """
    is_float = eqx.is_inexact_array
    return jax.tree.map(lambda a: a.astype(jnp.float64) if is_float(a) else a, model)


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


@runtime_checkable
class Search(Protocol):
    """What `log_marginal` asks of a q: the parts of a `samplers.LocalSearch`.

    Example:
        >>> from aloex import exact, samplers, spaces
        >>> isinstance(samplers.LocalSearch(samplers.Factorized(spaces.Bits(2))), exact.Search)
        True
    """

    @property
    def q0(self) -> Any: ...
    @property
    def editor(self) -> Any: ...
    @property
    def stop(self) -> Any: ...
    @property
    def max_edits(self) -> int: ...


def log_marginal(q: Search, space: Space, z: Array | None = None) -> Float[Array, " size"]:
    """log q(x | z) of every state (Eq. prob_q), for a local search by single-site edits.

    The sum over trajectories is a product of matrices: searches still running at x after i edits
    are stopped by q_stop or moved by q_A, and all that are left stop after max_edits. It can be
    differentiated with respect to q.

    Args:
        q: a `samplers.LocalSearch`.
        space: small enough to be listed.
        z: the condition, if q has one.

    Returns:
        The log probabilities [size], in the order of `space.enumerate()`.

    Example:
        >>> import jax, jax.numpy as jnp
        >>> from aloex import exact, samplers, spaces
        >>> space = spaces.Bits(2)
        >>> editor = samplers.Flip(space, hidden=(), key=jax.random.key(0))
        >>> stop = lambda x, z=None: jnp.array(0.0)  # half the time
        >>> q = samplers.LocalSearch(samplers.Factorized(space), editor, stop, max_edits=1)
        >>> log_q = jax.jit(lambda: exact.log_marginal(q, space))()
        >>> round(float(jnp.exp(log_q).sum()), 3)
        1.0
    """
    states = space.enumerate()
    running = jnp.exp(jax.vmap(lambda x: q.q0.log_prob(x, z))(states))
    if q.max_edits == 0:
        return jnp.log(running)
    neighbours = jax.vmap(space.neighbours)(states)
    log_edit = jax.vmap(lambda x, others: jax.vmap(lambda y: q.editor.log_prob(x, y, z))(others))(
        states, neighbours
    )
    to = jax.vmap(jax.vmap(space.index))(neighbours)
    stop = jax.nn.sigmoid(jax.vmap(lambda x: q.stop(x, z))(states))
    stopped = jnp.zeros_like(running)
    for _ in range(q.max_edits):
        stopped = stopped + running * stop
        moves = (running * (1 - stop))[:, None] * jnp.exp(log_edit)
        running = jnp.zeros_like(running).at[to].add(moves)
    return jnp.log(stopped + running)


def trajectories(space: Space, x: Int[Array, " dim"], max_edits: int) -> Trajectory:
    """Every trajectory of at most `max_edits` single-site edits that ends in x.

    Args:
        space: of x.
        x: the end [dim].
        max_edits: the most edits, 0 or more.

    Returns:
        A batch of n trajectories, their states [n, max_edits + 1, dim].

    Example:
        >>> import jax.numpy as jnp
        >>> from aloex import exact, spaces
        >>> found = exact.trajectories(spaces.Bits(2), jnp.array([0, 1]), max_edits=1)
        >>> found.first.tolist(), found.num_edits.tolist()
        ([[0, 1], [1, 1], [0, 0]], [0, 1, 1])
    """
    paths = [[np.asarray(x)]]
    found = list(paths)
    for _ in range(max_edits):
        paths = [
            [np.asarray(y), *path] for path in paths for y in space.neighbours(jnp.asarray(path[0]))
        ]
        found += paths
    padded = [path + [path[-1]] * (max_edits + 1 - len(path)) for path in found]
    return Trajectory(jnp.asarray(np.array(padded)), jnp.array([len(p) - 1 for p in found]))


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
