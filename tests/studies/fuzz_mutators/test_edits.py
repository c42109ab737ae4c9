"""Mutators: their law by enumeration and by draws, and that batches do not matter."""

from itertools import pairwise

import numpy as np
import pytest

from aloex.base.errors import InputError
from stats import assert_draws_match
from studies.fuzz.mutators import edits as module
from studies.fuzz.mutators.edits import ByteOfOtherSeed, Edits, Mutants, RandomEdits, Uniform

SEEDS = [b"", b"0123456789", b"abc", b"ABCDEFG", b"#"]


def edits_at(origin: int, position: int, chance: np.ndarray) -> Edits:
    n = len(chance)
    current = np.full(n, SEEDS[origin][position], np.uint8)
    return Edits(SEEDS, np.full(n, origin), np.full(n, position), current, chance)


def grid(n: int) -> np.ndarray:
    """The middle of each of n equal parts of [0, 1)."""
    return (np.arange(n) + 0.5) / n


def test_values_by_enumeration():
    for origin, seed in enumerate(SEEDS):
        for position, current in enumerate(seed):
            anything = module.any_byte(edits_at(origin, position, grid(256)))
            assert sorted(anything.tolist()) == list(range(256))
            rest = [value for value in range(256) if value != current]
            other = module.other_byte(edits_at(origin, position, grid(255)))
            assert sorted(other.tolist()) == rest
            others = [x[position] for i, x in enumerate(SEEDS) if i != origin and len(x) > position]
            another = module.byte_of_other_seed(
                edits_at(origin, position, grid(len(others) or 255))
            )
            assert sorted(another.tolist()) == (sorted(others) or rest)


def test_draws():
    """Null hypotheses: origins, numbers of edits and positions are uniform and independent."""
    options, keep = (1, 2, 5), 1
    mutants = Uniform(seed=3, edits=options, keep=keep).mutate(SEEDS, 0, 30_000)
    usable = [i for i, x in enumerate(SEEDS) if len(x) > keep]
    num_edits = np.diff(mutants.first)
    both = [np.sum((mutants.origin == i) & (num_edits == k)) for i in usable for k in options]
    assert_draws_match(both, np.full(len(both), 1 / len(both)))
    assert np.sum(both) == len(mutants.origin)
    owner = np.repeat(mutants.origin, num_edits)
    for i in usable:
        room = len(SEEDS[i]) - keep
        counts = np.bincount(mutants.positions[owner == i] - keep, minlength=room)
        assert_draws_match(counts, np.full(room, 1 / room))
        values = (
            mutants.values[owner == i]
            - np.frombuffer(SEEDS[i], np.uint8)[mutants.positions[owner == i]]
        )
        probs = np.full(256, 1 / 255)
        probs[0] = 0  # never the byte that was there
        assert_draws_match(np.bincount(values, minlength=256), probs)


def assert_same(a: Mutants, b: Mutants) -> None:
    assert [a.input(i) for i in range(len(a.origin))] == [b.input(i) for i in range(len(b.origin))]
    assert np.array_equal(a.origin, b.origin)
    assert [a.edits(i) for i in range(len(a.origin))] == [b.edits(i) for i in range(len(b.origin))]


def joined(parts: list[Mutants]) -> tuple[list[bytes], list[list[tuple[int, int]]]]:
    each = [(part, i) for part in parts for i in range(len(part.origin))]
    return [part.input(i) for part, i in each], [part.edits(i) for part, i in each]


@pytest.mark.parametrize("kind", [Uniform, ByteOfOtherSeed])
def test_batches_do_not_matter(kind):
    mutator = kind(seed=7, edits=(1, 3, 10))
    bounds = [0, 1, 2, 700, 1023, 1024, 1024, 2500, 4096, 5000]
    parts = [mutator.mutate(SEEDS, a, b - a) for a, b in pairwise(bounds)]
    whole = mutator.mutate(SEEDS, 0, 5000)
    assert joined(parts) == joined([whole])
    assert_same(whole, kind(seed=7, edits=(1, 3, 10)).mutate(SEEDS, 0, 5000))
    assert joined([kind(seed=8, edits=(1, 3, 10)).mutate(SEEDS, 0, 50)])[0] != joined(parts)[0][:50]
    assert not np.array_equal(whole.origin[:1024], whole.origin[1024:2048])  # nor do blocks repeat


@pytest.mark.parametrize("kind", [Uniform, ByteOfOtherSeed])
def test_a_mutant_is_its_origin_with_the_edits(kind):
    mutants = kind(edits=(1, 4, 30), keep=2).mutate(SEEDS, 500, 2000)
    for i in range(2000):
        expected = bytearray(SEEDS[mutants.origin[i]])
        for position, value in mutants.edits(i):
            expected[position] = value
        assert mutants.input(i) == expected
        assert expected[:2] == SEEDS[mutants.origin[i]][:2]


def test_one_edit_of_uniform_always_changes_the_seed():
    mutants = Uniform(edits=(1,)).mutate(SEEDS, 0, 2000)
    assert all(mutants.input(i) != SEEDS[mutants.origin[i]] for i in range(2000))


def test_edits_as_a_share_of_the_bytes():
    """By hand: of 10, 3, 7 and 1 bytes; what is kept does not count."""
    asked, room = np.array([0.25, 0.25, 0.25, 0.25, 3]), np.array([10, 3, 7, 1, 1])
    np.testing.assert_array_equal(module.count_edits(asked, room), [2, 1, 2, 1, 3])
    for keep in (0, 2):
        mutants = Uniform(edits=(0.25, 4), keep=keep).mutate(SEEDS, 0, 500)
        shares = {i: max(1, round(0.25 * (len(x) - keep))) for i, x in enumerate(SEEDS)}
        numbers = set(zip(mutants.origin.tolist(), np.diff(mutants.first).tolist(), strict=True))
        usable = [i for i, x in enumerate(SEEDS) if len(x) > keep]
        assert numbers == {(i, k) for i in usable for k in (shares[i], 4)}


def test_the_current_value_can_be_allowed():
    mutants = RandomEdits(module.any_byte, edits=(1,)).mutate(SEEDS, 0, 20_000)
    same = sum(mutants.input(i) == SEEDS[mutants.origin[i]] for i in range(20_000))
    assert_draws_match([same, 20_000 - same], [1 / 256, 255 / 256])


def test_mistakes_are_told():
    for wrong, words in (
        ({"edits": ()}, "edits must be"),
        ({"edits": (1, 0)}, "edits must be"),
        ({"edits": (1.5,)}, "edits must be"),
        ({"edits": (float("inf"),)}, "edits must be"),
        ({"keep": -1}, "at least 0, got -1"),
        ({"seed": -1}, "not be negative, got -1"),
    ):
        with pytest.raises(InputError, match=words):
            Uniform(**wrong)
    with pytest.raises(InputError, match="longer than the 10 bytes to keep; none of the 5 seeds"):
        Uniform(keep=10).mutate(SEEDS, 0, 1)
    with pytest.raises(InputError, match="a seed with a byte to change"):
        Uniform().mutate([b""], 0, 1)
    assert len(Uniform().mutate(SEEDS, 5, 0).origin) == 0
