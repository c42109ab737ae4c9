"""The training loop: any learner with a `step`, on all devices, with checkpoints.

Step i is a function of the state, the seed and i alone: its batch is drawn inside the compiled
program with a key folded from (seed, i). Steps run in chunks that end where there is something to
log or to save. The chunk's length is an argument of one compiled loop, not part of the program, so
where chunks end changes no bit of the result, and a resumed run equals one that never stopped.
"""

import hashlib
import os
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh
from jaxtyping import Array, PyTree

from aloex.base.errors import NonFiniteLossError, Stopped, require
from aloex.base.progress import Progress
from aloex.base.signals import StopSignals
from aloex.learning.learner import Learner
from aloex.runs import devices
from aloex.runs.run_folder import RunFolder, open_run
from aloex.spaces import check_table


def fit(
    learner: Learner,
    state: PyTree,
    x: Any,
    z: Any = None,
    *,
    seed: int = 0,
    num_steps: int,
    batch_size: int = 128,
    folder: str | os.PathLike | None = None,
    resume: bool = False,
    config: dict[str, Any] | None = None,
    checkpoint_every: int = 1000,
    log_every: int = 50,
    progress: bool = True,
    on_log: Callable[[dict[str, Any]], None] | None = None,
    how_to_resume: str = "go on with --resume (resume=True in Python)",
) -> PyTree:
    """The state after `num_steps` steps on batches drawn with replacement from the data.

    Args:
        state: where to begin (`learner.init(...)`); it is copied, not used up.
        x, z: data [n, d] and, if the learner is conditional, conditions [n, c]. Or x is a stream
            of data that never repeats: a function of a key and of the batch's size that gives x, or
            x and z.
        folder: where to keep config, metrics and checkpoints (see `run_folder`).
        resume: go on with the run in `folder`.
        config: JSON values to record there; on resuming they must be the same.
        on_log: called with every row of metrics: `step`, the means of the learner's infos over
            the steps since the row before, and the `seconds` those steps took.
        how_to_resume: advice for the user who stops the run.

    Raises:
        Stopped: after SIGINT or SIGTERM the chunk is finished and saved first. A second SIGINT
            interrupts at once. Neither happens outside the main thread.
        NonFiniteLossError: a quantity or the state is no longer finite; nothing of it is saved.
    """
    stream = x if callable(x) else None
    x, z = (None, None) if stream else _check_data(x, z)
    _check_settings(seed, num_steps, batch_size, checkpoint_every, log_every)
    require(folder is not None or not resume, "resume=True needs the folder of the run to resume")
    mesh = devices.mesh(batch_size) if hasattr(learner, "step_on_shard") else None
    state, run, step = devices.place(state, None), None, 0
    if folder is not None:
        config = {**(config or {}), "num_steps": num_steps, "batch_size": batch_size}
        if not stream:
            config["data"] = _fingerprint(x, z)
        run, state, step = open_run(folder, resume, state, config, seed)
    data = stream or devices.place((x, z), mesh)
    task = _Task(learner, mesh, np.array(seed, np.uint32), data, batch_size, log_every)
    state = devices.place(state, mesh)

    with StopSignals() as signals, Progress(step, num_steps, progress and devices.is_main()) as bar:
        while step < num_steps:
            start, first = time.monotonic(), step
            step = min(_next(step, log_every), _next(step, checkpoint_every), num_steps)
            bounds = np.array([first, step], np.int32)
            state, infos, finite = _run_chunk((task, bounds), state)
            row = _summary(first, step, infos, bool(finite), run)
            row["seconds"] = round(time.monotonic() - start, 3)
            bar.update(row)
            if on_log is not None and devices.is_main():
                on_log(row)
            stop = devices.any_process(signals.received) and step < num_steps
            if run is not None:
                run.append_metrics([row])  # before the checkpoint, which must not outrun the record
                if step % checkpoint_every == 0 or step == num_steps or stop:
                    run.save_checkpoint(step, state)
            if stop:
                message = f"stopped at step {step} of {num_steps}; " + _advice(run, how_to_resume)
                if devices.is_main():
                    bar.say(message)
                raise Stopped(message, step, devices.place(state, None))
    return devices.place(state, None)


class _Task(NamedTuple):
    """What stays the same from chunk to chunk."""

    learner: Any
    mesh: Mesh | None
    seed: np.ndarray
    data: tuple[Array, Array | None] | Callable[..., Any]
    batch_size: int
    max_steps: int

    def batch(self, key) -> tuple[Array, Array | None]:
        """x and z of one step."""
        if callable(self.data):
            drawn = self.data(key, self.batch_size)
            return drawn if isinstance(drawn, tuple) else (drawn, None)
        rows = jax.random.randint(key, (self.batch_size,), 0, len(self.data[0]))
        return jax.tree.map(lambda column: column[rows], self.data)


