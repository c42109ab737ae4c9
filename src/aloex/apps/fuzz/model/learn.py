"""Learn a model of bytes from a corpus, in a run folder that can be resumed.

masked           a predictor, by maximum likelihood of single bytes
aloe             an energy of blocks of bytes, by Algorithm 1 with a local search as its sampler
cd, ade          the same energy by contrastive divergence, or with a sampler by REINFORCE
aloe-window      the paper's energy of a window of 64 bytes, by the same algorithm
learn-and-fuzz   an LSTM, by maximum likelihood of each byte given those before it
rnn-ebm          the same LSTM, to be used as an energy

The visible fraction of a context is always uniform in [0, 1]: a model that always sees all of it
learns a small corpus by heart, and knows little of other files.
"""

import dataclasses
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from aloex.apps.fuzz.inputs import Corpus
from aloex.apps.fuzz.model import block_search, blocks, window_search, windows
from aloex.apps.fuzz.model.block_energy import ByteEnergy, SlotGibbs
from aloex.apps.fuzz.model.byte_lstm import ByteLSTM, log_prob_of_window
from aloex.apps.fuzz.model.byte_model import ByteModel, ModelSettings
from aloex.apps.fuzz.model.contexts import VISIBLE_FRACTIONS, Examples
from aloex.apps.fuzz.model.load import build_model
from aloex.apps.fuzz.model.window_energy import ByteWindow, WindowGibbs
from aloex.apps.fuzz.model.window_learner import JointAndConditional
from aloex.base.errors import require
from aloex.baselines.ade import ADE
from aloex.baselines.likelihood import MaximumLikelihood
from aloex.baselines.pcd import CD
from aloex.learning import ALOE, clipped_adam, fit
from aloex.proposals import Inverse
from aloex.runs.run_folder import read_metrics

INIT = 2**32 - 1  # folded into the seed for the initial weights, as `fit` folds in its steps
NUM_ASKED = 1024  # bytes whose log p `quality` computes at a time


@dataclass(frozen=True)
class TrainingSettings:
    """How a method trains; the defaults suit a CPU."""

    num_steps: int = 4000
    batch_size: int = 256
    learning_rate: float = 3e-3
    hidden: int = 384
    hidden_q: int = 64
    max_edits: int = 4
    num_trajectories: int = 4
    num_kernel_steps: int = 1
    joint_fraction: float = 0.125  # of the windows of a batch that are drawn jointly
    num_sites: int = 8  # of such a window that a step of the kernel redraws
    rate_ratio: float = 1.0  # of f's learning rate to that of q, for ADE and windows drawn jointly
    num_q_steps: int = 1  # for each step of f, for ADE

    @property
    def num_joint(self) -> int:
        """Number of windows of a batch that are drawn jointly: at least one, and not all."""
        require(self.batch_size >= 2, f"batch_size must be at least 2, got {self.batch_size}")
        return min(max(round(self.joint_fraction * self.batch_size), 1), self.batch_size - 1)


TRAINING = {
    "masked": TrainingSettings(num_steps=2000),  # with more it knows other files no better
    "aloe": TrainingSettings(),
    "cd": TrainingSettings(),
    # Windows drawn jointly teach little and disturb f as long as q lags behind.
    "aloe-window": TrainingSettings(num_trajectories=2, rate_ratio=0.1),
    # f must not outrun a sampler that is learned by REINFORCE, or it grows without bound.
    "ade": TrainingSettings(num_steps=1500, rate_ratio=0.1, num_q_steps=3),
    "learn-and-fuzz": TrainingSettings(num_steps=3000, batch_size=64, hidden=128),
    "rnn-ebm": TrainingSettings(num_steps=3000, batch_size=64, hidden=128),
}


def training_settings(method: str) -> TrainingSettings:
    """The training settings of a method."""
    require(method in TRAINING, f"method must be one of {', '.join(TRAINING)}, got {method!r}")
    return TRAINING[method]


def learn_model(
    corpus: Corpus,
    *,
    method: str = "masked",
    settings: ModelSettings | None = None,
    seed: int = 0,
    folder: str | os.PathLike[str] | None = None,
    resume: bool = False,
    progress: bool = True,
    **changes: Any,
) -> ByteModel:
    """Learn a model of the bytes of a corpus.

    Args:
        corpus: the files to learn from.
        method: see the top of this file.
        settings: the sizes of the network, if not those of the method.
        seed: of all randomness.
        folder, resume, progress: as of `fit`.
        changes: of the method's `TrainingSettings`: num_steps, batch_size, learning_rate, ...
    """
    training = dataclasses.replace(training_settings(method), **changes)
    settings = settings or ModelSettings(hidden=training.hidden)
    settings = dataclasses.replace(settings, method=method)
    key = jax.random.fold_in(jax.random.key(seed), INIT)
    model = build_model(settings, key=key)
    learner, state, learned = _begin(model, training, jax.random.fold_in(key, INIT))
    state = fit(
        learner,
        state,
        _stream(model, training, Examples(corpus)),
        seed=seed,
        num_steps=training.num_steps,
        batch_size=training.batch_size,
        folder=folder,
        resume=resume,
        config={
            "model": {k: v for k, v in vars(settings).items() if v is not None},
            **{name: value for name, value in vars(training).items() if name != "num_steps"},
            "corpus": corpus.fingerprint,
        },
        checkpoint_every=500,
        log_every=25,
        progress=progress,
    )
    return learned(state)


