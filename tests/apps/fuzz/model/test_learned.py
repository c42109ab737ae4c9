"""The learned mutator: its model, its file, learning it, and the law of its edits."""

from itertools import pairwise

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from typer.testing import CliRunner

from aloex.apps.fuzz.inputs import read_corpus
from aloex.apps.fuzz.model import ModelSettings, load_model
from aloex.apps.fuzz.model.byte_predictor import BytePredictor
from aloex.apps.fuzz.model.contexts import MASKED, WINDOW, context, mask
from aloex.apps.fuzz.model.learn import learn_model, quality
from aloex.apps.fuzz.mutate.mutators import Edits
from aloex.apps.fuzz.mutate.with_model import sampler
from aloex.apps.fuzz.mutate.with_model.sampler import ModelSampler, learned
from aloex.base.errors import CheckpointError, InputError
from aloex.cli.main import app
from aloex.runs import model_file
from stats import assert_draws_match, compiled, randomised

SIZES = ModelSettings(hidden=8, embed_dim=2)
SEEDS = [b"", b"0123456789", b"abc", bytes(range(100)), b"#"]
VISIBLE_FRACTIONS = (0.0, 0.5, 1.0)


def tiny(seed=0) -> BytePredictor:
    return randomised(BytePredictor, SIZES, seed=seed, scale=0.5)


def distribution(
    model, seed, position, visible_fraction, temperature, key, stay=False
) -> np.ndarray:
    """The probabilities of the 256 values, straight from their definition."""
    data = np.frombuffer(seed, np.uint8)
    x = context(data, np.array(0), np.array(len(seed)), np.array(position))
    key = jax.random.fold_in(jax.random.fold_in(jax.random.key(0), position), key)
    x = mask(key, jnp.asarray(x), jnp.asarray(visible_fraction))
    place = (jnp.asarray(position), jnp.asarray(len(seed) - 1 - position))
    p = np.exp(np.asarray(model(x, *place), np.float64) / temperature)
    p[seed[position]] *= stay
    return p / p.sum()


def edits_at(origin, position, chance) -> Edits:
    n = len(chance)
    current = np.full(n, SEEDS[origin][position], np.uint8)
    return Edits(SEEDS, np.full(n, origin), np.full(n, position), current, chance)


@pytest.mark.parametrize("temperature, stay", [(0.7, False), (3.0, False), (0.7, True)])
def test_distributions_by_enumeration(temperature, stay):
    choose, model = ModelSampler(tiny(), VISIBLE_FRACTIONS, (temperature,), stay=stay), tiny()
    n = sampler.FULL  # chances for each fraction, one for each step of a table
    chance = (np.arange(n * len(VISIBLE_FRACTIONS)) + 0.5) / (n * len(VISIBLE_FRACTIONS))
    for origin, position in ((1, 0), (1, 9), (3, 0), (3, 50), (4, 0)):
        values = choose(edits_at(origin, position, chance)).reshape(len(VISIBLE_FRACTIONS), n)
        for i, row in enumerate(values):
            probs = distribution(
                model, SEEDS[origin], position, VISIBLE_FRACTIONS[i], temperature, i, stay
            )
            found = np.bincount(row, minlength=256) / n
            np.testing.assert_allclose(np.cumsum(found), np.cumsum(probs), atol=2 / n)
            assert stay or found[SEEDS[origin][position]] == 0


def test_pairs_of_visible_fractions_and_temperatures():
    """Each pair is as likely and has its own distribution; kept or not, it is the same."""
    pairs = [(fraction, t) for fraction in VISIBLE_FRACTIONS for t in (1.0, 3.0)]
    kept = ModelSampler(tiny(), VISIBLE_FRACTIONS, (1.0, 3.0))
    fresh = ModelSampler(tiny(), VISIBLE_FRACTIONS, (1.0, 3.0), keep=False)
    assert kept.pairs == fresh.pairs == pairs
    n = sampler.FULL
    chance = (np.arange(n) + 0.5) / n
    for i, (fraction, temperature) in enumerate(pairs):
        values = fresh.draw(edits_at(3, 50, chance), np.full(n, i))
        np.testing.assert_array_equal(values, kept.draw(edits_at(3, 50, chance), np.full(n, i)))
        np.testing.assert_array_equal(values[::7], kept(edits_at(3, 50, (i + chance) / 6))[::7])
        probs = distribution(tiny(), SEEDS[3], 50, fraction, temperature, key=i)
        found = np.bincount(values, minlength=256) / n
        np.testing.assert_allclose(np.cumsum(found), np.cumsum(probs), atol=2 / n)


