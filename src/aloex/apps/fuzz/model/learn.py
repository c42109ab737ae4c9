"""Learn a model of bytes from a corpus, in a run folder that can be resumed.

masked           a predictor, by maximum likelihood of single bytes
aloe             an energy of blocks of bytes, by Algorithm 1 with a local search as its sampler
cd, ade          the same energy by contrastive divergence, or with a sampler by REINFORCE
aloe-window      the paper's energy of a whole window of 64 bytes, by the same algorithm
learn-and-fuzz   an LSTM, by maximum likelihood of each byte given those before it
rnn-ebm          the same LSTM, to be used as an energy

The context is always believed at a level that is uniform in [0, 1]: to believe it always would
learn a small corpus by heart, and say little beyond it.
"""

import dataclasses
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Key

from aloex.apps.fuzz.inputs.corpus import Corpus
from aloex.apps.fuzz.model import block_search, blocks, window_search, windows
from aloex.apps.fuzz.model.block_energy import ByteEnergy, SlotGibbs
from aloex.apps.fuzz.model.byte_law import ByteLaw, Settings
from aloex.apps.fuzz.model.byte_lstm import ByteLSTM, log_prob_of_window
from aloex.apps.fuzz.model.byte_model import build
from aloex.apps.fuzz.model.contexts import LEVELS, Examples
from aloex.apps.fuzz.model.window_energy import ByteWindow, WindowGibbs
from aloex.apps.fuzz.model.window_learner import WholeAndGiven
from aloex.base.errors import require
from aloex.baselines.ade import ADE
from aloex.baselines.likelihood import MaximumLikelihood
from aloex.baselines.pcd import CD
from aloex.learning import ALOE, clipped_adam, fit
from aloex.proposals import Inverse
from aloex.runs.run_folder import read_metrics

INIT = 2**32 - 1  # folded into the seed for the initial weights, as `fit` folds in its steps
NUM_ASKED = 1024  # bytes that `quality` asks for at a time


@dataclass(frozen=True)
class Recipe:
    """What suits a method, on a CPU."""

    num_steps: int = 4000
    batch_size: int = 256
    learning_rate: float = 3e-3
    hidden: int = 384
    hidden_q: int = 64
    max_edits: int = 4
    num_trajectories: int = 4
    num_kernel_steps: int = 1
    whole: float = 0.125  # share of the windows of a batch that are drawn whole
    num_sites: int = 8  # of a whole window, that a step of the kernel redraws
    rate_ratio: float = 1.0  # of f's learning rate to that of q, for ADE and on whole windows
    num_q_steps: int = 1  # to one of f, for ADE

    @property
    def num_whole(self) -> int:
        """Windows of a batch that are drawn whole: at least one, and not all."""
        require(self.batch_size >= 2, f"batch_size must be at least 2, got {self.batch_size}")
        return min(max(round(self.whole * self.batch_size), 1), self.batch_size - 1)


RECIPES = {
    "masked": Recipe(num_steps=5000, batch_size=512, learning_rate=1e-3),
    "aloe": Recipe(),
    "cd": Recipe(),
    # Whole windows teach little and shake much, as long as q lags behind.
    "aloe-window": Recipe(num_trajectories=2, rate_ratio=0.1),
    # f must not outrun a sampler that learns by REINFORCE, or it grows without bound.
    "ade": Recipe(num_steps=1500, rate_ratio=0.1, num_q_steps=3),
    "learn-and-fuzz": Recipe(num_steps=3000, batch_size=64, hidden=128),
    "rnn-ebm": Recipe(num_steps=3000, batch_size=64, hidden=128),
}


def recipe_of(method: str) -> Recipe:
    """The recipe of a method by name."""
    require(method in RECIPES, f"method must be one of {', '.join(RECIPES)}, got {method!r}")
    return RECIPES[method]


def learn(
    corpus: Corpus,
    *,
    method: str = "masked",
    settings: Settings | None = None,
    seed: int = 0,
    folder: str | os.PathLike | None = None,
    resume: bool = False,
    progress: bool = True,
    **changes: Any,
) -> ByteLaw:
    """A model of the bytes of the corpus; see `fit` for what is not said here.

    Args:
        settings: the sizes of the network, if not those of the recipe.
        changes: of the method's `Recipe`: num_steps, batch_size, learning_rate, ...
    """
    recipe = dataclasses.replace(recipe_of(method), **changes)
    settings = settings or Settings(hidden=recipe.hidden)
    settings = dataclasses.replace(settings, method=method)
    key = jax.random.fold_in(jax.random.key(seed), INIT)
    model = build(settings, key=key)
    learner, state, learned = _begin(model, recipe, jax.random.fold_in(key, INIT))
    state = fit(
        learner,
        state,
        _stream(model, recipe, Examples(corpus)),
        seed=seed,
        num_steps=recipe.num_steps,
        batch_size=recipe.batch_size,
        folder=folder,
        resume=resume,
        config={
            "model": {k: v for k, v in vars(settings).items() if v is not None},
            **{name: value for name, value in vars(recipe).items() if name != "num_steps"},
            "corpus": corpus.fingerprint,
        },
        checkpoint_every=500,
        log_every=25,
        progress=progress,
    )
    return learned(state)


