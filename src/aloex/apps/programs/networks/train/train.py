"""Training of networks on tasks that the host makes, in runs that may be cut in short pieces."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float

from aloex.apps.programs.networks import q0
from aloex.apps.programs.networks.train.feed import Batcher, Part
from aloex.base.errors import Stopped, require
from aloex.learning import HostBatches, fit
from aloex.nets import to_bfloat16
from aloex.runs.run_folder import read_metrics

WARM_UP = 500  # steps
ADAM = optax.chain(optax.clip_by_global_norm(1.0), optax.scale_by_adam())
TRAINED = ("train_examples", "train_seconds")  # what a model file tells of its training
Loss = Callable[[Any, Any], tuple[Float[Array, ""], NamedTuple]]


class Q0Info(NamedTuple):
    """Of one step."""

    loss: Float[Array, ""]  # nats for a program
    token_accuracy: Float[Array, ""]
    exact: Float[Array, ""]  # share of the programs with every token foreseen


def q0_loss(model: q0.Q0, batch: tuple[Part, ...]) -> tuple[Float[Array, ""], Q0Info]:
    """Mean of -log q0(x | z)."""
    model = to_bfloat16(model)
    sums = jnp.zeros(4)
    for part in batch:
        log_probs, tokens = model.log_probs(part), part.programs.tokens
        live = tokens > 0
        wanted = jax.nn.one_hot(tokens, log_probs.shape[-1], dtype=bool)
        log_q = jnp.sum(jnp.where(wanted & live[..., None], log_probs, 0), axis=-1)
        right = jnp.argmax(log_probs, axis=-1) == tokens
        counts = [-log_q.sum(), jnp.sum(right & live), jnp.sum(live)]
        sums += jnp.stack([*counts, jnp.sum(jnp.all(right | ~live, axis=1))])
    size = sum(len(part.shown) for part in batch)
    return sums[0] / size, Q0Info(sums[0] / size, sums[1] / sums[2], sums[3] / size)


def train_q0(
    folder: Path,
    *,
    model: str,
    size: str = "full",
    num_steps: int,
    batch_size: int,
    learning_rate: float = 1e-3,
    seed: int = 100,
    fewer: float = 0.0,
    start: Path | None = None,
    resume: bool = False,
    seconds: float | None = None,
    **loop: Any,
) -> None:
    """Train a q0 on fresh tasks; `start` is a file or run whose weights it begins with."""
    settings = {"kind": "q0", "model": model, "size": size}
    net = q0.build(settings, seed)
    if start is not None:
        net, found = q0.load(start)
        same = all(found[name] == value for name, value in settings.items())
        require(same, f"{start} holds {found}, not {settings}")
        earlier = found.get("before", {})
        settings |= {"before": {name: found[name] + earlier.get(name, 0) for name in TRAINED}}
    batcher = Batcher(batch_size, seed, net.mode == "clean", fewer).check()
    config = {"learning_rate": learning_rate, "batch_size": batch_size, "fewer": fewer}
    config |= {"num_steps": num_steps, "start": None if start is None else q0.fingerprint(start)}
    run = Run(folder, settings, config, seed, num_steps, batch_size, learning_rate, seconds)
    run.fit(net, q0_loss, batcher, resume=resume, **loop)


class Run(NamedTuple):
    """A training run in a folder."""

    folder: Path
    settings: dict[str, Any]  # of the model
    config: dict[str, Any]
    seed: int
    num_steps: int
    batch_size: int
    learning_rate: float
    seconds: float | None = None  # when to save and stop

    def fit(
        self, model: Any, loss: Loss, make: Callable[[int], Any], *, num_threads: int = 8,
        resume: bool = False, checkpoint_every: int = 2000, log_every: int = 50,
        progress: bool = True,
    ) -> None:  # fmt: skip
        """Train the model on the batches `make(0)`, `make(1)`, ..., and write it to the folder.

        The folder has a model, too, when the run is stopped or its seconds are over.
        """
        require(self.num_steps >= 1, f"the number of steps must be positive, got {self.num_steps}")
        rate = lambda step: np.float32(rate_at(step, self.learning_rate, self.num_steps))
        batches = HostBatches(lambda step: (make(step), rate(step)), num_threads=num_threads)
        learner = NetworkLearner(loss)
        try:
            state = fit(
                learner,
                learner.init(model),
                batches,
                seed=self.seed,
                num_steps=self.num_steps,
                batch_size=self.batch_size,
                folder=self.folder,
                resume=resume,
                config={**self.settings, **self.config},
                checkpoint_every=checkpoint_every,
                log_every=log_every,
                max_seconds=self.seconds,
                progress=progress,
            )
        except Stopped as stopped:
            self._save(stopped.step, stopped.state)
            if stopped.number is not None:
                raise
            return
        self._save(self.num_steps, state)

    def _save(self, step: int, state: "TrainState") -> None:
        """Write the model."""
        seconds = sum(row["seconds"] for row in read_metrics(self.folder))
        trained = (step * self.batch_size, round(seconds, 1))
        settings = {**self.settings, **dict(zip(TRAINED, trained, strict=True))}
        q0.save(self.folder / "model.safetensors", state.model, settings)


class TrainState(NamedTuple):
    """What training changes."""

    model: Any
    moments: Any  # of Adam


class NetworkLearner(eqx.Module):
    """Adam on a loss, with a rate that comes with the batch.

    The rate is given, not computed: compiling takes minutes on a GPU, and so runs of all lengths
    and rates share one program.
    """

    loss: Loss

    def init(self, model: Any) -> TrainState:
        return TrainState(model, ADAM.init(eqx.filter(model, eqx.is_inexact_array)))

    def step(self, key: Any, state: TrainState, x: Any, z: Any = None) -> tuple[TrainState, Any]:
        """The state after a step on the batch x at the rate z, and what is told of it."""
        grads, info = eqx.filter_grad(self.loss, has_aux=True)(state.model, x)
        updates, moments = ADAM.update(grads, state.moments)
        model = eqx.apply_updates(state.model, jax.tree.map(lambda u: -z * u, updates))
        return TrainState(model, moments), info


def rate_at(step: int, learning_rate: float, num_steps: int) -> float:
    """It warms up, then falls to 0 along a cosine."""
    warm_up = min(WARM_UP, num_steps // 4)
    if step < warm_up:
        return learning_rate * step / warm_up
    return learning_rate * (1 + math.cos(math.pi * (step - warm_up) / (num_steps - warm_up))) / 2
