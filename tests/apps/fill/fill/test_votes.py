"""Votes and answers of long tables: as if each row had been asked, and in bounded work."""

import math
import pickle
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aloex.apps.fill.expressions.base import Constant
from aloex.apps.fill.expressions.programs import Join
from aloex.apps.fill.expressions.text import Cell, Match
from aloex.apps.fill.fill import column, votes
from aloex.apps.fill.fill.column import SURE, fill_column
from aloex.apps.fill.fill.votes import Votes
from aloex.apps.fill.search import shapes, vote
from aloex.apps.fill.search.shapes import shape
from aloex.apps.fill.search.vote import rows_to_look_at
from aloex.base.errors import InputError

VOTERS = [
    (0.5, Match(0, "word", 2)),
    (0.3, Match(0, "word", -1)),
    (0.2, Join((Match(0, "word", 1), Constant("!")))),
]
WORDS = random.Random(0).choices(["a", "b", "c", "7"], k=300)
ROWS = [(" ".join(WORDS[i : i + 1 + i % 4]), str(i)) for i in range(200)]


@pytest.mark.parametrize("block", [1, 7, 1000])
def test_votes_are_those_of_each_row(block, monkeypatch):
    monkeypatch.setattr(votes, "BLOCK", block)
    told = []
    found = Votes(VOTERS, ROWS, told.append)
    assert told[-1] == len(ROWS)
    agreement = [0.0] * len(VOTERS)
    for i, row in enumerate(ROWS):
        texts = [program.run(row) for _, program in VOTERS]
        assert [each[i] for each in found.texts] == texts
        shares = {
            text: sum(p for (p, _), own in zip(VOTERS, texts, strict=True) if own == text)
            for text in texts
        }
        assert found.shares(i) == pytest.approx(shares)
        agreement = [a + shares[text] for a, text in zip(agreement, texts, strict=True)]
    assert found.best() == agreement.index(max(agreement))


def test_equal_texts_are_kept_once():
    found = Votes([(0.5, Match(0, "word", 1)), (0.5, Cell(0))], [("long" * 9,)])
    assert found.texts[0][0] is found.texts[1][0]


def test_answers_are_made_when_asked_for():
    rows = [(f"{name} {k}",) for k in range(50) for name in ("Ada King", "Al Bo", "?", "X")]
    outputs = ["King", "Bo", *[None] * 198]
    filled = fill_column(rows, outputs, ["name"])
    answers = list(filled.answers)
    assert len(filled.answers) == len(answers) == 200
    again = pickle.loads(pickle.dumps(filled))  # noqa: S301
    assert filled.answers == answers and again == filled and repr(filled.answers) == repr(answers)
    assert filled.answers[-1] == answers[199] and filled.answers[3:9:2] == answers[3:9:2]
    assert filled.values == [answer.text or "" for answer in answers]
    assert filled.confidence == [answer.confidence for answer in answers]
    doubtful = [i for i, answer in enumerate(answers) if answer.in_doubt]
    assert filled.in_doubt == doubtful and filled.sure == (not doubtful)
    assert all(answers[i].text is None or answers[i].confidence < SURE for i in doubtful)
    with pytest.raises(IndexError):
        filled.answers[200]
    entropy = [-sum(p * math.log(p) for p in _shares(answers[i]) if p > 0) for i in doubtful]
    assert filled.ask_next == doubtful[entropy.index(max(entropy))]


def _shares(answer):
    return [answer.confidence, *answer.others.values()]


@given(st.text("aBc 09.\t\n_é½-", max_size=20))
def test_shapes_of_masks_are_those_of_texts(text):
    assert shape(text) == shapes._shape(text)


def test_rows_like_books_are_not_looked_at(monkeypatch):
    monkeypatch.setattr(vote, "MAX_LOOKED_AT_CHARS", 100)
    rows = [("x" * 500,), ("a b",), ("y" * 101,), ("c 1",), ("d" * 80,), ("7" * 30,)]
    assert rows_to_look_at(rows, 1) == [0, 1, 3, 5]  # examples always are


def test_long_examples_are_checked_but_not_searched(monkeypatch):
    monkeypatch.setattr(column, "MAX_EXAMPLE", 50)
    long = f"{'x' * 60} end"
    rows = [(long,), ("Ada King",), ("Al Bo",), ("Cy Dee",)]
    filled = fill_column(rows, ["end", "King", "Bo", None], ["name"])
    assert filled.values[-1] == "Dee" and filled.program.run(long) == "end"
    with pytest.raises(InputError, match="all examples are longer than 50 characters"):
        fill_column([(long,), ("a b",)], ["end", None], ["name"])
