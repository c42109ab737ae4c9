"""What kernels share that look at all single-site changes of x before they propose one.

Such proposals are called locally informed (Zanella 2020). The state keeps f(x) and the table of
`aloex.differences`, so that each state is evaluated once.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.core import Tracer
from jax.typing import DTypeLike
from jaxtyping import Array, Float, Int, Key

from aloex.base.errors import require
from aloex.cursor import Energy, check_energy
from aloex.differences import How, value_and_differences
from aloex.kernels import metropolis_hastings as mh
from aloex.kernels.base import check_possible, checked_state, num_changed
from aloex.kernels.metropolis_hastings import MetropolisInfo
from aloex.spaces import Space


class InformedState(NamedTuple):
    x: Int[Array, " dim"]
    z: Array | None
    value: Float[Array, ""]  # f(x, z)
    differences: Float[Array, "dim values"]


LogLaw = Callable[[InformedState, Array], Float[Array, ""]]  # log q(x' | x)


def start(
    f: Energy, space: Space, x: Int[Array, " dim"], z: Array | None, how: How
) -> InformedState:
    """The state of a chain at x, checked."""
    state = look_around(f, space, checked_state(space, x), z, how)
    check_energy(state.value)
    check_possible(state.value)
    if not isinstance(state.differences, Tracer):
        require(
            not bool(jnp.isnan(state.differences).any()),
            "the differences of the energy at the first state are NaN; begin where the energy is "
            "finite, and mend its gradient or use differences='exact'",
        )
    return state


def look_around(
    f: Energy, space: Space, x: Int[Array, " dim"], z: Array | None, how: How
) -> InformedState:
    """The state of a chain at x: f and its differences."""
    return InformedState(x, z, *value_and_differences(f, space, x, z, how=how))


def half_differences(state: InformedState) -> Float[Array, "dim values"]:
    """(f(x with x_i = v) - f(x)) / 2: the square root of a ratio of probabilities is its exp.

    NaN becomes a large number, so that the chain goes there and it is found.
    """
    large = jnp.finfo(state.differences.dtype).max / 4
    return jnp.where(jnp.isnan(state.differences), large, state.differences) / 2


def draw_sites(
    key: Key[Array, ""], scores: Float[Array, "n values"], dtype: DTypeLike
) -> Int[Array, " n"]:
    """A value for each of n independent sites, with probabilities softmax(scores)."""
    if scores.shape[1] > 2:
        return jax.random.categorical(key, scores, axis=1).astype(dtype)
    # Half the random numbers. 1 - u lies in (0, 1]: what has probability 0 is never drawn.
    u = jax.random.uniform(key, scores.shape[:1], scores.dtype)
    return (1 - u <= jax.nn.sigmoid(scores[:, 1] - scores[:, 0])).astype(dtype)


def log_ratio(log_q: LogLaw, current: InformedState, proposed: InformedState) -> Float[Array, ""]:
    """f(x') - f(x) + log q(x | x') - log q(x' | x)."""
    there, back = log_q(current, proposed.x), log_q(proposed, current.x)
    return not_hiding_nan(proposed.value - current.value + back - there, proposed)


def not_hiding_nan(log_ratio: Float[Array, ""], proposed: InformedState) -> Float[Array, ""]:
    """The ratio, or infinity where differences are NaN: go there, so that it is found.

    What is NaN draws all proposals, so that none would lead back and the test refuse to go. Where f
    is -inf its neighbours may be so, too, and the differences NaN for no fault of f.
    """
    is_nan = jnp.isnan(proposed.differences).any() & ~jnp.isneginf(proposed.value)
    return jnp.where(is_nan, jnp.inf, log_ratio)


def info(
    acceptance: Float[Array, ""], before: InformedState, after: InformedState, num_evaluations: int
) -> MetropolisInfo:
    """What there is to say about a step."""
    count = jnp.asarray(num_evaluations, jnp.int32)
    return MetropolisInfo(acceptance, num_changed(before.x, after.x), count)


def log_proposals(
    log_q: LogLaw, f: Energy, space: Space, z: Array | None, how: How
) -> Float[Array, "size size"]:
    """log q(x' | x) of all pairs of states."""
    row = lambda state: jax.vmap(lambda x_next: log_q(state, x_next))(space.enumerate())
    return jax.vmap(lambda x: row(look_around(f, space, x, z, how)))(space.enumerate())


def transition_matrix(
    log_q: LogLaw, f: Energy, space: Space, z: Array | None, how: How
) -> Float[Array, "size size"]:
    """The matrix of a proposal with its test, by enumeration."""
    look = lambda x: look_around(f, space, x, z, how)
    ratio = lambda x, x_next: log_ratio(log_q, look(x), look(x_next))
    ratios = jax.vmap(lambda x: jax.vmap(lambda y: ratio(x, y))(space.enumerate()))
    values = jax.vmap(lambda x: look(x).value)(space.enumerate())
    log_qs = log_proposals(log_q, f, space, z, how)
    return mh.transition_matrix(log_qs, ratios(space.enumerate()), values)
