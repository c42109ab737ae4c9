"""The training loop: any learner with a `step`, any source of data, on all devices, resumable.

Step i is a function of the state, the seed and i alone: its batch is drawn inside the compiled
program with a key folded from (seed, i), or made by the host for step i. So where the loop pauses
to log, to save or to look for signals changes no bit of the result, and a resumed run equals one
that never stopped.
"""

import operator
import os
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from aloex.base.errors import InputError, NonFiniteLossError, Stopped, require
from aloex.base.progress import Progress
from aloex.base.signals import StopSignals
from aloex.learning.chunks import DeviceRunner, Done, HostRunner, Runner, Task
from aloex.learning.data.batches import HostBatches, batches_of_table
from aloex.learning.data.tables import check_data, fingerprint
from aloex.learning.learner import Learner
from aloex.runs import devices
from aloex.runs.run_folder import RunFolder, open_run, recorded_steps

TIME_IS_UP = 1  # beside the numbers of SIGINT and SIGTERM, why a run stops

State = TypeVar("State")  # of a learner, a tree of arrays


def fit(
    learner: Learner,
    state: State,
    x: Any,
    z: Any = None,
    *,
    seed: int = 0,
    num_steps: int | None = None,
    batch_size: int = 128,
    folder: str | os.PathLike[str] | None = None,
    resume: bool = False,
    config: dict[str, Any] | None = None,
    checkpoint_every: int = 1000,
    log_every: int = 50,
    max_seconds: float | None = None,
    progress: bool = True,
    on_log: Callable[[dict[str, Any]], None] | None = None,
    how_to_resume: str = "go on with --resume (resume=True in Python)",
) -> State:
    """The state after `num_steps` steps on batches drawn with replacement from the data.

    Args:
        learner, state: such as `ALOE`, and where to begin (`learner.init(...)`), which is copied.
        x, z: data [n, d] and, if the learner is conditional, conditions [n, c]; a memory-mapped
            table (`np.load(path, mmap_mode="r")`) stays on the disk. Or x is a stream of data that
            never repeats: a function of a key and of the batch's size that gives x, or x and z. Or
            x is `HostBatches`, which the host makes.
        num_steps: the length of the run; None takes that of the run that is resumed.
        folder: where to keep config, metrics and checkpoints (see `run_folder`).
        resume: go on with the run in `folder`; where there is none, start it.
        config: JSON values to record there; on resuming they must be the same.
        max_seconds: when to save and stop.
        on_log: called with every row of metrics: `step`, the means of the learner's infos over
            the steps since the row before, and the `seconds` those steps took (of which
            `waited` for batches of the host).
        how_to_resume: advice for the user who stops the run.

    Returns:
        The state after the last step, of the structure of `state`.

    Raises:
        Stopped: after SIGINT, SIGTERM or `max_seconds`; the steps that run are finished and saved
            first. A second SIGINT interrupts at once. Only the main thread notices signals.
        NonFiniteLossError: a quantity or the state is no longer finite; nothing of it is saved.

    Example:
        >>> from aloex import baselines, learning, samplers, spaces
        >>> learner = baselines.MaximumLikelihood()
        >>> state = learner.init(samplers.Factorized(spaces.Bits(2)))
        >>> state = learning.fit(learner, state, [[0, 1]], num_steps=3, progress=False)
        >>> int(state.step)
        3
    """
    length = _length(num_steps, folder, resume)
    numbers = {"num_steps": length, "seed": seed, "batch_size": batch_size}
    numbers |= {"checkpoint_every": checkpoint_every, "log_every": log_every}
    num_steps, seed, batch_size, checkpoint_every, log_every = _check_numbers(numbers)
    x, z, about = _check_source(x, z, seed, batch_size, recorded=folder is not None)
    config = {**(config or {}), "num_steps": num_steps, "batch_size": batch_size, **about}
    mesh = devices.mesh(batch_size) if hasattr(learner, "step_on_shard") else None
    task = Task(learner, mesh, np.array(seed, np.uint32), batch_size, max_steps=log_every)
    state, run, step = devices.put_on_devices(state, None), None, 0

    with ExitStack() as stack:
        if folder is not None:
            opened = open_run(folder, resume, state, config, seed)
            run, state, step = stack.enter_context(opened)
        bar = Progress(step, num_steps, progress and devices.is_main())
        loop = _Loop(
            runner=_runner(task, x, z, step, stack),
            run=run,
            bar=stack.enter_context(bar),
            num_steps=num_steps,
            checkpoint_every=checkpoint_every,
            log_every=log_every,
            deadline=float("inf") if max_seconds is None else time.monotonic() + max_seconds,
            on_log=on_log,
            how_to_resume=how_to_resume,
        )
        state = loop.run_from(step, devices.put_on_devices(state, mesh))
    return devices.put_on_devices(state, None)


def _length(num_steps: int | None, folder: str | os.PathLike[str] | None, resume: bool) -> int:
    """The number of steps that was given, or else that of the run to resume."""
    require(folder is not None or not resume, "resume=True needs the folder of the run to resume")
    if num_steps is None and resume and folder is not None:
        num_steps = recorded_steps(folder)
    if num_steps is None:
        raise InputError("num_steps must be given: there is no run to take it from")
    return num_steps


