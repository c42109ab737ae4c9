"""What a row needs to be sure beside votes: each rule on a table that shows it."""

import pytest

from aloex.apps.fill.expressions.base import Constant, Row
from aloex.apps.fill.expressions.between import Between
from aloex.apps.fill.expressions.cases import Case
from aloex.apps.fill.expressions.dates.date_part import DatePart
from aloex.apps.fill.expressions.numbers.values import CellNumber, Linear, NumberText
from aloex.apps.fill.expressions.programs import Join, Lookup
from aloex.apps.fill.expressions.several_cells import JoinColumns
from aloex.apps.fill.expressions.slices import Position, Slice
from aloex.apps.fill.expressions.text import Cell, Match, MatchNear, Split
from aloex.apps.fill.fill.column import fill_column
from aloex.apps.fill.fill.confidence import (
    CONSTANT,
    COPIED,
    DOUBTFUL,
    SURE,
    TOO_FEW,
    UNLIKE,
    Limits,
    most_confidence,
)
from aloex.apps.fill.fill.evidence import surroundings, units


def test_limits_are_below_what_is_sure():
    assert max(CONSTANT, COPIED, DOUBTFUL, TOO_FEW) < SURE == 0.85 < UNLIKE == 0.93


def test_a_case_with_one_example_is_in_doubt():
    rows: list[Row] = [("a", "a"), ("a", "b"), ("c d", "c d"), ("q", "r"), ("x", "x"), ("y", "z")]
    two = fill_column(rows, ["same", "other", None, None, None, None], ["x", "y"])
    assert max(two.confidence[2:]) <= TOO_FEW
    four = fill_column(rows, ["same", "other", "same", "other", None, None], ["x", "y"])
    assert four.values[4:] == ["same", "other"] and min(four.confidence[4:]) > TOO_FEW


@pytest.mark.parametrize(
    ("outputs", "num_examples", "sure"),
    [
        (["17", "27", "42", "57", "67"], 2, False),  # plus 7: one number was solved for
        (["17", "27", "42", "57", "67"], 3, True),
        (["21", "41", "71", "101", "121"], 3, False),  # times 2 plus 1: two numbers
        (["21", "41", "71", "101", "121"], 4, True),
    ],
)
def test_numbers_that_are_solved_for_need_an_example_each(
    outputs: list[str], num_examples: int, sure: bool
):
    rows: list[Row] = [("10",), ("20",), ("35",), ("50",), ("60",)]
    given = [text if i < num_examples else None for i, text in enumerate(outputs)]
    filled = fill_column(rows, given, ["x"])
    assert filled.values == outputs and filled.sure == sure


def test_a_copy_of_a_cell_is_never_sure():
    rows: list[Row] = [("Ada", "1"), ("Alan", "2"), ("Grace", "3")]
    filled = fill_column(rows, ["Ada", "Alan", None], ["name", "n"])
    assert filled.values[2] == "Grace" and filled.confidence[2] <= COPIED


def test_constants_and_memorised_tables_are_never_sure():
    assert most_confidence(Join((Constant("yes"),)), [("a",)] * 9) == CONSTANT
    assert most_confidence(Lookup(0, (("a", "b"),)), [("a",)] * 9) == TOO_FEW


def test_one_example_bears_out_a_part_and_no_more():
    words = Split(0, " ", 2)
    assert most_confidence(Join((words,)), [("4 apples",)]) == 1.0
    assert most_confidence(Join((Constant("so "), words)), [("4 apples",)]) == DOUBTFUL
    assert most_confidence(Join((Constant("..."), words)), [("4 apples",)]) == DOUBTFUL
    assert most_confidence(Join((Constant("so "), words)), [("4 apples",)] * 2) == 1.0


ROWS: list[Row] = [("ada@one.com",), ("bob@two.com",)]
OUTPUTS = ["one", "two"]
WORD = Join((MatchNear(0, "word", "@"),))


def test_a_part_cut_out_where_no_part_of_the_examples_was():
    limits = Limits(WORD, ROWS, OUTPUTS)
    assert limits(("cy@three.org",), "three", 0.93) == 0.93
    assert limits(("cy@three-four.org",), "three", 1.0) == DOUBTFUL  # before "-", not "."


def test_a_row_unlike_the_examples_needs_nearly_all_votes():
    limits = Limits(WORD, ROWS, OUTPUTS)
    row = ("c.y@Three.org",)
    assert limits(row, "Three", UNLIKE) == UNLIKE and limits(row, "Three", 0.92) == DOUBTFUL
    assert limits(row, "three", UNLIKE) == UNLIKE and limits(row, "three", 0.92) == DOUBTFUL
    assert limits(("cy@three.org",), "three", 0.5) == 0.5 and limits(row, None, 0.0) == 0.0
    from_one = Limits(WORD, ROWS[:1], OUTPUTS[:1])
    assert from_one(row, "Three", 1.0) == DOUBTFUL and from_one(row, "three", 1.0) == 1.0


