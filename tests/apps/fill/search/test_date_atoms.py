"""Parts of dates that are found from examples."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aloex.apps.fill.expressions.base import Row
from aloex.apps.fill.expressions.dates.date_part import DatePart
from aloex.apps.fill.expressions.dates.layouts import Moment, find_moments
from aloex.apps.fill.expressions.dates.parts import ENDS, PARTS
from aloex.apps.fill.search.costs import COSTS
from aloex.apps.fill.search.dates.additions import common_additions
from aloex.apps.fill.search.dates.atoms import (
    MAX_EXPRESSIONS,
    date_cost,
    date_expressions,
)
from aloex.apps.fill.search.dates.fits import DateFits


def find(*cells: str, outputs: list[str]) -> list[DatePart]:
    """Expressions from cells of one column, all of which are checked on the examples."""
    rows = [(cell,) for cell in cells]
    found = date_expressions(rows, outputs)
    assert len(set(found)) == len(found) <= MAX_EXPRESSIONS
    assert [date_cost(each) for each in found] == sorted(date_cost(each) for each in found)
    for expression in found:
        for row, output in zip(rows, outputs, strict=False):
            text = expression.run(row)
            assert text and text in output
    return found


def columns(found: list[DatePart], *cells: str) -> set[tuple[str | None, ...]]:
    """What the expressions write for cells."""
    return {tuple(each.run((cell,)) for cell in cells) for each in found}


def parts(found: list[DatePart], **fields) -> set[str]:
    """The parts of those expressions that have these fields."""
    return {each.part for each in found if all(getattr(each, k) == v for k, v in fields.items())}


def test_a_date_in_another_layout():
    found = find("2019-03-05", "2020-11-23", outputs=["5 Mar 2019", "23 Nov 2020"])
    assert parts(found) == {"d", "month_abbr", "yyyy"}
    assert {each.source for each in found} == {(0, 1, "ANY", ("none", 0, ""))}
    assert all(each.features() == {"date_part": 1} for each in found)


def test_cells_without_dates_and_empty_outputs_give_nothing():
    assert find("Lee", "Smith", outputs=["L", "S"]) == []
    assert find("2019-03-05", outputs=[""]) == []
    assert find("2019-03-05", outputs=[]) == []


def test_the_other_rows_decide_the_order():
    cells = ["05/05/2019", "04/04/2020"]
    outputs = ["May", "April"]
    assert {each.order for each in find(*cells, "25/12/2019", outputs=outputs)} == {"DMY"}
    assert {each.order for each in find(*cells, "12/25/2019", outputs=outputs)} == {"MDY"}
    # One odd cell does not change it, nor does one that is no date.
    found = find(*cells, "n/a", "12/25/2019", "12/26/2019", "26/12/2019", outputs=outputs)
    assert {each.order for each in found} == {"MDY"}


def test_an_open_order_is_said():
    found = find("05/05/2019", "04/04/2020", "10/12/2018", outputs=["May 2019", "April 2020"])
    assert columns(found, "10/12/2018") == {("December",), ("October",), ("2018",)}
    assert {each.order for each in found} == {"DMY", "MDY"}
    assert {each.part for each in found if each.order_is_open} == {"month_name"}
    assert all("first)" in each.explain(["ordered"]) for each in found)


def test_examples_can_settle_the_order():
    found = find("05/03/2019", "11/04/2020", "10/12/2018", outputs=["March", "April"])
    assert {each.order for each in found} == {"DMY"}
    assert not any(each.order_is_open for each in found)


def test_two_digit_years_may_come_first():
    found = find("10-11-12", "09-08-07", outputs=["2010", "2009"])
    assert {each.source[2:] for each in found if each.part == "yyyy"} == {("YMD", ("none", 0, ""))}
    assert all("date_year_first" in each.features() for each in found if each.order == "YMD")


def test_ranges_of_times():
    found = find("9:23", "14:05", "23:50", outputs=["9AM-10AM", "2PM-3PM"])
    assert {"h", "AM"} <= parts(found, change="none")
    assert {"h", "AM"} == parts(found, change="next", step=1, unit="hour")
    # A ceiling agrees with the end of the interval except on the full hour.
    assert {"h", "AM"} == parts(found, change="ceiling", step=1, unit="hour")
    assert ("12",) in columns(found, "23:50")


def test_the_start_of_an_interval_comes_with_its_end():
    # Both hours are even: only the end shows that intervals have two hours.
    found = find("10:23", "14:05", outputs=["10-12", "14-16"])
    assert "HH" in parts(found, change="floor", step=2, unit="hour")
    assert "HH" in parts(found, change="next", step=2, unit="hour")


@pytest.mark.parametrize(
    ("cells", "outputs", "operation", "part"),
    [
        (["9:23", "14:05"], ["9:15", "14:00"], ("floor", 15, "minute"), "MM"),
        (["9:23", "14:05"], ["9:30", "14:15"], ("ceiling", 15, "minute"), "MM"),
        (["9:53", "14:02"], ["10:00", "14:00"], ("nearest", 15, "minute"), "H"),
        (["9:23", "14:05"], ["9:29", "14:14"], ("last_minute", 15, "minute"), "MM"),
        (["9:23:01", "14:05:07"], ["9:59:59", "14:59:59"], ("last_second", 1, "hour"), "SS"),
        (["2019-03-05"], ["week of 4 March"], ("floor", 1, "week"), "d"),
        (["2019-03-05"], ["week of 3 March"], ("floor", 1, "sunday_week"), "d"),
        (["2020-02-14"], ["2020-02-29"], ("last_day", 1, "month"), "dd"),
        (["2019-05-14"], ["Apr-Jun"], ("last_day", 3, "month"), "month_abbr"),
        (["1987", "2013"], ["1980-1989", "2010-2019"], ("last_day", 10, "year"), "yyyy"),
        (["2019-03-05", "2020-12-30"], ["12.3.2019", "6.1.2021"], ("add", 7, "day"), "d"),
        (["31 Jan 2019", "5 Dec 2019"], ["28 Feb 2019", "5 Jan 2020"], ("add", 1, "month"), "yyyy"),
        (["9AM", "11:30 PM"], ["10:30AM", "1:00AM"], ("add", 90, "minute"), "h"),
    ],
)  # fmt: skip
def test_operations_are_found(cells, outputs, operation, part):
    found = find(*cells, outputs=outputs)
    assert any(each.operation == operation and each.part == part for each in found)


def test_several_steps_that_agree_are_all_returned():
    found = find("9:23", "17:45", "8:35", outputs=["9:20", "17:40"])
    assert {("9", "17", "8")} < columns(found, "9:23", "17:45", "8:35")
    minutes = {each.run(("8:35",)) for each in found if each.part == "MM"}
    assert minutes == {"30", "20", "40"}  # down to 10, down to 20 and to the nearest 20


def test_names_in_the_language_of_the_outputs():
    found = find("2019-03-05", "2019-08-12", outputs=["5. März 2019", "12. August 2019"])
    assert {each.language for each in found if each.part == "month_name"} == {"de"}
    found = find("2019-04-05", "2019-08-12", outputs=["APRIL", "AUGUST"])
    assert {(each.language, each.case) for each in found} == {("en", "upper")}


def test_rare_parts():
    found = find("2021-01-03", "2021-03-05", outputs=["2020-W53", "2021-W09"])
    assert {"week_2", "week_year"} <= parts(found, change="none")
    assert all("date_rare_part" in each.features() for each in found if each.part == "week_2")


def test_the_second_date_of_the_second_column():
    rows: list[Row] = [("a", "from 9:00 to 17:30"), ("b", "from 8:15 to 16:45")]
    found = date_expressions(rows, ["17h30", "16h45"])
    assert {(each.column, each.number) for each in found if each.change == "none"} == {(1, 2)}


def test_parts_stand_as_a_person_sees_them():
    def fits(output: str, **fields) -> set[str]:
        return {style[0] for style in DateFits(output, [output]).texts(Moment(**fields))}

    assert fits("2019", month=1) == set()
    assert fits("20190105", month=1, day=5) == {"mm", "dd"}
    assert fits("2019", year=2019) == {"yyyy"}
    assert fits("A1201905", year=2019) == {"yyyy", "yy"}
    assert fits("Market 15", month=3, day=5) == set()
    assert fits("Mar 5", month=3, day=5) == {"month_abbr", "d"}
    assert fits("19", year=2019) == {"yy"}


def test_additions_are_solved_from_all_examples():
    def solve(*pairs: tuple[str, str]) -> list[tuple[int, str]]:
        moments = [find_moments(cell, "ANY")[0] for cell, _ in pairs]
        assert None not in moments
        return common_additions([each for each in moments if each], [output for _, output in pairs])

    assert (30, "day") in solve(("2019-04-01", "2019-05-01"))
    assert (1, "month") in solve(("2019-04-01", "2019-05-01"))
    assert solve(("2019-04-01", "2019-05-01"), ("2019-01-01", "2019-02-01")) == [(1, "month")]
    assert solve(("2019-04-01", "2021-04-01"), ("2020-02-29", "2022-02-28")) == [(2, "year")]
    assert solve(("23:30", "0:15")) == [(45, "minute")]
    assert solve(("2019-04-01", "2019-04-01")) == []
    assert solve(("2019-04-01", "2019-04-02"), ("2019-04-01", "2019-04-05")) == []


CELLS = st.sampled_from(
    ["2019-03-05 09:30:15", "5/3/19", "12.11.10 1:01", "9AM - 10AM 11PM 1:11 2:22", "March 2011",
     "n/a", "1111", "5/3/2019 4/3/2019 3/3/2019 2/3/2019 1/3/2019", ""]
)  # fmt: skip
OUTPUTS = st.sampled_from(
    ["1", "01", "2019-01-01 00:00", "1 2 3 4 5 6 7 8 9 10 11 12 00 15 30 45 59 AM PM am pm", "",
     "01 02 03 04 05 06 07 08 09 10 11 12 13 14 15 16 March Mar. Tue 2010 2020 2019 2011", "x"]
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=8), st.lists(OUTPUTS, max_size=3))
def test_counts_are_bounded(rows: list[Row], outputs: list[str]):
    outputs = outputs[: len(rows)]
    found = date_expressions(rows, outputs)
    assert len(found) <= MAX_EXPRESSIONS and len(set(found)) == len(found)
    for expression in found:
        assert set(expression.features()) <= set(COSTS)
        for row, output in zip(rows, outputs, strict=False):
            text = expression.run(row)
            assert text and text in output


def test_every_plain_part_is_found_and_cheap():
    row = ("2019-03-05 09:07:08.250",)
    for part in PARTS.keys() - ENDS:
        text = DatePart(0, 1, part).run(row)
        if part == "week_year":  # only beside a week
            text = f"{text} 10"
        assert text is not None
        found = [each for each in date_expressions([row], [text]) if each.change == "none"]
        expression = next(each for each in found if each.part == part)
        rare = expression.features().keys() & {"date_rare_part", "date_decade"}
        assert date_cost(expression) < (5 if rare else COSTS["part"])
