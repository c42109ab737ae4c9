"""Training on tasks that the host makes: a loop with checkpoints, for runs cut in short pieces.

Step i is a function of the state, the seed and i, so a run that was stopped goes on as if it had
not been; but saving rounds the optimizer's moments (`checkpoint`), so where it was saved matters.
"""

import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, PyTree

from aloex.apps.fill.networks import q0
from aloex.apps.fill.networks.train import checkpoint
from aloex.apps.fill.networks.train.feed import Batcher, Feed, Part
from aloex.base.errors import NonFiniteLossError, Stopped, require
from aloex.base.progress import Progress
from aloex.base.signals import StopSignals
from aloex.nets import to_bfloat16
from aloex.runs.run_folder import RunFolder, read_metrics

WARM_UP = 500  # steps
ADAM = optax.chain(optax.clip_by_global_norm(1.0), optax.scale_by_adam())
TRAINED = ("train_examples", "train_seconds")  # what a model file tells of its training
Loss = Callable[[PyTree, Any], tuple[Float[Array, ""], NamedTuple]]


class Info(NamedTuple):
    """Of one step."""

    loss: Float[Array, ""]  # nats for a program
    token_accuracy: Float[Array, ""]
    exact: Float[Array, ""]  # share of the programs with every token foreseen


def q0_loss(model: q0.Q0, batch: tuple[Part, ...]) -> tuple[Float[Array, ""], Info]:
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
    return sums[0] / size, Info(sums[0] / size, sums[1] / sums[2], sums[3] / size)


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
        self,
        model: PyTree,
        loss: Loss,
        make: Callable[[int], Any],
        *,
        resume: bool = False,
        checkpoint_every: int = 2000,
        log_every: int = 50,
        num_threads: int = 8,
        progress: bool = True,
    ) -> PyTree:
        """The model after the last step, or as far as the seconds reach."""
        began = time.monotonic()
        require(self.num_steps >= 1, f"the number of steps must be positive, got {self.num_steps}")
        state = (model, ADAM.init(eqx.filter(model, eqx.is_inexact_array)))
        files, state, step = self._open(resume, state)
        late = lambda: self.seconds is not None and time.monotonic() - began > self.seconds
        with (
            StopSignals() as signals,
            Progress(step, self.num_steps, progress) as bar,
            Feed(make, step, num_threads=num_threads) as feed,
        ):
            begun, saved, over = step, step, False
            while step < self.num_steps and not over:
                start, waited, first = time.monotonic(), feed.waited, step
                step = min((step // log_every + 1) * log_every, self.num_steps)
                infos = []
                for i in range(first, step):
                    rate = jnp.asarray(rate_at(i, self.learning_rate, self.num_steps))
                    state, info = update((loss, feed.take(), rate), state)
                    infos.append(info)
                    if i == begun:  # the first step, which waits for the compiler, is not timed
                        jax.block_until_ready(state)
                        start, waited, first = time.monotonic(), feed.waited, i + 1
                row = _row(step, infos)
                passed = time.monotonic() - start
                row["examples_per_second"] = int((step - first) * self.batch_size / passed)
                row["starved"] = round((feed.waited - waited) / passed, 3)
                row["seconds"] = round(passed, 3)
                files.append_metrics([row])
                bar.update(row, _note(row))
                if step // checkpoint_every > saved // checkpoint_every:
                    state, saved = self.save(step, state), step
                over = signals.received or late()
            if saved < step:
                state = self.save(step, state)
            if step < self.num_steps:
                bar.say(f"saved at step {step} of {self.num_steps}; go on with --resume")
            if signals.received:
                raise Stopped("stopped", step, state)
        return state[0]

    def save(self, step: int, state: tuple[PyTree, PyTree]):
        """Write the checkpoint and the model; returns the state as it is in the files."""
        model, moments = state[0], checkpoint.rounded(state[1])
        checkpoint.save(self.folder, step, model, moments)
        seconds = sum(row["seconds"] for row in read_metrics(self.folder))
        trained = (step * self.batch_size, round(seconds, 1))
        settings = {**self.settings, **dict(zip(TRAINED, trained, strict=True))}
        q0.save(self.folder / "model.safetensors", model, settings)
        return model, moments

    def _open(self, resume: bool, state) -> tuple[RunFolder, Any, int]:
        config = {**self.settings, **self.config}
        if not resume:
            return RunFolder.create(self.folder, config=config, seed=self.seed), state, 0
        files = RunFolder.open(self.folder, config=config, seed=self.seed)
        step, *restored = checkpoint.restore(self.folder, *state) or (0, *state)
        files.truncate_metrics(step)
        return files, tuple(restored), step


def rate_at(step: int, learning_rate: float, num_steps: int) -> float:
    """It warms up, then falls to 0 along a cosine."""
    warm_up = min(WARM_UP, num_steps // 4)
    if step < warm_up:
        return learning_rate * step / warm_up
    return learning_rate * (1 + math.cos(math.pi * (step - warm_up) / (num_steps - warm_up))) / 2


@eqx.filter_jit(donate="all-except-first")
def update(fixed, state):
    """The state after one step on a batch, and its info.

    The rate is given, not computed: compiling takes minutes on a GPU, and so runs of all lengths
    and rates share one program.
    """
    loss, batch, rate = fixed
    model, moments = state
    grads, info = eqx.filter_grad(loss, has_aux=True)(model, batch)
    updates, moments = ADAM.update(grads, moments)
    model = eqx.apply_updates(model, jax.tree.map(lambda u: -rate * u, updates))
    return (model, moments), info


def _row(step: int, infos: list[Any]) -> dict[str, Any]:
    means = {name: np.mean(values) for name, values in _columns(infos).items()}
    if not np.isfinite(list(means.values())).all():
        raise NonFiniteLossError(
            f"the loss became {means['loss']} before step {step}; go on from the last checkpoint "
            "with --resume, or start again with a smaller learning rate"
        )
    return {"step": step, **{name: round(float(mean), 5) for name, mean in means.items()}}


def _columns(infos: list[Any]) -> dict[str, np.ndarray]:
    return {name: np.array([getattr(i, name) for i in infos]) for name in infos[0]._fields}


def _note(row: dict[str, Any]) -> str:
    """All but the step, the loss and the time."""
    shown = {name: row[name] for name in row if name not in ("step", "loss", "seconds")}
    return "".join(f", {name} {value:,}" for name, value in shown.items())
