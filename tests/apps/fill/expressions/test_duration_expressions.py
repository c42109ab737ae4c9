"""Durations: what is read, the time between two moments, and what is written."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aloex.apps.fill.expressions.dates.date_part import DatePart
from aloex.apps.fill.expressions.dates.later import LaterPart
from aloex.apps.fill.expressions.dates.layouts import Moment, find_moments
from aloex.apps.fill.expressions.durations.elapsed import time_between
from aloex.apps.fill.expressions.durations.text import read_durations, write_duration
from aloex.apps.fill.expressions.durations.values import CellDuration, DurationText, Elapsed
from aloex.apps.fill.expressions.numbers.values import CellNumber

MINUTES = CellNumber(1, 0, ".")


@pytest.mark.parametrize(
    ("text", "hours_first", "minutes_first"),
    [
        ("1:30", [5400], [90]),
        ("1:02:03", [3723], [3723]),
        ("(3:25) and 12:00", [12300, 43200], [205, 720]),
        ("2h 15m", [8100], [8100]),
        ("2h15", [8100], [8100]),
        ("1h 05m 10s", [3910], [3910]),
        ("PT1H30M", [5400], [5400]),
        ("P1DT2H", [93600], [93600]),
        ("1 hour and 5 minutes", [3900], [3900]),
        ("95 min", [5700], [5700]),
        ("1,5 Std.", [5400], [5400]),
        ("2 days, 3 hrs", [183600], [183600]),
        ("9:40 am", [], []),  # a time
        ("12 boxes", [], []),
        ("4:75", [], []),
        ("", [], []),
    ],
)
def test_durations_of_a_text(text, hours_first, minutes_first):
    assert list(read_durations(text, "h")) == hours_first
    assert list(read_durations(text, "m")) == minutes_first


@pytest.mark.parametrize(
    ("seconds", "layout", "short", "rounding", "written"),
    [
        (5700, "{h}:{mm}", False, "", "1:35"),
        (300, "{hh}:{mm}", False, "", "00:05"),
        (90000, "{h}:{mm}", False, "", "25:00"),  # the first field counts on
        (215, "{m}:{ss}", False, "", "3:35"),
        (3661, "{h}:{mm}:{ss}", False, "", "1:01:01"),
        (7500, "{h}h {m}m", False, "", "2h 5m"),
        (7200, "{h}h {m}m", True, "", "2h"),
        (2700, "{h} h {m} min", True, "", "45 min"),
        (0, "{h} h {m} min", True, "", "0 min"),
        (2700, "PT{h}H{m}M", True, "", "PT45M"),
        (93600, "{d}d {h}h", False, "", "1d 2h"),
        (-5400, "{h}:{mm}", False, "", "-1:30"),
        (5430, "{h}:{mm}", False, "", None),  # no whole minutes
        (5430, "{h}:{mm}", False, "half_up", "1:31"),
        (5430, "{h}:{mm}", False, "floor", "1:30"),
        (5401, "{h}:{mm}", False, "ceiling", "1:31"),
    ],
)
def test_durations_are_written(seconds, layout, short, rounding, written):
    assert write_duration(Decimal(seconds), layout, short, rounding) == written


@given(
    st.integers(0, 10**7),
    st.sampled_from(["{h}:{mm}:{ss}", "{h}h {m}m {s}s", "{d}d {h}h {m}m {s}s"]),
)
def test_what_is_written_is_read_again(seconds, layout):
    text = write_duration(Decimal(seconds), layout)
    assert text is not None
    if not text.startswith("0d") and len(text.partition(":")[0]) <= 4:
        assert read_durations(text, "h") == (seconds,)


@pytest.mark.parametrize(
    ("start", "end", "unit", "expected"),
    [
        ("8:30", "17:15", "minute", 525),
        ("8:30", "17:15", "hour", "8.75"),
        ("22:00", "6:30", "minute", 510),  # over midnight
        ("2021-03-05 22:00", "2021-03-06 06:30", "hour", "8.5"),
        ("2021-03-06 06:30", "2021-03-05 22:00", "minute", -510),
        ("2021-03-05", "2021-03-19", "day", 14),
        ("2021-03-05 23:59", "2021-03-06", "day", 1),
        ("2020-02-28", "2020-03-01", "day", 2),
        ("1990-05-12", "2021-03-05", "year", 30),
        ("1990-03-05", "2021-03-05", "year", 31),
        ("1990-05-12", "2021", "year", 31),  # nothing but the year is known
        ("2021-01-31", "2021-02-28", "month", 0),
        ("2020-11-01", "2021-04-01", "month", 5),
        ("8:30", "2021-03-05", "minute", None),
        ("2021-03-05", "2021-03-19", "minute", None),
        ("8:30", "2021-03-05 9:30", "minute", None),
        ("March", "2021", "month", None),
    ],
)
def test_the_time_between(start, end, unit, expected):
    (a,), (b,) = find_moments(start, "ANY"), find_moments(end, "ANY")
    assert isinstance(a, Moment) and isinstance(b, Moment)
    assert time_between(a, b, unit) == (None if expected is None else Decimal(expected))


def test_a_part_of_a_later_date():
    day = LaterPart(DatePart(0, 1, "dd"), MINUTES, "day")
    assert day.run(("2021-12-20", "20")) == "09"
    assert day.run(("2021-12-20", "x")) is None and day.run(("x", "20")) is None
    assert day.run(("2021-12-20", "1.5")) is None and day.run(("2021-12-20", "9" * 40)) is None
    assert LaterPart(DatePart(0, 1, "dd"), MINUTES, "day", -1).run(("2021-12-20", "20")) == "30"
    minute = LaterPart(DatePart(0, 1, "MM"), MINUTES, "minute")
    assert minute.run(("23:50", "15")) == "05"
    words = "the two-digit day of the date in from minus the first number of days as days"
    before = LaterPart(DatePart(0, 1, "dd"), MINUTES, "day", -1)
    assert before.explain(["from", "days"]) == words


def test_words():
    columns = ["from", "to"]
    duration = CellDuration(1, 1, "h", "minute")
    assert duration.explain(columns) == "the second duration in to in minutes"
    between = Elapsed(0, 1, "ANY", 1, 1, "ANY", "day")
    assert between.explain(columns) == "the days from from to to"
    text = DurationText(MINUTES, "minute", "{h} h {m} min", True, "floor")
    assert text.explain(columns) == (
        "the first number of to as minutes rounded down, written h h m min, without what is 0"
    )