def _check_source(
    x: Any, z: Any, seed: int, batch_size: int, *, recorded: bool
) -> tuple[Any, Any, dict[str, Any]]:
    """The data, checked, as batches of the host if they are on the disk; and what to record."""
    if callable(x) or isinstance(x, HostBatches):
        return x, z, {}
    x, z = check_data(x, z)
    about = {"data": fingerprint(x, z)} if recorded else {}
    if isinstance(x, np.memmap):
        x = batches_of_table(x, z, seed=seed, batch_size=batch_size)
    return x, z, about


def _runner(task: Task, x: Any, z: Any, step: int, stack: ExitStack) -> Runner:
    """What runs the steps, on batches that the host or the device makes."""
    if isinstance(x, HostBatches):
        return HostRunner(task, stack.enter_context(x.start(step)))
    data = x if callable(x) else devices.put_on_devices((x, z), task.mesh)
    return DeviceRunner(task._replace(data=data))


@dataclass
class _Loop:
    """Runs steps, and between them logs, saves and looks for signals."""

    runner: Runner
    run: RunFolder | None
    bar: Progress
    num_steps: int
    checkpoint_every: int
    log_every: int
    deadline: float
    on_log: Callable[[dict[str, Any]], None] | None
    how_to_resume: str

    def __post_init__(self):
        self.signals = StopSignals(on_first=self._say_stopping)

    def run_from(self, step: int, state: State) -> State:
        """The state after the last step."""
        with self.signals:
            while step < self.num_steps:
                start, first = time.monotonic(), step
                nexts = _next(step, self.log_every), _next(step, self.checkpoint_every)
                last = min(*nexts, self.num_steps)
                done = self.runner.run(first, last, state, lambda: self._why_stop() > 0)
                state, step = done.state, done.step
                self._log(first, done, time.monotonic() - start)
                why = devices.highest(self._why_stop()) if step < self.num_steps else 0
                if self.run is not None:
                    is_due = step % self.checkpoint_every == 0 or step == self.num_steps
                    if is_due or why:
                        self.run.checkpoints.save(step, state)
                if why:
                    raise self._stopped(step, state, why)
        return state

    def _why_stop(self) -> int:
        """The number of the signal that came, or TIME_IS_UP, or 0."""
        return self.signals.number or (TIME_IS_UP if time.monotonic() >= self.deadline else 0)

    def _log(self, first: int, done: Done, seconds: float) -> None:
        row = _summary(first, done, self.run)
        if done.waited is not None:
            row["waited"] = round(done.waited, 3)
        row["seconds"] = round(seconds, 3)
        self.bar.update(row)
        if self.on_log is not None and devices.is_main():
            self.on_log(row)
        if self.run is not None:  # before the checkpoint, which must not outrun the record
            self.run.append_metrics([row])

    def _say_stopping(self) -> None:
        if devices.is_main():
            self.bar.say("stopping after the steps that run now; Ctrl-C again stops without saving")

    def _stopped(self, step: int, state: Any, why: int) -> Stopped:
        advice = "there is no folder, so nothing was saved"
        if self.run is not None:
            advice = f"{self.how_to_resume} in the folder {self.run.path}"
        message = f"stopped at step {step} of {self.num_steps}; {advice}"
        self.signals.wait_for_on_first()
        if devices.is_main():
            self.bar.say(message)
        number = None if why == TIME_IS_UP else why
        return Stopped(message, step, devices.put_on_devices(state, None), number)


def _summary(first: int, done: Done, run: RunFolder | None) -> dict[str, Any]:
    """The means over some steps, or a `NonFiniteLossError`. A number per problem makes a list."""
    columns = done.infos
    bad = np.array([~np.isfinite(c).reshape(len(c), -1).all(axis=1) for c in columns.values()])
    if bad.any():
        step = int(bad.any(axis=0).argmax())
        name = list(columns)[int(bad[:, step].argmax())]
        raise NonFiniteLossError(
            f"{name} became {columns[name][step]} at step {first + step + 1}; {_last_good(run)}"
        )
    if not done.finite:
        raise NonFiniteLossError(
            f"a parameter became NaN or infinite in steps {first + 1} to {done.step}, while the "
            f"losses were still finite; {_last_good(run)}"
        )
    means = {name: np.mean(c, axis=0).tolist() for name, c in columns.items()}
    return {"step": done.step, **means}


def _last_good(run: RunFolder | None) -> str:
    advice = "try a smaller learning rate"
    step = None if run is None else run.checkpoints.latest()
    if run is None or step is None:
        return f"no checkpoint was saved before; {advice}"
    return f"the last good checkpoint is {run.checkpoints.folder(step)}; {advice}"


def _next(step: int, every: int) -> int:
    """The next multiple of `every` after `step`."""
    return (step // every + 1) * every


def _check_numbers(numbers: dict[str, Any]) -> list[int]:
    """The settings as Python's integers, or an `InputError`."""
    found = []
    for name, value in numbers.items():
        try:
            number = operator.index(value)
        except TypeError:
            raise InputError(f"{name} must be a whole number, got {value!r}") from None
        if name == "seed":
            require(0 <= number < 2**32, f"seed must be in 0..2^32 - 1, got {number}")
        elif name == "num_steps":
            require(number >= 0, f"num_steps must not be negative, got {number}")
        else:
            require(number >= 1, f"{name} must be at least 1, got {number}")
        found.append(number)
    return found
