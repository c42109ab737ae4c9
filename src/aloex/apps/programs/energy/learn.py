"""Learn the energy by ALOE, with the version space as its sampler.

A step takes new tasks. In each the version space of the public examples holds the task's own
program, and very many that fit as well and are wrong. The energy is raised on the former and
lowered on draws of p_f from the space (Eq. mle). As f is a sum over expressions, the space draws
from p_f exactly: the q that ALOE's power iterations lead to is at hand, and nothing is left to
learn but f. Draws that do not apply to an input at hand are rejected, as every input of a task has
an output.
"""

from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from aloex.apps.programs.energy import net
from aloex.apps.programs.energy.contrast import Contrast, stacked
from aloex.apps.programs.tasks.processes import processes
from aloex.apps.programs.tasks.tasks import generate
from aloex.base.errors import Stopped, require
from aloex.learning import HostBatches, fit
from aloex.learning.updates import apply_gradients, clipped_adam, moving_average

LOG_EVERY, CHECKPOINT_EVERY = 10, 100
FIRST_SEED, SEEDS = 1_000_000, 1_000_000  # of tasks, far from those of the frozen sets
DECAY = 0.99


class EnergyState(NamedTuple):
    """What training changes."""

    weights: Any
    average: Any  # of the weights over the last steps
    optimizer: Any
    step: Any


class EnergyInfo(NamedTuple):
    """Of one step."""

    nll: Any  # -log p_f(program) in the version space
    loss: Any


def slope(weights: net.Weights, batch: Contrast):
    """The mean of f on data less that on negatives, with the sign of a loss."""
    values = net.apply(weights, "position", batch.positions)[..., 0]
    of_task = net.apply(weights, "task", batch.task)
    f = jnp.sum(values * batch.uses, axis=-1) + jnp.sum(of_task * batch.kinds, axis=-1)
    return -jnp.mean(f)


class EnergyLearner(NamedTuple):
    """A step of the likelihood's slope, and a moving average of the weights."""

    optimizer: optax.GradientTransformation

    def init(self, weights: net.Weights) -> EnergyState:
        return EnergyState(weights, weights, self.optimizer.init(weights), jnp.zeros((), jnp.int32))

    def step(
        self, key: Any, state: EnergyState, x: Contrast, z: None = None
    ) -> tuple[EnergyState, EnergyInfo]:
        loss, grads = jax.value_and_grad(slope)(state.weights, x)
        weights, moments = apply_gradients(self.optimizer, grads, state.optimizer, state.weights)
        average = moving_average(state.average, weights, DECAY, state.step)
        info = EnergyInfo(jnp.mean(x.nll), loss)
        return EnergyState(weights, average, moments, state.step + 1), info


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
    learner = EnergyLearner(clipped_adam(learning_rate, num_steps=num_steps))
    with processes(jobs) as each_of:

        def make(step: int, state: EnergyState) -> Contrast:
            """The contrasts of new tasks, whose negatives come from the weights of the moment."""
            tasks = generate(batch_size, seed=FIRST_SEED + seed, first=step * batch_size).tasks()
            weights = jax.tree.map(np.asarray, state.weights)
            return stacked(each_of, weights, tasks, (FIRST_SEED + seed, step), num_neg)

        try:
            state = fit(
                learner,
                learner.init(jax.tree.map(jnp.asarray, net.init(seed))),
                HostBatches(make, needs_state=True),
                seed=seed,
                num_steps=num_steps,
                batch_size=batch_size,
                folder=folder,
                resume=resume,
                config=settings,
                checkpoint_every=CHECKPOINT_EVERY,
                log_every=LOG_EVERY,
                max_seconds=seconds,
                progress=progress,
            )
        except Stopped as stopped:
            if stopped.number is not None:
                raise
            return None
    path = folder / "energy.safetensors"
    net.save(path, state.average, **settings, seed=seed)
    return path
