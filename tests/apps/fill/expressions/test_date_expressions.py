"""Dates and times: what is read, what is done with it, what is written."""

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aloex.apps.fill.expressions.dates import layouts
from aloex.apps.fill.expressions.dates.changes import (
    CHANGES,
    GRIDS,
    change_moment,
    possible_changes,
)
from aloex.apps.fill.expressions.dates.date_part import DatePart
from aloex.apps.fill.expressions.dates.layouts import ORDERS, Moment, find_moments
from aloex.apps.fill.expressions.dates.names import KINDS, LANGUAGES, NAMES
from aloex.apps.fill.expressions.dates.parts import CASES, NAMED_PARTS, PARTS, write_part

MARCH_5 = Moment(year=2019, month=3, day=5)


@pytest.mark.parametrize(
    "text",
    [
        "2019-03-05", "2019/3/5", "2019.03.05", "2019 03 05", "20190305", "2019年3月5日",
        "5 March 2019", "5th of March 2019", "05-Mar-19", "05MAR2019", "5 Mar. 2019", "5 mar '19",
        "March 5, 2019", "Mar 5th 2019", "Mar-05-2019", "2019 March 5", "2019-Mar-05",
        "5. März 2019", "5 mars 2019", "5 de marzo de 2019", "5 marzo 2019", "mar 5 marzo 2019",
        "5 maart 2019", "5 mrt 2019", "5 de março de 2019", "due (2019-03-05) at last",
    ],
)  # fmt: skip
def test_dates_that_need_no_order(text: str):
    for order in ("ANY", *ORDERS):
        assert find_moments(text, order) == (MARCH_5,)


@pytest.mark.parametrize(
    ("text", "day_first", "month_first", "year_first"),
    [
        ("5/3/2019", (2019, 3, 5), (2019, 5, 3), None),
        ("05.03.2019", (2019, 3, 5), (2019, 5, 3), None),
        ("5. 3. 2019", (2019, 3, 5), (2019, 5, 3), None),
        ("5 3 2019", (2019, 3, 5), (2019, 5, 3), None),
        ("05032019", (2019, 3, 5), (2019, 5, 3), None),
        ("25/12/2019", (2019, 12, 25), None, None),
        ("12/25/2019", None, (2019, 12, 25), None),
        ("19-03-05", (2005, 3, 19), None, (2019, 3, 5)),
        ("5/3/68", (2068, 3, 5), (2068, 5, 3), None),
        ("5/3/69", (1969, 3, 5), (1969, 5, 3), None),
        ("5/3", (None, 3, 5), (None, 5, 3), None),
        ("31/2/2019", None, None, None),
        ("29/2/2020", (2020, 2, 29), None, None),
    ],
)
def test_numbers_are_read_in_an_order(text: str, day_first, month_first, year_first):
    expected = {"DMY": day_first, "MDY": month_first, "YMD": year_first, "ANY": None}
    for order, date in expected.items():
        assert find_moments(text, order) == (None if date is None else Moment(*date),)


@pytest.mark.parametrize(
    ("text", "hour", "minute"),
    [
        ("9AM", 9, 0), ("9 a.m.", 9, 0), ("9 A. M.", 9, 0), ("09:00", 9, 0), ("9:30pm", 21, 30),
        ("9:30 P.M.", 21, 30), ("9:30p", 21, 30), ("12 am", 0, 0), ("12:01 AM", 0, 1),
        ("12 pm", 12, 0), ("12:59 p.m.", 12, 59), ("0:00", 0, 0), ("23:59", 23, 59),
        ("13:00 PM", 13, 0), ("0900 hrs", 9, 0), ("0930AM", 9, 30), ("9h30", 9, 30), ("9h", 9, 0),
        ("9.30 Uhr", 9, 30), ("9 o'clock", 9, 0), ("9:30\u202fAM", 9, 30), ("from 9:30 on", 9, 30),
    ],
)  # fmt: skip
def test_times(text: str, hour: int, minute: int):
    assert find_moments(text, "ANY") == (Moment(hour=hour, minute=minute),)


