"""Nothing is compiled twice: `sample` for another n, `learn` for the same sizes."""

import jax
import numpy as np
import pytest

from aloex.energies import MLP
from aloex.learning import ALOE, Config, Model, build_networks, learn
from aloex.samplers import LocalSearch

X = np.random.default_rng(0).integers(0, 2, (50, 4))
CONFIG = Config(dim=4, f_hidden=(4,), q_hidden=(4,), max_edits=2)
QUICK = {"num_steps": 2, "f_hidden": (4,), "max_edits": 0, "batch_size": 8, "progress": False}


@pytest.fixture
def traced(monkeypatch):
    """How often a function was traced, which is how often it is compiled."""

    def count(owner, name):
        calls, function = [], getattr(owner, name)
        counted = lambda *args, **kwargs: (calls.append(0), function(*args, **kwargs))[1]
        monkeypatch.setattr(owner, name, counted)
        return calls

    return count


def untrained(seed):
    return Model(CONFIG, *build_networks(CONFIG, jax.random.key(seed)))


def test_sampling_is_compiled_once_for_any_number_of_draws(traced):
    calls, model = traced(LocalSearch, "sample"), untrained(0)
    draws = [model.sample(n) for n in (1, 3, 256, 257, 700)]
    assert len(calls) == 1
    untrained(1).sample(5)  # other weights of the same sizes
    assert len(calls) == 1
    for few in draws:
        np.testing.assert_array_equal(few, draws[-1][: len(few)])


def test_energies_are_compiled_once(traced):
    calls, model = traced(MLP, "__call__"), untrained(0)
    few, some, many = model.energy(X[:2]), model.energy(X), model.energy(np.tile(X, (9, 1)))
    assert len(calls) == 1
    expected = np.asarray(jax.vmap(model.f)(X))
    np.testing.assert_allclose(few, expected[:2], rtol=1e-5)
    np.testing.assert_allclose(some, expected, rtol=1e-5)
    np.testing.assert_allclose(many, np.tile(expected, 9), rtol=1e-5)


def test_learning_again_with_the_same_sizes_is_not_compiled_again(traced):
    calls = traced(ALOE, "step_on_shard")
    learn(X, **QUICK)
    first = len(calls)
    assert first > 0
    learn(1 - X, seed=5, **QUICK)  # other data, another seed
    assert len(calls) == first
    learn(X, **{**QUICK, "f_hidden": (5,)})
    assert len(calls) > first
