"""The predictor of bytes: its file, and learning it."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from typer.testing import CliRunner

from aloex.apps.fuzz.inputs import read_corpus
from aloex.apps.fuzz.model import ModelSettings, load_model
from aloex.apps.fuzz.model.byte_predictor import BytePredictor
from aloex.apps.fuzz.model.contexts import MASKED, WINDOW
from aloex.apps.fuzz.model.learn import learn_model, quality, training_settings
from aloex.base.errors import CheckpointError, InputError
from aloex.cli.main import app
from aloex.runs import model_file
from stats import compiled, randomised

SIZES = ModelSettings(hidden=8, embed_dim=2)


def tiny(seed=0) -> BytePredictor:
    return randomised(BytePredictor, SIZES, seed=seed, scale=0.5)


def test_what_is_masked_does_not_count():
    noise = np.random.default_rng(0)
    x = jnp.asarray(noise.integers(0, 256, WINDOW))
    place = (jnp.asarray(300), jnp.asarray(5))
    ask = compiled(tiny())
    hidden = x.at[10].set(MASKED)
    assert abs(float(jnp.sum(jnp.exp(ask(x, *place)))) - 1) < 1e-5
    assert np.abs(ask(hidden, *place) - ask(x, *place)).max() > 1e-3
    assert np.abs(ask(x, place[0] + 1, place[1]) - ask(x, *place)).max() > 1e-3
    assert np.abs(ask(x, place[0], place[1] + 1) - ask(x, *place)).max() > 1e-3


def test_a_model_file(tmp_path):
    path, model = tmp_path / "model.safetensors", tiny()
    model.save(path)
    back = load_model(path)
    assert back.settings == SIZES
    for a, b in zip(jax.tree.leaves(model), jax.tree.leaves(back), strict=True):
        np.testing.assert_array_equal(a, b)
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(CheckpointError, match="cut short"):
        load_model(path)
    model_file.write(path, model, {"bytes": {"hidden": 8, "window": 32, "version": 1}})
    with pytest.raises(CheckpointError, match="window=32, but this version of Aloex has window=64"):
        load_model(path)
    model_file.write(path, model, {"dim": 3})
    with pytest.raises(CheckpointError, match="no model of bytes"):
        load_model(path)
    with pytest.raises(CheckpointError, match="there is no model file"):
        load_model(tmp_path / "none")


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_model_with_weights_that_are_not_finite_is_refused(tmp_path, value):
    path, model = tmp_path / "model.safetensors", tiny()
    weights = model.net.layers[0].weight
    eqx.tree_at(lambda m: m.net.layers[0].weight, model, weights.at[0, 0].set(value)).save(path)
    with pytest.raises(CheckpointError, match=r"not finite .* learn it again: aloex fuzz learn"):
        load_model(path)


def test_a_short_run(corpus):
    """In 400 steps from -5.5 to about -log 8 = -2.08 by the position; beyond it by context.

    Seen with the whole context: -0.02.
    """
    learn_from, rest = read_corpus(corpus).split(0.2)
    how = {"settings": ModelSettings(hidden=32, embed_dim=4), "learning_rate": 1e-2}
    model = learn_model(learn_from, num_steps=400, batch_size=64, progress=False, **how)
    found = quality(model, rest, num_bytes=1024)
    assert -2.6 < found[0.0] < -1.9
    assert found[1.0] > -0.3


def test_the_work_of_the_default():
    """Chosen by what it knows of files held out, and to take less than a minute of one core."""
    chosen = training_settings("masked")
    assert (chosen.num_steps, chosen.batch_size, chosen.learning_rate) == (2000, 256, 3e-3)


def test_a_run_can_be_resumed(corpus, tmp_path):
    files = read_corpus(corpus)
    how = {"settings": SIZES, "batch_size": 8, "progress": False}
    go = lambda n, name, **more: learn_model(
        files, num_steps=n, folder=tmp_path / name, **how, **more
    )
    whole = go(3, "whole")
    go(2, "parts")
    resumed = go(3, "parts", resume=True)
    for a, b in zip(jax.tree.leaves(whole), jax.tree.leaves(resumed), strict=True):
        np.testing.assert_array_equal(a, b)
    with pytest.raises(CheckpointError, match="corpus="):
        learn_model(files.split(0.5)[0], num_steps=3, folder=tmp_path / "parts", resume=True, **how)


def cli(*words) -> str:
    done = CliRunner().invoke(app, ["fuzz", *map(str, words)])
    if done.exit_code and isinstance(done.exception, Exception):
        assert isinstance(done.exception, InputError | CheckpointError | SystemExit), done.exception
        return done.output + str(done.exception)
    return done.output


def test_from_the_command_line(stairs, corpus, tmp_path):
    model = tmp_path / "model.safetensors"
    fit = ("learn", corpus, "--out", model, "--batch-size", 4, "--held-out", 0.2)
    said = cli(*fit, "--steps", 2)
    assert "learned from: 16 files, 1280 bytes" in said
    assert "100% of its context visible: -" in said
    assert "--resume" in cli(*fit, "--steps", 3)
    run = ("run", stairs.library.parent, "--seeds", corpus, "--inputs", 500)
    by_model = ("--model", model, "--out", tmp_path / "once")
    assert "inputs: 500 mutants of 20 seeds" in cli(*run, *by_model)
    assert "must end in .safetensors" in cli("learn", corpus, "--out", tmp_path / "model")