@pytest.mark.parametrize(
    "text",
    [
        "2019-03-05T09:30:15.250Z", "2019-03-05 09:30:15,250 +0100",
        "2019-03-05 09:30:15.250-05:00",
        "March 5, 2019 at 9:30:15.250 AM", "9:30:15.250, 5 March 2019",
    ],
)  # fmt: skip
def test_a_date_and_its_time_are_one(text: str):
    expected = MARCH_5._replace(hour=9, minute=30, second=15, fraction="250")
    assert find_moments(text, "ANY") == (expected,)


def test_more_than_one_moment_and_incomplete_ones():
    time = Moment(hour=10, minute=0)
    both = MARCH_5._replace(hour=9, minute=0)
    assert find_moments("5 March 2019 9:00-10:00", "ANY") == (both, time)
    assert find_moments("9AM-10AM", "ANY") == (Moment(hour=9, minute=0), time)
    assert find_moments("Tue, 5 March 2019", "ANY") == (MARCH_5._replace(weekday=2),)
    assert find_moments("Mon 10:00", "ANY") == (time._replace(weekday=1),)
    assert find_moments("31/12/2019 to 5/3/2020", "MDY") == (None, Moment(2020, 5, 3))
    for text in ("March 2019", "03/2019", "2019-03", "Mar-19", "Mar '19", "2019 Mar"):
        assert find_moments(text, "ANY") == (Moment(2019, 3),)
    for text in ("5 March", "Mar 5", "5. März"):
        assert find_moments(text, "ANY") == (Moment(month=3, day=5),)
    assert find_moments("5 March 10:00", "ANY") == (time._replace(month=3, day=5),)
    assert find_moments("1980s", "ANY") == (Moment(1980),)


@pytest.mark.parametrize(
    "text",
    ["", "n/a", "Smith", "0930", "24:00", "9:60", "192.168.1.10", "10.0.0.1", "1.2.3",
     "12345678901", "555-12-34-5678", "set out ago", "$1,999.00", "Market", "١٢/٣/٢٠١٩"],
)  # fmt: skip
def test_no_date_is_seen(text: str):
    assert not any(find_moments(text, "DMY"))


@pytest.mark.parametrize(
    "text", ["31 February 2019", "29 Feb 2019", "2019-13-01", "13:00 AM", "30/2"]
)
def test_what_does_not_exist_is_none(text: str):
    assert set(find_moments(text, "DMY")) == {None}


def test_a_long_cell_is_read_in_bounded_work():
    assert len(find_moments("9:00 " * 100_000, "ANY")) == 8
    assert find_moments("x" * 100_000 + " 5 March 2019", "ANY") == ()


MOMENTS = st.datetimes(datetime(1969, 1, 1), datetime(2068, 12, 31)).map(
    lambda t: Moment(t.year, t.month, t.day, None, t.hour, t.minute, t.second)
)


@given(MOMENTS, st.sampled_from("/.- "), st.booleans(), st.sampled_from(ORDERS))
def test_numeric_layouts_come_back(moment: Moment, mark: str, padded: bool, order: str):
    parts = {"Y": "yyyy", "M": "mm" if padded else "m", "D": "dd" if padded else "d"}
    text = mark.join(str(write_part(moment, parts[letter])) for letter in order)
    assert find_moments(f"on {text}, then", order) == (Moment(*moment[:3]),)


@given(MOMENTS, st.sampled_from("/.-"), st.sampled_from(ORDERS))
def test_two_digit_years_come_back(moment: Moment, mark: str, order: str):
    parts = {"Y": "yy", "M": "mm", "D": "dd"}
    text = mark.join(str(write_part(moment, parts[letter])) for letter in order)
    assert find_moments(text, order) == (Moment(*moment[:3]),)


