"""Learn the energy by ALOE, with the version space as its sampler.

A step takes new tasks. In each the version space of the public examples holds the task's own
program, and very many that fit as well and are wrong. The energy is raised on the former and
lowered on draws of p_f from the space (Eq. mle). As f is a sum over expressions, the space draws
from p_f exactly: the q that ALOE's power iterations lead to is at hand, and nothing is left to
learn but f. Draws that do not apply to an input at hand are rejected, as every input of a task has
an output.
"""

import time
from pathlib import Path
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from aloex.apps.fill.energy import net
from aloex.apps.fill.energy.contrast import Contrast, stacked
from aloex.apps.fill.tasks.processes import processes
from aloex.apps.fill.tasks.tasks import generate
from aloex.base.errors import NonFiniteLossError, Stopped, require
from aloex.base.progress import Progress
from aloex.base.signals import StopSignals
from aloex.learning.updates import apply_gradients, clipped_adam, moving_average
from aloex.runs.run_folder import RunFolder, open_run

LOG_EVERY, CHECKPOINT_EVERY = 10, 100
FIRST_SEED, SEEDS = 1_000_000, 1_000_000  # of tasks, far from those of the frozen sets
DECAY = 0.99


class State(NamedTuple):
    weights: Any
    average: Any  # of the weights over the last steps
    optimizer: Any
    step: Any


def slope(weights: net.Weights, batch: Contrast):
    """The mean of f on data less that on negatives, with the sign of a loss."""
    values = net.apply(weights, "position", batch.positions)[..., 0]
    of_task = net.apply(weights, "task", batch.task)
    f = jnp.sum(values * batch.uses, axis=-1) + jnp.sum(of_task * batch.kinds, axis=-1)
    return -jnp.mean(f)


def train(
    folder: Path,
    *,
    num_steps: int = 1000,
    batch_size: int = 64,
    num_neg: int = 4,
    learning_rate: float = 3e-3,
    seed: int = 0,
    resume: bool = False,
    seconds: float | None = None,
    jobs: int = 1,
    progress: bool = True,
) -> Path | None:
    """Train in a new run folder, or go on there; the model file, or None if `seconds` ran out.

    Step i is a function of the weights, the seed and i, for any number of `jobs` (processes).
    """
    require(0 <= seed < SEEDS, f"the seed must be from 0 to {SEEDS - 1}, got {seed}")
    settings = {"batch_size": batch_size, "num_neg": num_neg, "learning_rate": learning_rate}
    settings |= {"num_steps": num_steps}
    optimizer = clipped_adam(learning_rate, num_steps=num_steps)
    weights = jax.tree.map(jnp.asarray, net.init(seed))
    state = State(weights, weights, optimizer.init(weights), jnp.zeros((), jnp.int32))
    run, state, _ = open_run(folder, resume, state, settings, seed)
    record, deadline = _Record(run), time.monotonic() + (seconds or float("inf"))
    bar = Progress(int(state.step), num_steps, progress)
    with processes(jobs) as each_of, StopSignals() as signals, bar:
        while (step := int(state.step)) < num_steps:
            late = time.monotonic() >= deadline
            if late or signals.received:
                run.save_checkpoint(step, state)
                message = f"stopped at step {step} of {num_steps}; go on with --resume"
                bar.say(message)
                if late:
                    return None
                raise Stopped(message, step, state)
            tasks = generate(batch_size, seed=FIRST_SEED + seed, first=step * batch_size).tasks()
            weights = jax.tree.map(np.asarray, state.weights)
            batch = stacked(each_of, weights, tasks, (FIRST_SEED + seed, step), num_neg)
            state, loss = _update(optimizer, state, batch)
            record.add(step + 1, batch, float(loss), bar)
            if (step + 1) % CHECKPOINT_EVERY == 0 or step + 1 == num_steps:
                run.save_checkpoint(step + 1, state)
    path = folder / "energy.safetensors"
    net.save(path, state.average, **settings, seed=seed)
    return path


@eqx.filter_jit
def _update(optimizer, state: State, batch: Contrast) -> tuple[State, Any]:
    loss, grads = jax.value_and_grad(slope)(state.weights, batch)
    weights, opt_state = apply_gradients(optimizer, grads, state.optimizer, state.weights)
    average = moving_average(state.average, weights, DECAY, state.step)
    return State(weights, average, opt_state, state.step + 1), loss


class _Record:
    """Writes the means of some steps at a time."""

    def __init__(self, run: RunFolder):
        self.run, self.rows, self.since = run, [], time.monotonic()

    def add(self, step: int, batch: Contrast, loss: float, bar: Progress) -> None:
        self.rows.append((float(np.mean(batch.nll)), loss))
        if step % LOG_EVERY:
            return
        nll, loss = np.mean(self.rows, axis=0).tolist()
        if not np.isfinite(nll + loss):
            raise NonFiniteLossError(
                f"the loss became {loss} before step {step}; try a smaller learning rate"
            )
        now = time.monotonic()
        row = {"step": step, "nll": nll, "loss": loss, "seconds": round(now - self.since, 2)}
        self.rows, self.since = [], now
        self.run.append_metrics([row])
        bar.update(row)
