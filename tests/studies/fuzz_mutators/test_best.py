"""The mutator that settles all by what its model knows, and mutators that take turns."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from aloex.apps.fuzz.model import ModelSettings, load_model
from aloex.apps.fuzz.model.byte_predictor import BytePredictor
from aloex.base.errors import InputError
from stats import randomised
from studies.fuzz.mutators.best import EDITED, MAX_EDITED, MIN_KNOWN, best, known
from studies.fuzz.mutators.edits import ByteOfOtherSeed, Mutator, Uniform, other_byte
from studies.fuzz.mutators.mixture import CYCLE, Mixture
from studies.fuzz.mutators.numbers import EditsAndNumbers, anywhere
from studies.fuzz.mutators.sampler import ModelSampler

SEEDS = [b"", b"0123456789", b"abc", bytes(range(100)), b"#"]


def tiny() -> BytePredictor:
    return randomised(BytePredictor, ModelSettings(hidden=8, embed_dim=2), seed=0, scale=0.5)


def rows(mutants) -> list[tuple]:
    n = len(mutants.origin)
    return [(mutants.input(i), int(mutants.origin[i]), mutants.edits(i)) for i in range(n)]


@pytest.mark.parametrize("weights", [(1.0, 1.0, 2.0), (0.92, 0.04, 0.04), (0.0, 0.0, 3.0)])
def test_turns_are_as_many_as_the_weights_say(weights):
    parts = (Uniform(), ByteOfOtherSeed(), Uniform())
    share = np.bincount(Mixture(parts, weights).turns(), minlength=3) / CYCLE
    np.testing.assert_allclose(share, np.array(weights) / sum(weights), atol=3 / CYCLE)


def test_each_makes_its_own_mutants_in_their_order():
    """What has the turn of a mutator is what that would have made alone."""
    parts = (Uniform(edits=(1,)), ByteOfOtherSeed(edits=(3,)), Uniform(edits=(10,)))
    mutator = Mixture(parts, (0.5, 0.3, 0.2), seed=7)
    whole, turns = rows(mutator.mutate(SEEDS, 0, 2500)), mutator.turns()
    for number, edits in enumerate((1, 3, 10)):
        own = [row for i, row in enumerate(whole) if turns[i % CYCLE] == number]
        assert {len(row[2]) for row in own} == {edits}
        alone = replace(mutator, weights=tuple(float(j == number) for j in range(3)))
        assert rows(alone.mutate(SEEDS, 0, len(own))) == own
    assert rows(replace(mutator, seed=8).mutate(SEEDS, 0, 9)) != whole[:9]
    with pytest.raises(InputError, match="must not be negative, got -1"):
        Mixture(parts, (1.0, 1.0, 1.0), seed=-1)


def test_batches_of_turns_do_not_matter():
    parts = (Uniform(), ByteOfOtherSeed(), Uniform(edits=(2,)))
    mutator = Mixture(parts, (0.2, 0.3, 0.5), seed=3)
    whole = rows(mutator.mutate(SEEDS, 0, 2300))
    bounds = [0, 1, 1, 700, 1000, 2300]
    found = [rows(mutator.mutate(SEEDS, a, b - a)) for a, b in pairwise(bounds)]
    assert [row for part in found for row in part] == whole
    for data, origin, edits in whole:
        expected = bytearray(SEEDS[origin])
        for position, value in edits:
            expected[position] = value
        assert data == expected


def test_all_is_settled_by_what_is_known(tmp_path):
    """By hand: half of a byte is known if log p = -log(256) / 2; noise is capped."""
    with pytest.raises(InputError, match=r"does not say how well .* --held-out 0\.1"):
        best(tiny())
    for log_prob, wanted in ((-np.log(256) / 2, 0.5), (-0.0, 1.0), (-9.0, MIN_KNOWN)):
        tiny().save(tmp_path / "m", held_out=float(log_prob), seconds=7.0)
        model = load_model(tmp_path / "m")
        assert model.settings.seconds == 7.0 and known(model) == pytest.approx(wanted)
        mutator = best(model, seed=3)
        assert isinstance(mutator, Mutator) and mutator.seed == 3
        trust = wanted**1.5
        remaining = 1 - wanted / 2 - trust / 2
        assert mutator.weights == pytest.approx((wanted / 2, trust / 4, trust / 4, remaining))
        numbers, draw, redraw, rest = mutator.mutators
        few = [min(share / trust, MAX_EDITED) for share in EDITED]
        assert rest.edits == draw.edits == pytest.approx(few) and redraw.edits == (100,)
        assert isinstance(rest, EditsAndNumbers) and rest.positions is anywhere
        assert rest.choose is other_byte
        assert isinstance(draw.choose, ModelSampler) and not draw.choose.stay
        assert isinstance(redraw.choose, ModelSampler) and redraw.choose.stay
        assert isinstance(numbers, EditsAndNumbers) and numbers.positions is not anywhere
        assert numbers.edits == (1,) and (numbers.share, rest.share) == (1.0, 0.5)
    given = best(model, edits=(2,), keep=1)
    assert {(part.edits, part.keep) for part in given.mutators} == {((2,), 1)}
    assert given.edits == (2,) and mutator.edits == (1, MAX_EDITED, 100)
