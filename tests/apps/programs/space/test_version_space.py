"""The version space against enumeration: every clean expression is run, every sequence is tried."""

import math
from collections import Counter
from functools import cache
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aloex.apps.programs.language import ConstPos, ConstStr, ConstTok, RegexTok, SubStr, run
from aloex.apps.programs.language.canonical import order
from aloex.apps.programs.space import version_space
from aloex.apps.programs.space.k_best import best
from aloex.apps.programs.space.sample import Sampler
from aloex.apps.programs.space.score import Flat, Simple, is_whole, of_program
from aloex.apps.programs.space.version_space import PLAIN_REGEXES, VersionSpace
from aloex.base.errors import InputError
from stats import assert_draws_match

CHARS = ("-", ",")
CASES = [
    [("ab-3", "ab")],
    [("a-b", "b-"), ("xy-z", "z-")],
    [("Ab 12", "12,A"), ("Cde 7", "7,C"), ("F 345", "345,F")],
    [("aa", "aaa")],
    [("x1,y2", "y2x1"), ("zz3,w", "wzz3")],  # no order of the two is meant
    [("a", "b")],
]


@cache
def clean_exprs():
    """All clean expressions over CHARS."""
    positions = [ConstPos(k) for k in range(-4, 5)]
    for k in (-4, -3, -2, -1, 1, 2, 3, 4):
        for direct in ("Start", "End"):
            positions += [RegexTok(name, k, direct) for name in PLAIN_REGEXES]
            positions += [ConstTok(char, k, direct) for char in CHARS]
    pairs = combinations(sorted(positions, key=order), 2)
    return [*map(ConstStr, CHARS), *(SubStr(p1, p2) for p1, p2 in pairs)]


def written(examples):
    """What each expression writes in the examples; those that do not apply are left out."""
    found = {}
    for expr in clean_exprs():
        texts = tuple(run((expr,), x) for x, _ in examples)
        if None not in texts:
            found[expr] = texts
    return found


def enumerate_programs(examples, max_expressions):
    """All clean programs of bounded length that write the outputs, by trying every expression."""
    outputs = tuple(y for _, y in examples)
    exprs = [
        (expr, texts)
        for expr, texts in written(examples).items()
        if all(text in y for text, y in zip(texts, outputs, strict=True))
    ]
    found, partial = [], [((), ("",) * len(outputs))]
    for _ in range(max_expressions):
        longer = []
        for program, sofar in partial:
            for expr, texts in exprs:
                now = tuple(a + b for a, b in zip(sofar, texts, strict=True))
                if all(y.startswith(text) for y, text in zip(outputs, now, strict=True)):
                    longer.append(((*program, expr), now))
        found += [program for program, now in longer if now == outputs]
        partial = longer
    return found


def space_of(examples):
    return VersionSpace(examples, constants=CHARS, tokens=CHARS)


@pytest.mark.parametrize("examples", CASES)
def test_the_space_is_what_enumeration_finds(examples):
    expected = enumerate_programs(examples, 2)
    space = space_of(examples)
    lengths = Counter(map(len, expected))
    assert space.counts(2) == [lengths[1], lengths[2]]
    listed = best(space, len(expected) + 5, Short())
    listed = [program for score, program in listed if len(program) <= 2]
    assert len(listed) == len(expected)
    assert set(listed) == set(expected)


class Short(Flat):
    """Puts shorter programs before longer ones."""

    substring = -1.0

    def __init__(self):
        pass

    def constant(self, char):
        return -1.0


def test_some_cases_have_programs_and_some_do_not():
    assert [bool(space_of(examples)) for examples in CASES] == [True, True, True, True, True, False]
    assert space_of(CASES[-1]).count() == 0
    assert best(space_of(CASES[-1])) == []


@pytest.mark.parametrize("examples", [CASES[1], CASES[2]])
def test_counts_add_up(examples):
    space = space_of(examples)
    longest = min(len(y) for _, y in examples)
    assert sum(space.counts(longest)) == space.count() > 0