@eqx.filter_jit(donate="all-except-first")
def _run_chunk(fixed, state):
    """The state after steps bounds[0]..bounds[1] - 1, all their infos, and whether it is finite."""
    task, bounds = fixed
    step = devices.sharded_step(task.learner, task.mesh)
    arrays, static = eqx.partition(state, eqx.is_array)

    def one(i, arrays):
        key = jax.random.fold_in(jax.random.key(task.seed), i)
        key_batch, key_step = jax.random.split(key)
        state, info = step(key_step, eqx.combine(arrays, static), *task.batch(key_batch))
        return eqx.filter(state, eqx.is_array), info

    def body(i, carry):
        arrays, infos = carry
        arrays, info = one(i, arrays)
        return arrays, jax.tree.map(lambda a, b: a.at[i - bounds[0]].set(b), infos, info)

    _, shapes = jax.eval_shape(one, bounds[0], arrays)
    infos = jax.tree.map(lambda s: jnp.zeros((task.max_steps, *s.shape), s.dtype), shapes)
    arrays, infos = jax.lax.fori_loop(bounds[0], bounds[1], body, (arrays, infos))
    floats = jax.tree.leaves(eqx.filter(arrays, eqx.is_inexact_array))
    finite = jnp.all(jnp.array([jnp.all(jnp.isfinite(a)) for a in floats]))
    return eqx.combine(arrays, static), infos, finite


def _summary(first: int, last: int, infos: Any, finite: bool, run: RunFolder | None) -> dict:
    """The means over a chunk, or a `NonFiniteLossError`. A number per problem makes a list."""
    columns = {name: np.asarray(c)[: last - first] for name, c in infos._asdict().items()}
    bad = np.array([~np.isfinite(c).reshape(len(c), -1).all(axis=1) for c in columns.values()])
    if bad.any():
        step = int(bad.any(axis=0).argmax())
        name = list(columns)[int(bad[:, step].argmax())]
        raise NonFiniteLossError(
            f"{name} became {columns[name][step]} at step {first + step + 1}; {_last_good(run)}"
        )
    if not finite:
        raise NonFiniteLossError(
            f"a parameter became NaN or infinite in steps {first + 1} to {last}, while the "
            f"losses were still finite; {_last_good(run)}"
        )
    return {"step": last, **{name: np.mean(c, axis=0).tolist() for name, c in columns.items()}}


def _last_good(run: RunFolder | None) -> str:
    advice = "try a smaller learning rate"
    step = None if run is None else run.latest_step()
    if run is None or step is None:
        return f"no checkpoint was saved before; {advice}"
    return f"the last good checkpoint is {run.checkpoint(step)}; {advice}"


def _advice(run: RunFolder | None, how_to_resume: str) -> str:
    if run is None:
        return "there is no folder, so nothing was saved"
    return f"{how_to_resume} in the folder {run.path}"


def _next(step: int, every: int) -> int:
    """The next multiple of `every` after `step`."""
    return (step // every + 1) * every


def _fingerprint(x: np.ndarray, z: np.ndarray | None) -> str:
    """Tells one data set from another, so that a run is not resumed on other data."""
    parts = [a for a in (x, z) if a is not None]
    text = b"".join(repr(a.shape).encode() + np.ascontiguousarray(a).tobytes() for a in parts)
    return hashlib.sha256(text).hexdigest()[:16]


def _check_data(x: Any, z: Any) -> tuple[np.ndarray, np.ndarray | None]:
    x = check_table(x, "x")
    if z is None:
        return x.astype(np.int32), None
    z = np.asarray(z)
    require(
        z.ndim >= 1 and z.shape[0] == x.shape[0],
        f"x and z must have as many rows, got shapes {x.shape} and {z.shape}",
    )
    return x.astype(np.int32), z


def _check_settings(seed, num_steps, batch_size, checkpoint_every, log_every) -> None:
    require(0 <= seed < 2**32, f"seed must be in 0..2^32 - 1, got {seed}")
    require(num_steps >= 0, f"num_steps must not be negative, got {num_steps}")
    at_least_one = {
        "batch_size": batch_size,
        "checkpoint_every": checkpoint_every,
        "log_every": log_every,
    }
    for name, value in at_least_one.items():
        require(value >= 1, f"{name} must be at least 1, got {value}")
