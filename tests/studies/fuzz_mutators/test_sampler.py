"""Bytes drawn from a model: their law by enumeration and by draws; batches do not matter."""

from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from aloex.apps.fuzz.model import ModelSettings
from aloex.apps.fuzz.model.byte_predictor import BytePredictor
from aloex.apps.fuzz.model.contexts import context, mask
from aloex.base.errors import InputError
from stats import assert_draws_match, randomised
from studies.fuzz.mutators import sampler
from studies.fuzz.mutators.edits import Edits
from studies.fuzz.mutators.sampler import ModelSampler, learned

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
    """Each pair is as likely and has its own distribution."""
    pairs = [(fraction, t) for fraction in VISIBLE_FRACTIONS for t in (1.0, 3.0)]
    choose = ModelSampler(tiny(), VISIBLE_FRACTIONS, (1.0, 3.0))
    assert choose.pairs == pairs
    n = sampler.FULL
    chance = (np.arange(n) + 0.5) / n
    for i, (fraction, temperature) in enumerate(pairs):
        values = choose.draw(edits_at(3, 50, chance), np.full(n, i))
        np.testing.assert_array_equal(values[::7], choose(edits_at(3, 50, (i + chance) / 6))[::7])
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
