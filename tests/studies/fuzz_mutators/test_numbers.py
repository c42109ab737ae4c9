"""Numbers changed as numbers: where, to what, and all equal ones alike."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from aloex.apps.fuzz.model import ModelSettings
from aloex.apps.fuzz.model.byte_predictor import BytePredictor
from aloex.apps.fuzz.model.contexts import context, mask
from stats import assert_draws_match, randomised
from studies.fuzz.mutators import numbers
from studies.fuzz.mutators.certainty import MAX_POSITIONS, Certainty
from studies.fuzz.mutators.edits import other_byte
from studies.fuzz.mutators.numbers import EditsAndNumbers, Positions, change_numbers, new_number

SEEDS = [b"", b"0123456789", b"\x00\x00\x01\x00" * 30, bytes(range(100)), b"#"]


def tiny() -> BytePredictor:
    return randomised(BytePredictor, ModelSettings(hidden=8, embed_dim=2), seed=0, scale=0.5)


def test_places_are_drawn_where_the_model_is_sure():
    model, seed, keep = tiny(), SEEDS[3], 60
    positions = Certainty(model)(seed, keep)
    weights = []
    for i in range(keep, len(seed)):
        x = context(np.frombuffer(seed, np.uint8), np.array(0), np.array(len(seed)), np.array(i))
        x = mask(jax.random.fold_in(jax.random.key(0), i), jnp.asarray(x), jnp.asarray(0.5))
        log_p = np.asarray(model(x, jnp.asarray(i), jnp.asarray(len(seed) - 1 - i)), np.float64)
        weights.append((1 + np.sum(np.exp(log_p) * log_p) / np.log(256)) ** 4)
    np.testing.assert_array_equal(positions.position, np.arange(keep, len(seed)))
    np.testing.assert_allclose(np.diff(positions.cumulative, prepend=0), weights, atol=1e-5)

    rng = np.random.default_rng(0)
    drawn = np.bincount([positions.draw(rng) - keep for _ in range(5000)], minlength=len(weights))
    assert_draws_match(drawn, np.array(weights) / np.sum(weights))


def test_of_a_long_seed_some_places_are_looked_at():
    positions = Certainty(tiny())(bytes(3 * MAX_POSITIONS), 5)
    assert len(positions.position) == len(set(positions.position.tolist())) == MAX_POSITIONS
    assert positions.position.min() >= 5
    assert positions.position.max() < 3 * MAX_POSITIONS


def test_new_numbers_are_shifted_scaled_or_at_a_boundary():
    rng = np.random.default_rng(1)
    old = 1000
    made = {int.from_bytes(new_number(old.to_bytes(2, "big"), rng), "big") for _ in range(20_000)}
    as_big = {(old + d) % 65536 for d in range(-35, 36)}
    as_big |= {(old << k) % 65536 for k in range(1, 7)} | {old >> k for k in range(1, 4)}
    as_big |= {0, 1, 16, 32, 64, 100, 127, 65535, 32768, 32767}
    swap = lambda n: int.from_bytes(n.to_bytes(2, "little"), "big")
    turned = swap(old)
    as_little = {(turned + d) % 65536 for d in range(-35, 36)}
    as_little |= {(turned << k) % 65536 for k in range(1, 7)} | {turned >> k for k in range(1, 4)}
    as_little |= {0, 1, 16, 32, 64, 100, 127, 65535, 32768, 32767}
    assert made == as_big | {swap(n) for n in as_little}


def test_equal_numbers_change_alike_or_one_alone():
    positions = Positions(np.array([7]), np.array([1.0]))
    ways = set()
    for seed in range(300):
        x = np.frombuffer(bytearray(b"\x07" + b"ab" * 4 + b"xy" + b"\x09"), np.uint8)
        before = x.copy()
        written = change_numbers(x, positions, 1, np.random.default_rng(seed))
        assert x[0] == 7  # is kept
        after = before.copy()
        for position, value in written:
            after[position] = value
        np.testing.assert_array_equal(x, after)
        ways.add(len({position for position, _ in written}))
    assert {1, 2, 4} <= ways  # numbers by themselves
    assert max(ways) >= 8  # all that are like it


def test_up_to_three_numbers_change():
    """Null hypothesis: 1, 2 or 3, each as likely; `new_number` is asked once for each."""
    asked, rng = [], np.random.default_rng(0)
    positions = Positions(np.array([0]), np.ones(1))
    for _ in range(600):
        made = []
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(numbers, "new_number", lambda old, rng, made=made: made.append(1) or old)
            change_numbers(np.arange(8, dtype=np.uint8), positions, 0, rng)
        asked.append(len(made))
    assert_draws_match(np.bincount(asked, minlength=5), np.array([0, 1, 1, 1, 0]) / 3)


def test_mutants_are_told_by_their_edits_whatever_the_batches():
    mutator = EditsAndNumbers(other_byte, seed=4, edits=(3,), keep=1, positions=Certainty(tiny()))
    whole = mutator.mutate(SEEDS, 0, 200)
    for i in range(200):
        x = bytearray(SEEDS[whole.origin[i]])
        for position, value in whole.edits(i):
            assert position >= 1
            x[position] = value
        assert bytes(x) == whole.input(i)
    parts = [mutator.mutate(SEEDS, start, n) for start, n in ((0, 30), (30, 170))]
    assert [m.input(i) for m in parts for i in range(len(m.origin))] == [
        whole.input(i) for i in range(200)
    ]
    # About half have more than the three edits.
    more = np.sum(np.diff(whole.first) > 3)
    assert_draws_match([200 - more, more], [0.5, 0.5])
    other = replace(mutator, seed=5).mutate(SEEDS, 0, 200)
    assert [other.input(i) for i in range(200)] != [whole.input(i) for i in range(200)]


def test_equal_numbers_change_up_to_256_bytes_away(monkeypatch):
    """Numbers in the range [256 before, 256 after) change alike; none beyond it does."""
    monkeypatch.setattr(numbers, "MAX_NUMBERS", 1)
    at, positions, changed = 512, Positions(np.array([512]), np.ones(1)), set()
    for seed in range(50):
        x = np.full(2 * at, 7, np.uint8)
        edits = change_numbers(x, positions, 0, np.random.default_rng(seed))
        changed |= {position - at for position, _ in edits}
    assert (min(changed), max(changed)) == (-256, 255)
