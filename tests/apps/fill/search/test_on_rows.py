"""What rows without examples, and the parts together, say of a program: by hand."""

import pytest

from aloex.apps.fill.expressions.base import Constant, Expression, Row
from aloex.apps.fill.expressions.cases import Case
from aloex.apps.fill.expressions.dates.date_part import DatePart
from aloex.apps.fill.expressions.numbers.values import CellNumber, NumberText
from aloex.apps.fill.expressions.programs import Join
from aloex.apps.fill.expressions.rewrite import EveryMatch
from aloex.apps.fill.expressions.slices import Position, Slice
from aloex.apps.fill.expressions.text import Cell, Digits
from aloex.apps.fill.search.on_rows import FEW, MANY, Examples, features_on_rows, is_missing
from aloex.apps.fill.search.vote import shares_of_agreement
from aloex.apps.fill.search.whole_program import whole_features

ROWS: list[Row] = [("a-12",), ("b-34",)]
EXAMPLES = Examples.of(ROWS, ["12", "34"])


@pytest.mark.parametrize(
    ("texts", "feature", "amount"),
    [
        (["56", None], "fails", 0.5),
        (["56", ""], "fails", 0.5),
        (["56", "78"], "fails_somewhere", 0.0),
        (["56", "x"], "new_shape", 0.5),
        (["56", "x"], "new_shape_somewhere", 1.0),
        (["56", "789"], "new_length", 0.5),
        (["56", "789"], "new_shape", 0.0),
        (["5.6", "7,890"], "new_loose_shape", 0.0),
        (["5.6", "x"], "new_loose_shape", 0.5),
        (["56", "56"], "repeats", 0.5),
        (["c-56", "78"], "copies_a_cell", 0.5),
        (["12", "34"], "as_before", 1.0),
        (["56 ", "(78"], "untidy", 1.0),
        (["", "d-78"], "used_less", 0.25),
    ],
)
def test_texts_of_other_rows(texts: list[str | None], feature: str, amount: float):
    rows: list[Row] = [("c-56",), ("d-78",)] * 2
    assert features_on_rows(rows, texts * 2, EXAMPLES)[feature] == amount


def test_few_rows_say_less():
    amounts = [
        features_on_rows([("c-56",)] * n, ["x"] * n, EXAMPLES)["new_shape"] for n in (1, 2, 4, 8)
    ]
    assert amounts == [0.25, 0.5, 1.0, 1.0] and FEW == 4


def test_one_row_of_many_may_be_odd():
    def fails(num_failed: int, number: int) -> float:
        texts = [None] * num_failed + ["56"] * (number - num_failed)
        return features_on_rows([("c-56",)] * number, texts, EXAMPLES)["fails_somewhere"]

    assert (fails(1, MANY - 1), fails(1, MANY), fails(2, MANY)) == (1.0, 0.0, 1.0) and MANY == 6


def test_words_that_the_examples_keep():
    keep = Examples.of([("one two",)], ["two one"])
    rows: list[Row] = [("x y 9",)] * FEW
    assert features_on_rows(rows, ["y x"] * FEW, keep)["loses_words"] == 1.0
    assert features_on_rows(rows, ["9 Y x"] * FEW, keep)["loses_words"] == 0.0
    assert features_on_rows([("c-56",)], ["c"], EXAMPLES)["loses_words"] == 0.0


def test_nothing_is_said_without_other_rows():
    assert features_on_rows([], [], EXAMPLES) == {}
    assert is_missing(("n/a", " ")) and not is_missing(("n/a", "x"))


def test_programs_that_write_the_same():
    assert shares_of_agreement([["a", "b"], ["a", "c"]]) == [0.75, 0.75]
    assert shares_of_agreement([[], []]) == [0.0, 0.0]


def test_parts_that_go_together():
    def of(*parts: Expression) -> dict[str, float]:
        return whole_features(Join(parts))

    money = NumberText(CellNumber(0, 0, "."), group=",")
    assert of(Constant("€"), money)["money_group"] == 1.0
    assert "money_group" not in of(Constant("no "), money)
    assert of(Constant("s"), Cell(0), Constant("me"))["inside_word"] == 1.0
    assert of(Constant("s "), Cell(0), Constant("me"))["inside_word"] == 0.0
    words = EveryMatch(Cell(0), "word")
    assert of(Cell(0), words)["rewritten_among_parts"] == 1.0
    assert of(words)["rewritten_among_parts"] == 0.0
    assert of(Cell(0), Constant("-"), Cell(0))["part_again"] == 1.0
    dash, month = Constant("-"), DatePart(0, 1, "mm")
    year, plain, padded = (DatePart(0, 1, part) for part in ("yyyy", "d", "dd"))
    assert of(year, dash, month, dash, plain)["date_iso_plain"] == 1.0
    assert of(year, dash, month, dash, padded)["date_iso_plain"] == 0.0
    assert of(plain, dash, month, dash, year)["date_iso_plain"] == 0.0
    quarter = DatePart(0, 1, "quarter")
    assert of(Constant("Q"), quarter)["date_quarter_named"] == 1.0
    assert of(Constant("no. "), quarter)["date_quarter_named"] == 0.0
    assert of(Digits(0, 0, 3), Constant("-"), Digits(0, 3, None))["digits_shared"] == 1.0
    space = Position("= ", -1)
    head, tail = Slice(0, Position("", 0), space), Slice(0, space, Position("", -1))
    assert of(head, Case("upper", tail))["cut_shared"] == 1.0
    assert of(head, Cell(0))["cut_shared"] == 0.0
    day, month = DatePart(0, 1, "dd"), DatePart(0, 1, "month_name", language="en", case="title")
    assert of(day, Constant(" "), month)["date_padded_by_name"] == 1.0
    week, year = DatePart(0, 1, "week"), DatePart(0, 1, "yyyy")
    assert of(year, Constant("-W"), week)["date_week_of_other_year"] == 1.0