@given(
    MOMENTS,
    st.sampled_from(sorted(LANGUAGES)),
    st.sampled_from(["month_name", "month_abbr", "month_abbr_dot"]),
    st.sampled_from(sorted(CASES)),
    st.sampled_from(["{d} {m} {y}", "{d}. {m} {y}", "{d}-{m}-{y}", "{m} {d}, {y}", "{y} {m} {d}",
                     "{d}{m}{y}", "{d} de {m} de {y}"]),
)  # fmt: skip
def test_named_months_come_back(moment: Moment, language: str, part: str, case: str, layout: str):
    month = write_part(moment, part, language, case)
    text = layout.format(d=moment.day, m=month, y=moment.year)
    assert find_moments(text, "ANY") == (Moment(*moment[:3]),)


@given(MOMENTS, st.sampled_from(["AM", "am", "A.M.", "a.m."]), st.sampled_from(["h", "hh"]))
def test_twelve_hour_clocks_come_back(moment: Moment, half: str, hour: str):
    text = f"{write_part(moment, hour)}:{write_part(moment, 'MM')} {write_part(moment, half)}"
    assert find_moments(text, "ANY") == (Moment(hour=moment.hour, minute=moment.minute),)


@given(MOMENTS, st.sampled_from(["%Y-%m-%dT%H:%M:%S", "%Y%m%d%H%M%S", "%d/%b/%Y:%H:%M:%S +0100",
                                 "%A, %d %B %Y %I:%M:%S %p", "%H:%M:%S %d %B %Y"]))  # fmt: skip
def test_dates_with_times_come_back(moment: Moment, layout: str):
    time = datetime(*moment[:3], *moment[4:7])  # pyright: ignore
    (found,) = find_moments(time.strftime(layout), "ANY")
    assert found is not None and found._replace(weekday=None) == moment


PIECES = st.sampled_from(
    ["0", "1", "12", "31", "59", "99", "1999", "2019", "9999", "/", "-", ".", ":", " ", "T", "Z",
     "am", "p.m.", "Mar", "February", "août", "Tue", "th", "'", "h", "+", ",", "年", "\xa0",
     "x", "", "😀"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=12).map("".join), st.sampled_from(("ANY", *ORDERS)))
def test_any_text_is_safe(text: str, order: str):
    for moment in find_moments(text, order):
        for change in possible_changes(moment) if moment else ():
            change_moment(moment, *change)
        assert moment is None or all(write_part(moment, part) != "" for part in PARTS)


def change(text: str, *operation) -> str | None:
    """A text of ISO layout after a change, in the same layout."""
    (moment,) = find_moments(text, "ANY")
    changed = change_moment(moment, *operation) if moment else None
    if changed is None:
        return None
    date = "-".join(str(write_part(changed, part)) for part in ("yyyy", "mm", "dd"))
    time = ":".join(str(write_part(changed, part)) for part in ("HH", "MM"))
    return " ".join(each for each in (date, time) if "None" not in each)


@pytest.mark.parametrize(
    ("text", "operation", "expected"),
    [
        ("09:23", ("floor", 15, "minute"), "09:15"),
        ("09:23", ("ceiling", 15, "minute"), "09:30"),
        ("09:30", ("ceiling", 15, "minute"), "09:30"),
        ("09:30", ("next", 15, "minute"), "09:45"),
        ("09:22", ("nearest", 15, "minute"), "09:15"),
        ("09:45", ("nearest", 1, "hour"), "10:00"),
        ("09:30", ("nearest", 1, "hour"), "10:00"),
        ("09:23", ("last_minute", 1, "hour"), "09:59"),
        ("23:50", ("ceiling", 1, "hour"), "00:00"),
        ("00:10", ("add", -1, "hour"), "23:10"),
        ("2019-12-31 23:50", ("ceiling", 1, "hour"), "2020-01-01 00:00"),
        ("2019-03-05 14:00", ("nearest", 1, "day"), "2019-03-06 00:00"),
        ("2019-03-05", ("floor", 1, "week"), "2019-03-04"),
        ("2019-03-05", ("floor", 1, "sunday_week"), "2019-03-03"),
        ("2019-03-03", ("floor", 1, "sunday_week"), "2019-03-03"),
        ("2019-03-05", ("last_day", 1, "week"), "2019-03-10"),
        ("2020-02-14", ("last_day", 1, "month"), "2020-02-29"),
        ("2019-02", ("last_day", 1, "month"), "2019-02-28"),
        ("2019-05-14", ("floor", 3, "month"), "2019-04-01"),
        ("2019-12-14", ("last_day", 3, "month"), "2019-12-31"),
        ("2019-05-14", ("floor", 10, "year"), "2010-01-01"),
        ("2019-05-14", ("last_day", 10, "year"), "2019-12-31"),
        ("2019-01-31", ("add", 1, "month"), "2019-02-28"),
        ("2020-02-29", ("add", 1, "year"), "2021-02-28"),
        ("2019-12-30", ("add", 3, "day"), "2020-01-02"),
        ("09:23", ("floor", 1, "month"), None),
        ("2019-05", ("floor", 1, "week"), None),
        ("2019-05-14", ("floor", 15, "minute"), None),
        ("2019-05-14", ("add", 9999, "year"), None),
    ],
)
def test_changes(text: str, operation, expected: str | None):
    assert change(text, *operation) == expected