@pytest.mark.parametrize("examples", [CASES[0], CASES[1]])
@pytest.mark.parametrize("whole", [0.0, 3.0])
def test_best_is_the_top_of_the_enumeration(examples, whole):
    score = Simple(crossed=0.0, whole=whole)
    scores = sorted((of_program(score, p) for p in enumerate_programs(examples, 2)), reverse=True)
    found = best(space_of(examples), 50, score)
    assert np.allclose([value for value, _ in found], scores[:50])  # longer ones score less
    for value, program in found:
        assert math.isclose(value, of_program(score, program))
        assert all(run(program, x) == y for x, y in examples)
    assert len({program for _, program in found}) == 50
    assert best(space_of(examples), score=score) == found[:10]


SMALL = [("ab", "ab")]  # its programs have one or two expressions


@pytest.mark.parametrize("score", [Flat(), Simple(crossed=0.0, substring=-1.0, whole=1.5)])
def test_draws_follow_the_score(score):
    space = space_of(SMALL)
    programs = enumerate_programs(SMALL, 2)
    weights = np.array([math.exp(of_program(score, program)) for program in programs])
    sampler = Sampler(space, score)
    assert math.isclose(sampler.log_z, math.log(weights.sum()))
    assert space.count() == len(programs)
    index = {program: i for i, program in enumerate(programs)}
    draws = sampler.draw(np.random.default_rng(0), 15_000)
    counts = np.bincount([index[program] for program in draws], minlength=len(programs))
    # Cells by first position and number of expressions, so that each expects enough.
    cells = {}
    cell = [cells.setdefault((len(p), p[0].p1, is_whole(p[0])), len(cells)) for p in programs]
    assert any(is_whole(p[0]) for p in programs)
    assert_draws_match(np.bincount(cell, counts), np.bincount(cell, weights / weights.sum()))


def test_pairs_that_change_their_order_are_told():
    examples = [("a1", "a"), ("2b", "2")]  # from the first letter to the first digit, either way
    lower, digits = RegexTok("Lower", 1, "Start"), RegexTok("Digits", 1, "Start")
    space = space_of(examples)
    programs = {program: value for value, program in best(space, 500, Simple(crossed=-100.0))}
    assert programs[(SubStr(lower, digits),)] < -100
    assert programs[(SubStr(ConstPos(0), ConstPos(1)),)] > -100


texts = st.text(alphabet="ab1- ", min_size=1, max_size=8)


@settings(max_examples=30)
@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=3, unique_by=lambda pair: pair[0]))
def test_all_that_is_found_fits(examples):
    space = VersionSpace(examples)
    found = best(space, 5)
    assert bool(found) == bool(space) == (space.count() > 0)
    values = [value for value, _ in found]
    assert values == sorted(values, reverse=True)
    drawn = Sampler(space).draw(np.random.default_rng(0), 5) if space else []
    for program in [*(program for _, program in found), *drawn]:
        assert [run(program, x) for x, _ in examples] == [y for _, y in examples]


def test_any_characters_and_lengths():
    examples = [("naïve — 東京 " * 40 + "x9", "9東"), ("é 東 " + "y" * 100 + "12", "12東")]
    space = VersionSpace(examples, constants=("東",), tokens=("—", "東"))
    program = best(space, 1)[0][1]
    assert [run(program, x) for x, _ in examples] == ["9東", "12東"]


def test_what_cannot_be_asked(monkeypatch):
    for examples in ([], [("a", "")]):
        with pytest.raises(InputError):
            VersionSpace(examples)
    monkeypatch.setattr(version_space, "MAX_NODES", 10)
    with pytest.raises(InputError, match="too many ways"):
        VersionSpace([("a" * 8, "a" * 30), ("a" * 9, "a" * 30)])
    with pytest.raises(InputError, match="no program"):
        Sampler(VersionSpace([("a", "b")]))
