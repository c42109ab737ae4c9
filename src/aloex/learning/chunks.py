"""How `fit` runs some steps: inside one compiled program, or one by one with batches of the host.

Both run the steps first..last - 1, or fewer if `stop()` turns true.
"""

import time
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh
from jax.typing import ArrayLike
from jaxtyping import Array, Bool

from aloex.learning.data.batches import Feed, rows_of, step_keys
from aloex.runs import devices

SECONDS = 0.5  # that a chunk should take, so that a signal is answered soon

State = TypeVar("State")  # of a learner, a tree of arrays


class Done(NamedTuple):
    """What came of some steps."""

    state: Any
    infos: dict[str, np.ndarray]  # of each step, by name
    step: int
    finite: bool  # whether every number of the state is
    waited: float | None = None  # seconds that the device had no batch of the host


class Task(NamedTuple):
    """What stays the same from step to step."""

    learner: Any
    mesh: Mesh | None
    seed: np.ndarray
    batch_size: int
    data: Any = None  # a table (x, z) on the devices, a stream, or None for batches of the host
    max_steps: int = 1

    def batch(self, key: Array) -> tuple[Any, Any]:
        """x and z of one step, inside the compiled program."""
        if callable(self.data):
            drawn = self.data(key, self.batch_size)
            return drawn if isinstance(drawn, tuple) else (drawn, None)
        rows = rows_of(key, self.batch_size, len(self.data[0]))
        return jax.tree.map(lambda column: column[rows], self.data)


class DeviceRunner:
    """Steps run in one compiled loop whose bounds are arguments, in chunks of half a second.

    Where chunks end changes no bit of the result, because they all run the same program.
    """

    def __init__(self, task: Task):
        self.task, self.num_chunks, self.seconds_per_step = task, 0, SECONDS

    def run(self, first: int, last: int, state: Any, stop: Callable[[], bool]) -> Done:
        parts, finite, step = [], True, first
        while step < last and not (parts and stop()):
            began, end = time.monotonic(), min(last, step + self._length())
            bounds = np.array([step, end], np.int32)
            state, infos, is_finite = _run_chunk((self.task, bounds), state)
            finite = bool(is_finite) and finite
            parts.append({n: np.asarray(c)[: end - step] for n, c in infos._asdict().items()})
            if self.num_chunks > 0:  # the first waits for the compiler
                self.seconds_per_step = (time.monotonic() - began) / (end - step)
            self.num_chunks += 1
            step = end
        joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        return Done(state, joined, step, finite)

    def _length(self) -> int:
        """Steps of the next chunk; several processes must agree, so theirs has all."""
        if jax.process_count() > 1:
            return self.task.max_steps
        return max(1, min(self.task.max_steps, int(SECONDS / max(self.seconds_per_step, 1e-9))))


class HostRunner:
    """Steps run one by one, each with a batch that the host has made."""

    def __init__(self, task: Task, feed: Feed):
        self.task, self.feed = task, feed

    def run(self, first: int, last: int, state: Any, stop: Callable[[], bool]) -> Done:
        infos, step, waited = [], first, self.feed.waited
        agreed = jax.process_count() > 1  # several processes stop together, after the last step
        while step < last and not (infos and not agreed and stop()):
            batch = self.feed.take(step, state)
            if self.task.mesh is not None:
                batch = devices.put_on_devices(batch, self.task.mesh)
            state, info = _run_step((self.task, np.int32(step), batch), state)
            infos.append(info)
            step += 1
        infos = jax.device_get(infos)
        joined = {name: np.array([getattr(i, name) for i in infos]) for name in infos[0]._fields}
        return Done(state, joined, step, bool(_is_finite(state)), self.feed.waited - waited)


Runner = DeviceRunner | HostRunner


@eqx.filter_jit(donate="all-except-first")
def _run_step(fixed: tuple[Task, ArrayLike, tuple[Any, Any]], state: State) -> tuple[State, Any]:
    task, i, batch = fixed
    step = devices.sharded_step(task.learner, task.mesh)
    return step(step_keys(task.seed, i)[1], state, *batch)


@eqx.filter_jit(donate="all-except-first")
def _run_chunk(fixed: tuple[Task, Array | np.ndarray], state: State) -> tuple[State, Any, Array]:
    """The state after steps bounds[0]..bounds[1] - 1, all their infos, and whether it is finite."""
    task, bounds = fixed
    step = devices.sharded_step(task.learner, task.mesh)
    arrays, static = eqx.partition(state, eqx.is_array)

    def one(i: Any, arrays: Any) -> tuple[Any, Any]:
        key_batch, key_step = step_keys(task.seed, i)
        state, info = step(key_step, eqx.combine(arrays, static), *task.batch(key_batch))
        return eqx.filter(state, eqx.is_array), info

    def body(i: Any, carry: tuple[Any, Any]) -> tuple[Any, Any]:
        arrays, infos = carry
        arrays, info = one(i, arrays)
        return arrays, jax.tree.map(lambda a, b: a.at[i - bounds[0]].set(b), infos, info)

    _, shapes = jax.eval_shape(one, bounds[0], arrays)
    infos = jax.tree.map(lambda s: jnp.zeros((task.max_steps, *s.shape), s.dtype), shapes)
    arrays, infos = jax.lax.fori_loop(bounds[0], bounds[1], body, (arrays, infos))
    return eqx.combine(arrays, static), infos, _all_finite(arrays)


@eqx.filter_jit
def _is_finite(state: Any) -> Bool[Array, ""]:
    return _all_finite(state)


def _all_finite(tree: Any) -> Bool[Array, ""]:
    floats = jax.tree.leaves(eqx.filter(tree, eqx.is_inexact_array))
    return jnp.all(jnp.array([jnp.all(jnp.isfinite(a)) for a in floats]))
