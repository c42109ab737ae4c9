"""Numbers in cells of many countries: how they are read, changed and written."""

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aloex.apps.fill.expressions.numbers.arithmetic import ROUNDINGS
from aloex.apps.fill.expressions.numbers.text import MAX_DIGITS, read_numbers, write_number
from aloex.apps.fill.expressions.numbers.values import (
    AbsoluteValue,
    CellNumber,
    Combined,
    Linear,
    NumberText,
    RangeEnd,
    Rounded,
)

FIRST = CellNumber(0, 0, ".")


def values(text, marks="."):
    return [
        None if number.value is None else str(number.value) for number in read_numbers(text, marks)
    ]


@pytest.mark.parametrize(
    ("text", "marks", "expected"),
    [
        ("1,234.56", ".", ["1234.56"]),  # United States
        ("1.234,56", ",", ["1234.56"]),  # Germany
        ("1 234,56", ", ", ["1234.56"]),  # France
        ("1\u202f234,56", ",", ["1234.56"]),
        ("1'234.56", ".", ["1234.56"]),  # Switzerland
        ("12,34,567.8", ".", ["1234567.8"]),  # India
        ("１２３．５", ".", ["123.5"]),  # fullwidth
        ("١٢٣٫٥", ".", ["123.5"]),  # Arabic-Indic
        ("١٢٣٫٥", ",", ["123.5"]),
        ("1,234", ".", ["1234"]),
        ("1,234", ",", ["1.234"]),
        ("00123", ".", ["123"]),
        (".5", ".", ["0.5"]),
        ("3.", ".", ["3"]),
    ],
)
def test_marks_of_many_countries(text, marks, expected):
    assert values(text, marks) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-5", ["-5"]),
        ("−7 °C", ["-7"]),
        ("-$5", ["-5"]),
        ("$-5.5", ["-5.5"]),
        ("-USD 5", ["-5"]),
        ("+3", ["3"]),
        ("1,234.56-", ["-1234.56"]),
        ("($5.00)", ["-5.00"]),
        ("$(5)", ["-5"]),
        ("(5%)", ["-5"]),
        ("-.5", ["-0.5"]),
        ("-0", ["-0"]),
        ("(555) 123-4567", ["555", "123", "4567"]),  # a phone number has no sign
        ("10-20", ["10", "20"]),
        ("A-12", ["12"]),
        ("John (25) left", ["25"]),
        ("- 5 apples", ["5"]),
    ],
)
def test_signs(text, expected):
    assert values(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("12.05.2019", ["12", "5", "2019"]),
        ("1.2.3", ["1", "2", "3"]),
        ("1,2,345", ["1", "2", "345"]),
        ("1,234,5", ["1", "234", "5"]),
        ("room 7, 2 beds, 30.5kg", ["7", "2", "30.5"]),
        ("", []),
        ("n/a", []),
        ("9" * MAX_DIGITS, ["9" * MAX_DIGITS]),
        ("9" * (MAX_DIGITS + 1) + " 5", [None, "5"]),
    ],
)
def test_lists_and_texts_around_numbers(text, expected):
    assert values(text) == expected


def test_a_cell_of_commas_and_digits_is_read_in_linear_work():
    assert len(read_numbers("1,234" * 20_000 + ",5", ".")) > 10_000


@given(
    value=st.decimals(
        allow_nan=False, allow_infinity=False, min_value=-(10**15), max_value=10**15, places=4
    ),
    marks=st.sampled_from([".,", ",.", ". ", ", ", ".'", ".", ","]),
    lakhs=st.booleans(),
    width=st.integers(0, 8),
    plus=st.booleans(),
    negative=st.sampled_from(["-", "−", "()", "5-"]),
    decimals=st.sampled_from([None, 4, 6]),
)
def test_what_is_written_is_read_again(value, marks, lakhs, width, plus, negative, decimals):
    group = marks[1:]
    text = write_number(
        value,
        decimals=decimals,
        mark=marks[0],
        group=group,
        lakhs=lakhs and group == ",",
        width=0 if group else width,
        plus=plus,
        negative=negative,
    )
    assert text is not None
    [read] = read_numbers(text, marks[0] + (" " if group == " " else ""))
    assert read.value == value