def _stream(model: ByteLaw, recipe: Recipe, examples: Examples) -> Any:
    """What the model is learned from."""
    if isinstance(model, ByteWindow):
        return windows.Windows(examples, recipe.num_whole)
    return blocks.Blocks(examples) if isinstance(model, ByteEnergy) else examples


def _begin(
    model: ByteLaw, recipe: Recipe, key: Key[Array, ""]
) -> tuple[Any, Any, Callable[[Any], ByteLaw]]:
    """The learner, its state before the first step, and how to get the model from the last."""
    adam = clipped_adam(recipe.learning_rate)
    if not isinstance(model, ByteEnergy | ByteWindow):
        objective = log_prob_of_window if isinstance(model, ByteLSTM) else log_prob_of_byte
        learner = MaximumLikelihood(objective=objective, optimizer_q=adam, ema_decay=0.99)
        return learner, learner.init(model), lambda state: state.ema_q
    learned = lambda state: eqx.tree_at(lambda model: model.f, model, state.ema_f)
    method, f, sizes = model.settings.method, model.f, (recipe.hidden_q, recipe.max_edits)
    if method == "cd":
        learner = CD(SlotGibbs(), num_kernel_steps=recipe.num_kernel_steps, optimizer_f=adam)
        return learner, learner.init(f), learned
    if method == "ade":
        how = {"rate_ratio": recipe.rate_ratio, "num_q_steps": recipe.num_q_steps}
        learner = ADE(optimizer=adam, **how)
        q0 = block_search.build_q0(recipe.hidden_q, key=key)
        return learner, learner.init(key, f, q0, cond_dim=blocks.COND_DIM), learned
    is_window = isinstance(model, ByteWindow)
    space = windows.SPACE if is_window else blocks.SPACE
    aloe = ALOE(
        WindowGibbs(recipe.num_sites) if is_window else SlotGibbs(),
        Inverse(space=space, max_edits=recipe.max_edits),
        num_trajectories=recipe.num_trajectories,
        num_kernel_steps=recipe.num_kernel_steps,
        optimizer_f=clipped_adam(recipe.learning_rate * recipe.rate_ratio),
        optimizer_q=adam,
    )
    if not is_window:
        return aloe, aloe.init(f, block_search.build_q(*sizes, key=key)), learned
    learner = WholeAndGiven(aloe, CD(WindowGibbs(1), optimizer_f=adam), recipe.num_whole)
    state = learner.init(f, window_search.build_q(*sizes, key=key))
    return learner, state, lambda state: learned(state.whole)


def seconds_of(folder: str | os.PathLike) -> float:
    """How long the steps of a run took, whether it was stopped or not."""
    return round(sum(row["seconds"] for row in read_metrics(folder)), 1)


def log_prob_of_byte(model: ByteLaw, key, example, z=None):
    """The objective: log p of a byte at a random level."""
    key_level, key_hide = jax.random.split(key)
    return model.log_prob(key_hide, example, jax.random.uniform(key_level))


def quality(
    model: ByteLaw, held_out: Corpus, *, num_bytes: int = 8192, seed: int = 0
) -> dict[float, float]:
    """Mean log p of a byte that was not learned from, in nats, at each level.

    A uniform guess has -log 256 = -5.545. The bytes are the same for every model and level.
    """
    keys = jax.random.split(jax.random.key(seed), num_bytes)
    ask = lambda level: float(_mean_log_prob(model, Examples(held_out), keys, jnp.asarray(level)))
    return {level: ask(level) for level in LEVELS}


@eqx.filter_jit
def _mean_log_prob(model: ByteLaw, examples: Examples, keys, level):
    def one(key):
        key_example, key_hide = jax.random.split(key)
        return model.log_prob(key_hide, examples.draw(key_example), level)

    return jnp.mean(jax.lax.map(one, keys, batch_size=NUM_ASKED))
