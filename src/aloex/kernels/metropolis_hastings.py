"""The Metropolis-Hastings test: a proposal x' ~ q(x' | x) is accepted with probability

    min(1, exp(f(x') - f(x)) q(x | x') / q(x' | x)),

else the chain stays (Hastings 1970). `accept` draws that, `transition_matrix` lists it.

A chain that stands where f is -inf accepts everything. One that is offered a state whose energy is
NaN moves there and stays, so that NaN is found.
"""

from typing import Any, NamedTuple, TypeVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Key

State = TypeVar("State", bound=Any)  # a NamedTuple with `x` and `value`


class MetropolisInfo(NamedTuple):
    acceptance: Float[Array, ""]  # the probability with which the proposal was accepted
    num_changed: Int[Array, ""]  # sites that differ after the step
    num_evaluations: Int[Array, ""]  # of f


def accept(
    key: Key[Array, ""], log_ratio: Float[Array, ""], current: State, proposed: State
) -> tuple[State, Float[Array, ""]]:
    """Where the chain is after the test, and the probability of the proposal to be accepted."""
    probability = acceptance(log_ratio, current.value, proposed.value)
    # 1 - u lies in (0, 1]: what has probability 0 never happens, nor does u = 0 let all pass.
    accepted = 1 - jax.random.uniform(key, (), probability.dtype) <= probability
    return select(accepted, proposed, current), probability


def select(condition: Bool[Array, ""], if_true: State, if_false: State) -> State:
    """One of two states."""
    return jax.tree.map(lambda a, b: jnp.where(condition, a, b), if_true, if_false)


def acceptance(
    log_ratio: Float[Array, "*n"], current: Float[Array, "*n"], proposed: Float[Array, "*n"]
) -> Float[Array, "*n"]:
    """The probability of acceptance, given the energies of both states as well."""
    probability = jnp.exp(jnp.minimum(log_ratio, 0))
    # inf - inf where a proposal cannot be undone, or cannot have been made.
    probability = jnp.where(jnp.isnan(probability), 0, probability)
    probability = jnp.where(jnp.isnan(proposed) | jnp.isneginf(current), 1, probability)
    return jnp.where(jnp.isnan(current), 0, probability)


def transition_matrix(
    log_q: Float[Array, "size size"],
    log_ratio: Float[Array, "size size"],
    values: Float[Array, " size"],
) -> Float[Array, "size size"]:
    """The matrix of proposals log q(x' | x) that are accepted by the log ratios of x and x'."""
    q = jnp.exp(log_q)
    current, proposed = jnp.broadcast_arrays(values[:, None], values[None, :])
    moved = q * acceptance(log_ratio, current, proposed)
    return moved + jnp.diag(jnp.sum(q - moved, axis=1))