def test_draws():
    """Null hypothesis: values follow the mean distribution of the visible fractions."""
    mutants = learned(tiny(), visible_fractions=VISIBLE_FRACTIONS, seed=3, edits=(1,)).mutate(
        [SEEDS[1][:2]], 0, 30_000
    )
    for position in range(2):
        probs = np.mean(
            [
                distribution(tiny(), SEEDS[1][:2], position, VISIBLE_FRACTIONS[i], 1.0, i)
                for i in range(3)
            ],
            axis=0,
        )
        values = mutants.values[mutants.positions == position]
        assert_draws_match(np.bincount(values, minlength=256), probs)


def test_batches_do_not_matter(monkeypatch):
    make = lambda: learned(tiny(), seed=7, edits=(1, 3, 10))
    whole = make().mutate(SEEDS, 0, 3000)
    rows = lambda mutants: [
        (mutants.input(i), int(mutants.origin[i]), mutants.edits(i))
        for i in range(len(mutants.origin))
    ]
    mutator, bounds = make(), [0, 1, 700, 1024, 1024, 3000]
    parts = [mutator.mutate(SEEDS, a, b - a) for a, b in pairwise(bounds)]
    assert [row for part in parts for row in rows(part)] == rows(whole)
    for i, (data, origin, edits) in enumerate(rows(whole)):
        expected = bytearray(SEEDS[origin])
        for position, value in edits:
            expected[position] = value
            assert value != SEEDS[origin][position]
        assert data == expected, i
    # A pool that grows, in another order, and tables that are forgotten on the way.
    monkeypatch.setattr(sampler, "MAX_TABLES", 300)
    monkeypatch.setattr(sampler, "AT_ONCE", 200)
    mutator = make()
    mutator.mutate([b"something else", *SEEDS[::-1]], 0, 100)
    assert rows(mutator.mutate(SEEDS, 0, 3000)) == rows(whole)


def test_an_infinite_temperature_is_uniform():
    """Null hypothesis: all values but the one there are as likely."""
    mutants = learned(tiny(), temperatures=(np.inf,), edits=(1,)).mutate([b"#"], 0, 30_000)
    probs = np.full(256, 1 / 255)
    probs[ord("#")] = 0
    assert_draws_match(np.bincount(mutants.values, minlength=256), probs)


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


def test_mistakes_are_told():
    for wrong, words in (
        ({"visible_fractions": ()}, "numbers from 0 to 1"),
        ({"visible_fractions": (0.5, 1.5)}, "numbers from 0 to 1"),
        ({"visible_fractions": (float("nan"),)}, "numbers from 0 to 1"),
        ({"temperatures": (0.0,)}, r"must be positive, got \(0"),
        ({"temperatures": (1.0, float("nan"))}, "must be positive, got .*nan"),
        ({"edits": (0,)}, "edits must be"),
    ):
        with pytest.raises(InputError, match=words):
            learned(tiny(), **wrong)


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
    run = ("run", stairs.library.parent, "--seeds", corpus, "--inputs", 500, "--edits", "1,3")
    by_model = ("--mutator", "learned", "--model", model)
    assert "inputs: 500 mutants of 20 seeds" in cli(*run, *by_model, "--out", tmp_path / "once")
    again = ("--mutator", "resample", "--model", model, "--out", tmp_path / "again")
    assert "inputs: 500 mutants of 20 seeds" in cli(*run, *again)
    best = ("--mutator", "best", "--model", model, "--out", tmp_path / "best")
    assert "inputs: 500 mutants of 20 seeds" in cli(*run[:-2], *best)
    other = cli(*run, *by_model, "--visible", "0,1", "--out", tmp_path / "once")
    assert "has visible=" in other and "inputs: 500" not in other
    assert "needs a model: --model FILE" in cli(*run, "--mutator", "learned")
    plain = ("--mutator", "uniform", "--model", model)
    assert "the mutator uniform takes no model" in cli(*run, *plain)
    assert "such as 0.5 or 0,0.5,1, got 'much'" in cli(*run, *by_model, "--visible", "much")
    assert "must end in .safetensors" in cli("learn", corpus, "--out", tmp_path / "model")
