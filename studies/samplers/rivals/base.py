"""What a rival of the learned sampler is: something to fit to a problem, then to draw from.

    rival.fit(key, problem, budget) -> fitted
    fitted.sample(key, n) -> Draws(x [n, dim], log_weights [n] or None)
    fitted.log_z -> the rival's own estimate of log Z, or None

Settings of a rival are its fields. `budget.num_steps` counts what each rival says it counts: steps
of training, sweeps of burn-in. Weights, where there are any, have the mean Z: their log-mean-exp is
a second estimate of log Z. Draws without weights count alike; those of chains depend on each other.
Seconds of fitting and of drawing, compiling included, are for the runner to take.
"""

import time
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from aloex.base.errors import require
from studies.samplers.problems import Problem

State = TypeVar("State")


class Budget(NamedTuple):
    """When to end fitting: after so many steps, or seconds if they are over before."""

    num_steps: int
    seconds: float = float("inf")


class Draws(NamedTuple):
    """States and their log weights; None where all count alike."""

    x: Int[Array, "n dim"]
    log_weights: Float[Array, " n"] | None = None


class Fitted(Protocol):
    """What `fit` returns."""

    @property
    def log_z(self) -> float | None:
        """The rival's own estimate of log Z."""
        ...

    def sample(self, key: Key[Array, ""], n: int) -> Draws:
        """n draws."""
        ...


class Rival(Protocol):
    """Its fields are its settings."""

    def fit(self, key: Key[Array, ""], problem: Problem, budget: Budget) -> Fitted:
        """What is learned, or a chain that is burnt in."""
        ...


def train(
    key: Key[Array, ""],
    state: State,
    step: Callable[[Array, State, Array], State],
    budget: Budget,
    *,
    chunk: int = 50,
) -> State:
    """`step(key, state, time)` over and over, time going from 0 to 1; `chunk` steps a call.

    A budget of seconds shortens the run but not the schedule: time then ends before 1.
    """
    require(budget.num_steps >= 1, f"num_steps must be at least 1, got {budget.num_steps}")
    begin = time.perf_counter()
    last = max(budget.num_steps - 1, 1)

    @eqx.filter_jit
    def steps(state: Any, numbers: Array) -> Any:
        arrays, rest = eqx.partition(state, eqx.is_array)

        def one(arrays: Any, i: Array) -> tuple[Any, None]:
            after = step(jax.random.fold_in(key, i), eqx.combine(arrays, rest), i / last)
            return eqx.filter(after, eqx.is_array), None

        return eqx.combine(jax.lax.scan(one, arrays, numbers)[0], rest)

    # What is weakly typed comes out of the first call otherwise, and the second compiles again.
    strong = lambda a: jax.lax.convert_element_type(a, a.dtype) if eqx.is_inexact_array(a) else a
    state = jax.tree.map(strong, state)
    for first in range(0, budget.num_steps, chunk):
        state = steps(state, jnp.arange(first, min(first + chunk, budget.num_steps)))
        jax.block_until_ready(eqx.filter(state, eqx.is_array))
        if time.perf_counter() - begin > budget.seconds:
            break
    return state


class Chains(eqx.Module):
    """Fitted chains: x moves on by `step` between draws."""

    x: Int[Array, "chains dim"]
    step: Callable[[Array, Array], Array]  # (key, x [dim]) -> x, for one chain
    log_z: float | None = None

    def sample(self, key: Key[Array, ""], n: int) -> Draws:
        """n draws, one of every chain after each step: of all chains equally many, or one more."""
        num_rounds = -(-n // len(self.x))
        return Draws(_walk(self.step, key, self.x, num_rounds)[1].reshape(-1, self.x.shape[1])[:n])


def burnt_in(
    key: Key[Array, ""],
    problem: Problem,
    step: Callable[[Array, Array], Array],
    budget: Budget,
    num_chains: int,
) -> Chains:
    """Chains from uniform states, after as many steps as the budget has."""
    key_start, key_steps = jax.random.split(key)
    x = jax.vmap(problem.space.sample)(jax.random.split(key_start, num_chains)).astype(jnp.int32)
    move = lambda key, x, time: jax.vmap(step)(jax.random.split(key, num_chains), x)
    return Chains(train(key_steps, x, move, budget), step)


@eqx.filter_jit
def _walk(
    step: Callable[[Array, Array], Array], key: Array, x: Array, num_rounds: int
) -> tuple[Array, Array]:
    """Where chains go in some rounds, all of it."""

    def one(x: Array, key: Array) -> tuple[Array, Array]:
        x = jax.vmap(step)(jax.random.split(key, len(x)), x)
        return x, x

    return jax.lax.scan(one, x, jax.random.split(key, num_rounds))
