"""Numbers with units, shortened and ordinal numbers, numbers that are dates, and arithmetic."""

from decimal import Decimal

import pytest

from aloex.apps.fill.expressions.dates.bare_numbers import read_bare_number
from aloex.apps.fill.expressions.dates.changes import change_moment
from aloex.apps.fill.expressions.dates.layouts import (
    Moment,
    digits_of_moments,
    find_moments,
)
from aloex.apps.fill.expressions.dates.parts import write_part
from aloex.apps.fill.expressions.numbers.arithmetic import combine
from aloex.apps.fill.expressions.numbers.quantities import read_quantities
from aloex.apps.fill.expressions.numbers.short import write_ordinal, write_short
from aloex.apps.fill.expressions.numbers.values import CellNumber, Combined, Linear


@pytest.mark.parametrize(
    ("text", "family", "values"),
    [
        ("1.2K", "count", ["1200"]),
        ("$3M of 2.5bn", "count", ["3000000", "2500000000"]),
        ("842", "count", ["842"]),
        ("3 million", "count", ["3000000"]),
        ("5 kg", "count", ["5"]),  # nothing that counts
        ("1.5 GB", "bytes", ["1500000000"]),
        ("2 KiB", "bytes", ["2048"]),
        ("250 g", "grams", ["250"]),
        ("1.5 kg and 2", "grams", ["1500", None]),
        ("3 m", "metres", ["3"]),
        ("50cl", "litres", ["0.5"]),
        ("50 clowns", "litres", [None]),
    ],
)
def test_numbers_with_units(text, family, values):
    expected = [None if value is None else Decimal(value) for value in values]
    assert read_quantities(text, ".", family) == expected


@pytest.mark.parametrize(
    ("value", "decimals", "keep_zeros", "written"),
    [
        ("1249", 1, False, "1.2K"),
        ("3000000", 1, False, "3M"),
        ("3000000", 1, True, "3.0M"),
        ("842", 1, True, "842"),
        ("999999", 1, False, "1M"),
        ("2500000000", 1, False, "2500M"),  # no letter for more
        ("-15700", 1, False, "-15.7K"),
        ("0", 0, False, "0"),
    ],
)
def test_shortened_numbers(value, decimals, keep_zeros, written):
    assert write_short(Decimal(value), ("K", "M"), decimals, ".", keep_zeros) == written


def test_ordinal_numbers():
    numbers = (0, 1, 2, 3, 4, 11, 12, 13, 21, 101, 111, 122)
    assert [write_ordinal(Decimal(number)) for number in numbers] == [
        "0th", "1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "101st", "111th",
        "122nd",
    ]  # fmt: skip
    assert write_ordinal(Decimal("1.5")) is None and write_ordinal(Decimal(-1)) is None


@pytest.mark.parametrize(
    ("text", "order", "moment"),
    [
        ("3", "MONTH", Moment(month=3)),
        ("12", "MONTH", Moment(month=12)),
        ("13", "MONTH", None),
        ("0815", "HHMM", Moment(hour=8, minute=15)),
        ("2460", "HHMM", None),
        ("44260", "SERIAL", Moment(2021, 3, 5)),
        ("44260.75", "SERIAL", Moment(2021, 3, 5, None, 18, 0, 0)),
        ("99999", "SERIAL", None),
        ("1614953000", "UNIX", Moment(2021, 3, 5, None, 14, 3, 20)),
        ("1614953000123", "UNIX_MS", Moment(2021, 3, 5, None, 14, 3, 20)),
        ("9783161484100", "UNIX_MS", None),
        ("3 kg", "MONTH", None),
    ],
)
def test_numbers_that_are_dates(text, order, moment):
    assert read_bare_number(text, order) == moment


def test_where_the_dates_of_a_text_are():
    assert digits_of_moments("2023-01-16 07:42 318.6 kWh") == (True, [(0, 8), (8, 12)])
    assert digits_of_moments("4 boxes at 07:42") == (False, [(1, 5)])
    assert digits_of_moments("4 boxes of 2021") == (False, [])


@pytest.mark.parametrize(
    ("moment", "change", "expected"),
    [
        (Moment(hour=7, minute=35), ("floor", 8, "hour_from_6"), (6, 0)),
        (Moment(hour=3, minute=35), ("floor", 8, "hour_from_6"), (22, 0)),
        (Moment(hour=23, minute=0), ("next", 8, "hour_from_7"), (7, 0)),
        (Moment(2021, 3, 3), ("last_day", 1, "saturday_week"), (3, 5)),
        (Moment(2021, 3, 5), ("last_day", 1, "saturday_week"), (3, 5)),
        (Moment(2021, 3, 6), ("floor", 1, "tuesday_week"), (3, 2)),
        (Moment(2021, 3, 15), ("last_day", 1, "half_month"), (3, 15)),
        (Moment(2021, 2, 16), ("last_day", 1, "half_month"), (2, 28)),
        (Moment(2021, 12, 31), ("next", 1, "half_month"), (1, 1)),
        (Moment(2021, 9, 21), ("floor", 6, "month"), (7, 1)),
        (Moment(2021, 3, 8), ("last_day", 6, "month"), (6, 30)),
    ],
)
def test_more_intervals(moment, change, expected):
    changed = change_moment(moment, *change)
    assert changed is not None
    shown = (changed.month, changed.day) if moment.hour is None else (changed.hour, changed.minute)
    assert shown == expected


def test_more_parts():
    midnight = Moment(hour=0, minute=0)
    assert [write_part(midnight, part) for part in ("H", "H24", "HH24")] == ["0", "24", "24"]
    assert [write_part(Moment(month=m), "half") for m in (1, 6, 7, 12)] == ["1", "1", "2", "2"]


def test_arithmetic_with_per_cent():
    x, y = Decimal(44), Decimal(40)
    assert combine(x, y, "change") == Decimal("0.1")
    assert combine(Decimal(50), Decimal(10), "less_percent") == 45
    assert combine(Decimal(50), Decimal(7), "plus_percent") == Decimal("53.5")
    assert not combine(x, Decimal(0), "change").is_finite()


def test_words():
    columns = ["a", "b", "c"]
    a, b, c = (CellNumber(column, 0, ".") for column in range(3))
    whole = Combined(Combined(a, b, "sum"), c, "sum")
    numbers = "the first number of a, the first number of b and the first number of c"
    assert whole.explain(columns) == f"the sum of {numbers}"
    assert Linear(whole, divide="3").explain(columns) == f"the mean of {numbers}"
    change = Combined(a, b, "change").explain(columns)
    assert change == "the change from the first number of b to the first number of a as a share"


def test_dates_before_a_colon_and_in_ranges():
    assert find_moments("3 Mar 2021: paid", "ANY") == (Moment(2021, 3, 3),)
    assert find_moments("Mar 3: paid", "ANY") == (Moment(month=3, day=3),)
    days = (Moment(month=3, day=12), Moment(month=3, day=19))
    assert find_moments("12 Mar - 19 Mar", "ANY") == days
    assert find_moments("v1.9.12", "DMY") == ()