def test_a_kind_of_row_that_no_example_shows():
    program, rows = Join((Split(0, ":", 1), Constant(" AM"))), [("9:00", "morning")] * 2
    table = [*rows, ("3:00", "afternoon"), ("4:00", "morning"), ("5:00", "afternoon")]
    limits = Limits(program, rows, ["9 AM"] * 2, table)
    assert limits(("4:00", "morning"), "4 AM", 1.0) == 1.0
    assert limits(("3:00", "afternoon"), "3 AM", 1.0) == DOUBTFUL
    names = [("9:00", name) for name in ("Al", "Bo", "Cy", "Di", "Ed")]  # no kinds: all differ
    assert Limits(program, rows, ["9 AM"] * 2, names)(("3:00", "Flo"), "3 AM", 1.0) == 1.0


def test_surroundings_of_parts():
    row = ("Ada B. Lovelace",)
    head = Slice(0, Position("", 0), Position("= ", 1))
    program = Join((Case("upper", head), Constant("-"), Match(0, "word", -1), Cell(0)))
    assert surroundings(program, row) == [(0, "", " "), (2, " ", ""), (3, "", "")]
    between = Join((Between(0, " ", "c", to_end=True), JoinColumns((0,), ", ")))
    assert surroundings(between, row) == [(0, " ", "a"), (1, "", "")]


def test_marks_at_the_ends_of_a_part_and_empty_parts_are_new():
    program = Join((Split(0, " ", 1),))
    limits = Limits(program, [("6-4 6-2",), ("7-5 3-6",)], ["6-4", "7-5"])
    assert limits(("2-6 6-3 7-5",), "2-6", 1.0) == 1.0
    assert limits(("2-6, 6-3",), "2-6,", 1.0) == DOUBTFUL
    names = Limits(
        Join((Cell(0), Constant("!"), Cell(1))), [("a", "b"), ("c", "d")], ["a!b", "c!d"]
    )
    assert names(("e", ""), "e!", 1.0) == DOUBTFUL and names(("e", "f"), "e!f", 1.0) == 1.0


def test_a_unit_that_no_example_has():
    program = Join((NumberText(Linear(CellNumber(0, 0, "."), "1000")),))
    assert units(program, ("1.2K",)) == [(0, "units", "k")]
    rows: list[Row] = [("1.2K",), ("15.7 k",), ("3K",)]
    limits = Limits(program, rows, ["1200", "15700", "3000"])
    assert limits(("4K",), "4000", 1.0) == 1.0
    assert limits(("4M",), "4000", 1.0) == limits(("842",), "842000", 1.0) == DOUBTFUL


AGES: list[Row] = [("3",), ("40",), ("10",), ("35",)]


@pytest.mark.parametrize(
    ("cell", "sure"),
    [("9", True), ("10", True), ("11", False), ("34", False), ("35", True), ("n/a", False)],
)
def test_numbers_between_the_examples_of_two_cases(cell: str, sure: bool):
    filled = fill_column([*AGES, (cell,)], ["child", "adult", "child", "adult", None], ["age"])
    assert (filled.confidence[4] >= SURE) == sure


def test_a_threshold_that_the_outputs_name_is_clear():
    outputs = ["under 18", "18+", "under 18", "18+", None, None]
    filled = fill_column([*AGES, ("17",), ("18",)], outputs, ["age"])
    assert filled.values[4:] == ["under 18", "18+"] and filled.sure


def test_thresholds_read_numbers_as_the_column_writes_them():
    rows: list[Row] = [
        ("5,50",),
        ("80,00",),
        ("12,25",),
        ("95,10",),
        ("120",),
        ("1.250,00",),
        ("9",),
    ]
    filled = fill_column(rows, ["low", "high", "low", "high", None, None, None], ["price"])
    assert filled.values[4:] == ["high", "high", "low"] and filled.sure


def test_a_row_with_the_cells_of_an_example_is_sure():
    rows: list[Row] = [("new",), ("closed",), ("new",), ("closed",), ("open",)]
    filled = fill_column(rows, ["yes", "no", None, None, None], ["status"])
    assert filled.values[2:4] == ["yes", "no"] and filled.in_doubt == [4]


def test_zeros_in_front_that_no_example_shows():
    program = Join((DatePart(0, 1, "H"), Constant("h "), DatePart(0, 1, "MM")))
    limits = Limits(program, [("01:47",), ("02:12",)], ["1h 47", "2h 12"])
    assert limits(("03:51",), "3h 51", 1.0) == 1.0
    assert limits(("03:01",), "3h 01", 1.0) == DOUBTFUL