def _stream(model: ByteModel, training: TrainingSettings, examples: Examples) -> Any:
    """The stream of examples that the model is learned from."""
    if isinstance(model, ByteWindow):
        return windows.Windows(examples, training.num_joint)
    return blocks.Blocks(examples) if isinstance(model, ByteEnergy) else examples


def _begin(
    model: ByteModel, training: TrainingSettings, key: Key[Array, ""]
) -> tuple[Any, Any, Callable[[Any], ByteModel]]:
    """The learner, its state before the first step, and how to get the model from the last."""
    adam = clipped_adam(training.learning_rate)
    if not isinstance(model, ByteEnergy | ByteWindow):
        objective = log_prob_of_window if isinstance(model, ByteLSTM) else log_prob_of_byte
        learner = MaximumLikelihood(objective=objective, optimizer_q=adam, ema_decay=0.99)
        return learner, learner.init(model), lambda state: state.ema_q
    learned = lambda state: eqx.tree_at(lambda model: model.f, model, state.ema_f)
    method, f, sizes = model.settings.method, model.f, (training.hidden_q, training.max_edits)
    if method == "cd":
        learner = CD(SlotGibbs(), num_kernel_steps=training.num_kernel_steps, optimizer_f=adam)
        return learner, learner.init(f), learned
    if method == "ade":
        learner = ADE(
            optimizer=adam, rate_ratio=training.rate_ratio, num_q_steps=training.num_q_steps
        )
        q0 = block_search.build_q0(training.hidden_q, key=key)
        return learner, learner.init(key, f, q0, cond_dim=blocks.COND_DIM), learned
    is_window = isinstance(model, ByteWindow)
    space = windows.SPACE if is_window else blocks.SPACE
    aloe = ALOE(
        WindowGibbs(training.num_sites) if is_window else SlotGibbs(),
        Inverse(space=space, max_edits=training.max_edits),
        num_trajectories=training.num_trajectories,
        num_kernel_steps=training.num_kernel_steps,
        optimizer_f=clipped_adam(training.learning_rate * training.rate_ratio),
        optimizer_q=adam,
    )
    if not is_window:
        return aloe, aloe.init(f, block_search.build_q(*sizes, key=key)), learned
    learner = JointAndConditional(aloe, CD(WindowGibbs(1), optimizer_f=adam), training.num_joint)
    state = learner.init(f, window_search.build_q(*sizes, key=key))
    return learner, state, lambda state: learned(state.joint)


def training_seconds(folder: str | os.PathLike[str]) -> float:
    """The seconds that the steps of a run took, whether it was stopped or not."""
    return round(sum(row["seconds"] for row in read_metrics(folder)), 1)


def log_prob_of_byte(
    model: ByteModel, key: Key[Array, ""], example: Int[Array, " example"], z: Array | None = None
) -> Float[Array, ""]:
    """The objective: log p of a byte at a random visible fraction."""
    key_fraction, key_mask = jax.random.split(key)
    return model.log_prob(key_mask, example, jax.random.uniform(key_fraction))


def quality(
    model: ByteModel, held_out: Corpus, *, num_bytes: int = 8192, seed: int = 0
) -> dict[float, float]:
    """Mean log p of a byte held out, in nats, at each visible fraction of its context.

    A uniform guess has -log 256 = -5.545. The bytes are the same for every model and fraction.
    """
    keys = jax.random.split(jax.random.key(seed), num_bytes)
    examples = Examples(held_out)
    mean = lambda fraction: float(_mean_log_prob(model, examples, keys, jnp.asarray(fraction)))
    return {fraction: mean(fraction) for fraction in VISIBLE_FRACTIONS}


@eqx.filter_jit
def _mean_log_prob(
    model: ByteModel,
    examples: Examples,
    keys: Key[Array, " n"],
    visible_fraction: Float[Array, ""],
) -> Float[Array, ""]:
    def one(key: Key[Array, ""]) -> Float[Array, ""]:
        key_example, key_mask = jax.random.split(key)
        return model.log_prob(key_mask, examples.draw(key_example), visible_fraction)

    return jnp.mean(jax.lax.map(one, keys, batch_size=NUM_ASKED))
