"""ALOE with a backward law that is learned beside q."""

import equinox as eqx
import jax
import numpy as np
import pytest

import aloex
from aloex.base.errors import InputError
from aloex.learning import Config, build_learner, first_state
from aloex.proposals import LearnedInverse

SMALL = {
    "q_hidden": (8,), "f_hidden": (8,), "max_edits": 2, "num_trajectories": 2, "batch_size": 16,
}  # fmt: skip


@pytest.mark.parametrize("resample", [False, True])
def test_a_step_learns_it_from_the_draws_of_q(resample):
    config = Config(dim=3, proposal="learned", resample=resample, **SMALL)
    before = first_state(config, jax.random.key(0))
    assert isinstance(before.backward, LearnedInverse)
    x = np.ones((16, 3), np.int32)
    step = eqx.filter_jit(build_learner(config).step)
    after, info = step(jax.random.key(1), before, x)
    moved = lambda a, b: float(abs(a.net.layers[0].weight - b.net.layers[0].weight).max())
    assert moved(before.backward.editor, after.backward.editor) > 0
    assert moved(before.backward.stop, after.backward.stop) > 0
    assert np.isfinite(info.q_loss)


def test_a_model_is_learned_with_it():
    x = np.array([[0, 0, 1], [1, 1, 0]] * 20)
    model = aloex.learn(x, proposal="learned", num_steps=2, progress=False, **SMALL)
    assert model.sample(4).shape == (4, 3)


def test_without_edits_there_is_nothing_to_learn():
    with pytest.raises(InputError, match=r"proposal='learned' needs edits.* got max_edits=0"):
        Config(dim=3, proposal="learned", max_edits=0)
