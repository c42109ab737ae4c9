"""What rows without examples, and the parts together, say of a program: by hand."""

import pytest

from aloex.apps.fill.expressions.base import Constant, Expression, Row
from aloex.apps.fill.expressions.dates.date_part import DatePart
from aloex.apps.fill.expressions.numbers.values import CellNumber, NumberText
from aloex.apps.fill.expressions.programs import Join
from aloex.apps.fill.expressions.rewrite import EveryMatch
from aloex.apps.fill.expressions.text import Cell
from aloex.apps.fill.search.on_rows import Examples, features_on_rows, is_missing
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
        (["56", "56"], "repeats", 0.5),
        (["c-56", "78"], "copies_a_cell", 0.5),
        (["12", "34"], "as_before", 1.0),
        (["56 ", "(78"], "untidy", 1.0),
        (["", "d-78"], "used_less", 0.25),
    ],
)
def test_texts_of_other_rows(texts: list[str | None], feature: str, amount: float):
    rows: list[Row] = [("c-56",), ("d-78",)]
    assert features_on_rows(rows, texts, EXAMPLES)[feature] == amount


def test_words_that_the_examples_keep():
    keep = Examples.of([("one two",)], ["two one"])
    assert features_on_rows([("x y 9",)], ["y x"], keep)["loses_words"] == 1.0
    assert features_on_rows([("x y 9",)], ["9 Y x"], keep)["loses_words"] == 0.0
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
    day, month = DatePart(0, 1, "dd"), DatePart(0, 1, "month_name", language="en", case="title")
    assert of(day, Constant(" "), month)["date_padded_by_name"] == 1.0
    week, year = DatePart(0, 1, "week"), DatePart(0, 1, "yyyy")
    assert of(year, Constant("-W"), week)["date_week_of_other_year"] == 1.0