@given(MOMENTS, st.sampled_from([(step, unit) for unit, steps in GRIDS for step in steps]))
def test_intervals_hold_their_moment(moment: Moment, grid: tuple[int, str]):
    def at(change: str) -> datetime:
        changed = change_moment(moment, change, *grid)
        assert changed is not None
        return datetime(*changed[:3], *changed[4:7])  # pyright: ignore

    time, floor, end = at("none"), at("floor"), at("next")
    assert floor <= time < end
    assert at("ceiling") == (floor if time == floor else end)
    assert at("nearest") == (floor if time - floor < end - time else end)
    assert floor <= at("last_second") < end
    floored = change_moment(moment, "floor", *grid)
    assert floored is not None and change_moment(floored, "floor", *grid) == floored
    assert change_moment(floored, "next", *grid) == change_moment(moment, "next", *grid)


def test_parts():
    moment = Moment(2019, 3, 5, None, 21, 7, 9, "250")
    expected = {
        "d": "5", "dd": "05", "day_ordinal": "5th", "m": "3", "mm": "03", "yyyy": "2019",
        "yy": "19",
        "decade": "2010", "quarter": "1", "weekday": "2", "week": "10", "week_2": "10",
        "week_year": "2019", "day_of_year": "64", "day_of_year_3": "064", "H": "21", "HH": "21",
            "half": "1", "H24": "21", "HH24": "21",
        "h": "9", "hh": "09", "M": "7", "MM": "07", "S": "9", "SS": "09", "fraction": "250",
        "AM": "PM", "am": "pm", "A.M.": "P.M.", "a.m.": "p.m.", "A": "P", "a": "p",
    }  # fmt: skip
    assert {part: write_part(moment, part) for part in PARTS} == expected
    assert all(write_part(Moment(), part) is None for part in PARTS)


def test_names():
    def write(part: str, language: str, case: str, month: int = 3) -> str | None:
        return write_part(Moment(2019, month, 5), part, language, case)

    assert write("month_name", "en", "title") == "March"
    assert write("month_abbr", "en", "upper") == "MAR"
    assert write("month_abbr_dot", "en", "title") == "Mar."
    assert write("month_abbr_dot", "en", "title", 5) == "May"
    assert write("month_name", "fr", "lower", 8) == "août"
    assert write("weekday_name", "de", "title") == "Dienstag"
    assert write("weekday_abbr", "es", "lower") == "mar"
    assert write_part(Moment(weekday=7), "weekday_abbr", "en", "title") == "Sun"
    assert write_part(Moment(2019), "month_name", "en", "title") is None
    for (kind, language), names in NAMES.items():
        assert kind in KINDS and language in LANGUAGES
        assert len(set(names)) == len(names) == (12 if kind.startswith("month") else 7)


