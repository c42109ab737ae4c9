"""What a local search does, by enumeration: its law q(x), and the trajectories behind it."""

from typing import Any, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from aloex.spaces import Space
from aloex.trajectory import Trajectory


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