def test_styles():
    x = Decimal("-1234567.5")
    assert write_number(x) == "-1234567.5"
    assert write_number(x, decimals=2, group=",") == "-1,234,567.50"
    assert write_number(x, decimals=2, group=",", lakhs=True) == "-12,34,567.50"
    assert write_number(x, mark=",", group=".", negative="()") == "(1.234.567,5)"
    assert write_number(x, negative="5-") == "1234567.5-"
    assert write_number(x, decimals=0) is None
    assert write_number(Decimal(7), width=3, plus=True) == "+007"
    assert write_number(Decimal("-0.0")) == "0"
    assert write_number(Decimal("1E+30")) == "1" + "0" * 30
    assert write_number(Decimal("1" * 40)) == "1" * 40


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("half_up", ["1.01", "-1.01", "2.68", "0"]),
        ("half_even", ["1", "-1", "2.68", "0"]),
        ("floor", ["1", "-1.01", "2.67", "-0.01"]),
        ("ceiling", ["1.01", "-1", "2.68", "0"]),
        ("down", ["1", "-1", "2.67", "0"]),
        ("up", ["1.01", "-1.01", "2.68", "-0.01"]),
    ],
)
def test_roundings_of_halves_are_exact(mode, expected):
    rounded = Rounded(FIRST, "0.01", mode)
    assert [rounded.run((x,)) for x in ("1.005", "-1.005", "2.675", "-0.004")] == expected


@given(
    x=st.decimals(min_value=-(10**9), max_value=10**9, places=3),
    step=st.sampled_from(["0.5", "5", "10", "25", "12", "1000", "7"]),
    mode=st.sampled_from(list(ROUNDINGS)),
)
def test_rounded_numbers_are_multiples_of_the_step_close_by(x, step, mode):
    value = Rounded(FIRST, step, mode).value((str(x),))
    assert value is not None and value % Decimal(step) == 0
    assert abs(value - x) < Decimal(step)
    if mode.startswith("half"):
        assert abs(value - x) <= Decimal(step) / 2
    assert mode != "floor" or value <= x
    assert mode != "ceiling" or value >= x


def test_ranges():
    def ends(x, **arguments):
        return [RangeEnd(FIRST, "10", end, **arguments).run((x,)) for end in ("lower", "upper")]

    assert ends("23") == ["20", "30"]
    assert ends("20") == ["20", "30"]
    assert ends("20", closed="upper") == ["10", "20"]
    assert ends("29", gap="1") == ["20", "29"]
    assert ends("30", offset="1", gap="1") == ["21", "30"]
    assert ends("-3") == ["-10", "0"]


def test_arithmetic_never_raises():
    second = CellNumber(1, 0, ".")
    assert Combined(FIRST, second, "quotient").run(("1", "0")) is None
    assert Combined(FIRST, second, "quotient").run(("1", "4")) == "0.25"
    assert Combined(FIRST, second, "difference").run(("1", "4")) == "-3"
    assert Combined(FIRST, second, "product").run(("9" * 40, "9" * 40)) == str(int("9" * 40) ** 2)
    assert Combined(FIRST, second, "sum").run(("", "4")) is None
    assert Rounded(FIRST, "0", "floor").run(("3",)) is None
    assert Linear(FIRST, "5", "-160", "9").run(("212",)) == "100"
    assert AbsoluteValue(FIRST).run(("(7)",)) == "7"
    assert CellNumber(0, -2, ".").run(("1 and 2",)) == "1"
    assert CellNumber(0, 2, ".").run(("1 and 2",)) is None


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        (
            NumberText(Rounded(FIRST, "10", "floor"), decimals=2),
            "the first number of price rounded down to a multiple of 10, with 2 decimals",
        ),
        (
            NumberText(CellNumber(0, -2, "."), mark=",", group=".", width=3, negative="()"),
            "the second to last number of price, with a decimal comma,"
            " with points between thousands,"
            " with zeros in front up to 3 digits, negatives in parentheses",
        ),
        (Rounded(FIRST, "0.01", "half_up"), "the first number of price rounded to 2 decimals"),
        (
            Rounded(FIRST, "0.25", "half_even"),
            "the first number of price rounded (halves to even) to the nearest multiple of 0.25",
        ),
        (
            Linear(FIRST, "5", "-160", "9"),
            "(the first number of price times 5 minus 160) divided by 9",
        ),
        (
            RangeEnd(FIRST, "10", "upper", "1", "1"),
            "the upper end of the range of 10 (counted from 1)"
            " that holds the first number of price, less 1",
        ),
        (
            Combined(FIRST, CellNumber(1, -1, "."), "product"),
            "the product of the first number of price and the last number of amount",
        ),
    ],
)  # fmt: skip
def test_words_and_json(expression, words):
    assert expression.explain(["price", "amount"]) == words
    assert json.loads(json.dumps(expression.to_json()))["op"] == type(expression).__name__
    assert all(name.startswith("number") for name in expression.features())
