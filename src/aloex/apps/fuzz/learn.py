"""Learn a model of bytes from a corpus, in a run folder that can be resumed.

Maximum likelihood of single bytes, each with its context believed at a level that is uniform in
[0, 1]: to believe it always would learn a small corpus by heart, and say little beyond it.
"""

import dataclasses
import os

import equinox as eqx
import jax
import jax.numpy as jnp

from aloex.apps.fuzz.byte_model import ByteModel, Settings
from aloex.apps.fuzz.contexts import LEVELS, Examples
from aloex.apps.fuzz.corpus import Corpus
from aloex.baselines.likelihood import MaximumLikelihood
from aloex.learning import clipped_adam, fit

INIT = 2**32 - 1  # folded into the seed for the initial weights, as `fit` folds in its steps
NUM_ASKED = 1024  # bytes that `quality` asks for at a time


def learn(
    corpus: Corpus,
    *,
    settings: Settings | None = None,
    seed: int = 0,
    num_steps: int = 5000,
    batch_size: int = 512,
    learning_rate: float = 1e-3,
    folder: str | os.PathLike | None = None,
    resume: bool = False,
    progress: bool = True,
) -> ByteModel:
    """A model of the bytes of the corpus; see `fit` for what is not said here."""
    model = ByteModel(settings, key=jax.random.fold_in(jax.random.key(seed), INIT))
    learner = MaximumLikelihood(
        objective=log_prob_of_byte, optimizer_q=clipped_adam(learning_rate), ema_decay=0.99
    )
    state = fit(
        learner,
        learner.init(model),
        Examples(corpus),
        seed=seed,
        num_steps=num_steps,
        batch_size=batch_size,
        folder=folder,
        resume=resume,
        config={
            "model": dataclasses.asdict(model.settings),
            **{"learning_rate": learning_rate, "corpus": corpus.fingerprint},
        },
        checkpoint_every=500,
        log_every=25,
        progress=progress,
    )
    return state.ema_q


def log_prob_of_byte(model: ByteModel, key, example, z=None):
    """The objective: log p of a byte at a random level."""
    key_level, key_hide = jax.random.split(key)
    return model.log_prob(key_hide, example, jax.random.uniform(key_level))


def quality(
    model: ByteModel, held_out: Corpus, *, num_bytes: int = 8192, seed: int = 0
) -> dict[float, float]:
    """Mean log p of a byte that was not learned from, in nats, at each level.

    A uniform guess has -log 256 = -5.545. The bytes are the same for every model and level.
    """
    keys = jax.random.split(jax.random.key(seed), num_bytes)
    ask = lambda level: float(_mean_log_prob(model, Examples(held_out), keys, jnp.asarray(level)))
    return {level: ask(level) for level in LEVELS}


@eqx.filter_jit
def _mean_log_prob(model: ByteModel, examples: Examples, keys, level):
    def one(key):
        key_example, key_hide = jax.random.split(key)
        return model.log_prob(key_hide, examples.draw(key_example), level)

    return jnp.mean(jax.lax.map(one, keys, batch_size=NUM_ASKED))
