"""The compiled program that moves all chains: some steps, again and again, and a draw after each.

Step i of a chain has the key that belongs to the chain and to i, and all sums are taken in the
order of the steps. So where the program pauses, to show progress or to look for signals, changes
no bit of the draws.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key

from aloex.base.errors import require
from aloex.kernels import ParallelTempering
from aloex.kernels.base import num_changed
from aloex.mcmc import adapt
from aloex.mcmc.adapt import Parameter, Tuning
from aloex.mcmc.algorithm import SamplingAlgorithm

BUFFER_BYTES, BUFFER_DRAWS = 2**24, 1024  # what a run of the program may hold


class Task(NamedTuple):
    """What stays the same from step to step."""

    algorithm: SamplingAlgorithm
    parameter: Parameter | None  # that is tuned
    keys: Key[Array, " chains"]
    num_warmup: Int[Array, ""]
    keep: Callable[[Array], Any]
    functions: dict[str, Callable[[Array], Array]]


class Report(NamedTuple):
    """What happened in some steps of a chain, added up; None where the kernel does not tell."""

    num_steps: Int[Array, "*chains"]
    acceptance: Float[Array, "*chains"] | None
    hops: Int[Array, "*chains"]  # sites changed
    num_evaluations: Int[Array, "*chains"] | None
    swaps: Float[Array, "*chains pairs"] | None  # of tempering: the probabilities of swaps ...
    num_proposed_swaps: Int[Array, "*chains pairs"] | None  # ... that were proposed


class Chains(NamedTuple):
    """Where the chains are."""

    states: Any  # of the kernel
    step: Int[Array, ""]
    tuning: Tuning | None
    report: Report  # since the draw before


class Record(NamedTuple):
    """A draw of each chain."""

    kept: Any
    energy: Float[Array, "*draws chains"]
    functions: dict[str, Array]
    report: Report
    is_nan: Bool[Array, "*draws chains"]  # whether a state of the chain has an energy that is NaN


@eqx.filter_jit
def start(task: Task, states_or_x: Any, key: Key[Array, ""], *, restarts: bool) -> Chains:
    """Chains at rows of x, or at states of a kernel, whose energies are then computed anew."""
    kernel, f, z = task.algorithm.kernel, task.algorithm.f, task.algorithm.z

    def begin(key: Array, here: Any) -> Any:
        if not restarts:
            return kernel.init(key, here, f, z)
        if isinstance(kernel, ParallelTempering):  # the replicas are not all at x
            return kernel.restart(key, here, f)
        return kernel.init(key, here.x, f, z)

    states = jax.vmap(begin)(jax.random.split(key, len(task.keys)), states_or_x)
    # A number that JAX calls weak would not be one after a step, and the program compiled twice.
    is_number = lambda a: jnp.issubdtype(a.dtype, jnp.number)
    strong = lambda a: jax.lax.convert_element_type(a, a.dtype) if is_number(a) else a
    states = jax.tree.map(strong, states)
    tuning = adapt.start(kernel, task.parameter)
    nothing = jax.eval_shape(lambda s: _move(task, kernel, task.keys, s)[1], states)
    report = jax.tree.map(lambda a: jnp.zeros(a.shape, a.dtype), nothing)
    return Chains(states, jnp.zeros((), jnp.int32), tuning, report)


@eqx.filter_jit
def advance(
    task: Task,
    chains: Chains,
    num_draws: Int[Array, ""],
    steps_per_draw: Int[Array, ""],
    draws_count: Bool[Array, ""],
) -> tuple[Chains, Record]:
    """The chains after some draws, and the draws [rows, chains, ...] in a buffer's first rows.

    If the draws do not count, as in the warm-up, reports are added up across them.
    """
    shapes = jax.eval_shape(lambda c: _record(task, c), chains)
    rows = _rows(shapes)
    buffer = jax.tree.map(lambda a: jnp.zeros((rows, *a.shape), a.dtype), shapes)

    def draw(row: Any, carry: tuple[Chains, Record]) -> tuple[Chains, Record]:
        chains, buffer = carry
        chains = jax.lax.fori_loop(0, steps_per_draw, lambda _, c: _step(task, c), chains)
        record = _record(task, chains)
        buffer = jax.tree.map(lambda b, r: b.at[row].set(r), buffer, record)
        report = jax.tree.map(lambda a: jnp.where(draws_count, 0, a), chains.report)
        return chains._replace(report=report), buffer

    return jax.lax.fori_loop(0, num_draws, draw, (chains, buffer))


def tuned_kernel(task: Task, chains: Chains) -> Any:
    """The kernel that the next step uses."""
    kernel = task.algorithm.kernel
    if chains.tuning is None or task.parameter is None:
        return kernel
    value = chains.tuning.in_use(chains.step < task.num_warmup)
    return adapt.with_value(kernel, task.parameter, value)


def energies(task: Task, states: Any) -> Float[Array, "*chains"]:
    """f of the chains, which all kernels here keep in their states."""
    f, z = task.algorithm.f, task.algorithm.z
    return states.value if hasattr(states, "value") else jax.vmap(lambda x: f(x, z))(states.x)


def _step(task: Task, chains: Chains) -> Chains:
    keys = jax.vmap(lambda key: jax.random.fold_in(key, chains.step))(task.keys)
    states, report = _move(task, tuned_kernel(task, chains), keys, chains.states)
    tuning = chains.tuning
    if tuning is not None and task.parameter is not None and report.acceptance is not None:
        acceptance = report.acceptance.mean()
        tuning = adapt.update(tuning, task.parameter, acceptance, chains.step, task.num_warmup)
    return Chains(states, chains.step + 1, tuning, jax.tree.map(jnp.add, chains.report, report))


def _move(task: Task, kernel: Any, keys: Array, states: Any) -> tuple[Any, Report]:
    """One step of all chains."""

    def move(key: Array, state: Any) -> tuple[Any, Report]:
        after, info = kernel.step(key, state, task.algorithm.f)
        swaps = getattr(info, "swap_acceptance", None)
        proposed = None if swaps is None else info.swap_proposed.astype(jnp.int32)
        count = getattr(info, "num_evaluations", None)
        hops, one = num_changed(state.x, after.x), jnp.ones((), jnp.int32)
        return after, Report(one, acceptance(info), hops, count, swaps, proposed)

    return jax.vmap(move)(keys, states)


def acceptance(info: Any) -> Float[Array, "*n"] | None:
    """The mean probability of acceptance in a step; of tempering that of the coldest replica."""
    if hasattr(info, "acceptance"):
        return info.acceptance
    if hasattr(info, "swap_acceptance"):
        of_replicas = acceptance(info.kernel)
        return None if of_replicas is None else of_replicas[-1].mean()
    of_parts = [acceptance(part) for part in getattr(info, "kernels", ())]
    known = [a for a in of_parts if a is not None]
    return sum(known[1:], known[0]) / len(known) if known else None


def _record(task: Task, chains: Chains) -> Record:
    x, report = chains.states.x, chains.report
    functions = {name: jax.vmap(g)(x) for name, g in task.functions.items()}
    for name, values in functions.items():
        require(
            values.ndim == 1,
            f"a function of x must return one number, got shape {values.shape[1:]} from {name!r}; "
            "keep=... keeps what is more",
        )
    energy = energies(task, chains.states)
    is_nan = is_nan_at(task, replicas_of(chains.states)).reshape(len(x), -1).any(axis=1)
    return Record(jax.vmap(task.keep)(x), energy, functions, report, is_nan)


def replicas_of(states: Any) -> Any:
    """States [chains], of tempering [chains, replicas].

    A replica whose energy is NaN is never swapped, so that it would not show in the coldest.
    """
    return getattr(states, "replicas", states)


def is_nan_at(task: Task, states: Any) -> Bool[Array, "*chains"]:
    """Whether f is NaN at a state, or its differences are, by no infinity of f."""
    value = energies(task, states)
    if not hasattr(states, "differences"):
        return jnp.isnan(value)
    differences = jnp.isnan(states.differences).any(axis=(-2, -1))
    return jnp.isnan(value) | (differences & ~jnp.isneginf(value))


def _rows(record: Any) -> int:
    num_bytes = sum(a.size * a.dtype.itemsize for a in jax.tree.leaves(record))
    return int(np.clip(BUFFER_BYTES // num_bytes, 1, BUFFER_DRAWS))