@pytest.mark.parametrize(
    ("date", "week", "year"),
    [((2018, 12, 31), "1", "2019"), ((2021, 1, 3), "53", "2020"), ((2021, 1, 4), "1", "2021")],
)
def test_iso_weeks_at_the_turn_of_the_year(date: tuple[int, int, int], week: str, year: str):
    assert write_part(Moment(*date), "week") == week
    assert write_part(Moment(*date), "week_year") == year


def test_ordinals():
    written = [
        write_part(Moment(day=day), "day_ordinal") for day in (1, 2, 3, 4, 11, 12, 13, 21, 22, 31)
    ]
    assert written == [
        "1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "22nd", "31st",
    ]  # fmt: skip


def test_midnight_and_noon():
    for hour, twelve, half in ((0, "12", "AM"), (1, "1", "AM"), (12, "12", "PM"), (13, "1", "PM")):
        assert write_part(Moment(hour=hour), "h") == twelve
        assert write_part(Moment(hour=hour), "AM") == half


def test_an_expression_runs_or_is_none():
    month = DatePart(1, 1, "month_abbr", "DMY", language="en", case="title")
    assert month.run(("", "5/3/2019")) == "Mar"
    assert month.run(("5/3/2019", "")) is None
    assert month.run(("5/3/2019",)) is None
    assert DatePart(0, 2, "h").run(("9AM-10AM",)) == "10"
    assert DatePart(0, 3, "h").run(("9AM-10AM",)) is None
    assert DatePart(0, 1, "h", change="next", step=2, unit="hour").run(("9AM",)) == "10"


def test_expressions_say_what_they_do():
    def explain(*args, **kwargs) -> str:
        return DatePart(0, *args, **kwargs).explain(["ordered"])

    month = {"language": "en", "case": "title"}
    assert explain(1, "month_abbr", "DMY", **month) == (
        "the abbreviated month of the date in ordered (day first)"
    )
    assert explain(2, "MM", "ANY", "floor", 15, "minute") == (
        "the minute of the second time in ordered rounded down to 15 minutes"
    )
    assert explain(1, "H", "ANY", "next", 2, "hour") == (
        "the hour of the end of the 2-hour interval of the time in ordered"
    )
    assert explain(1, "dd", "ANY", "last_day", 3, "month") == (
        "the two-digit day of the last day of the quarter of the date in ordered"
    )
    assert explain(1, "yyyy", "ANY", "add", -1, "year") == (
        "the year of the date in ordered minus 1 year"
    )
    for part in PARTS:
        for change in CHANGES:
            assert explain(1, part, "MDY", change, 1, "day").startswith("the ")
    for part in NAMED_PARTS:
        assert "German, upper case" in explain(1, part, language="de", case="upper")


def test_features_and_source():
    plain = DatePart(0, 1, "d", "DMY")
    assert plain.features() == {"date_part": 1}
    rounded = DatePart(0, 3, "week", "YMD", "last_day", 3, "month", "de", "", True)
    assert rounded.features() == {
        "date_part": 1, "date_number": 2, "date_last": 1, "date_unusual_step": 1,
        "date_rare_part": 1, "date_other_language": 1, "date_year_first": 1, "date_open_order": 1,
    }  # fmt: skip
    assert plain.source == DatePart(0, 1, "yyyy", "DMY").source
    assert plain.source != DatePart(0, 1, "d", "MDY").source
    assert plain.source != DatePart(0, 1, "d", "DMY", "floor", 1, "week").source
    assert plain.to_json()["op"] == "DatePart"


def test_the_short_way_reads_what_the_long_one_reads():
    days = ["2021-03-05", "2020-02-29", "2021-02-29", "2021-13-01", "0999-01-01", "2021-00-10"]
    times = ["", " 14:05:09", " 24:00:00", " 09:60:00", " 00:00:00"]
    for text in (day + time for day in days for time in times):
        for order in ("DMY", "MDY", "YMD", "ANY"):
            long = tuple(layouts._moment(found, order) for found in layouts._find(text))
            assert layouts.find_moments(text, order) == long, text
