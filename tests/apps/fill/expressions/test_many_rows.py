"""Programs on many rows give what they give on each; quick ways to read are the slow ways."""

import inspect
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aloex.apps.fill.expressions import many_rows
from aloex.apps.fill.expressions.base import Expression
from aloex.apps.fill.expressions.columns_read import columns_read
from aloex.apps.fill.expressions.conditions import Condition
from aloex.apps.fill.expressions.dates import layouts
from aloex.apps.fill.expressions.from_json import CLASSES
from aloex.apps.fill.expressions.many_rows import OnRows
from aloex.apps.fill.expressions.numbers import text as numbers
from aloex.apps.fill.expressions.several_cells import JoinColumns, TwoCells
from aloex.apps.fill.expressions.text import Cell

ROWS = [(f"{i % 7}", f"{i}", "c") for i in range(40)]


@pytest.mark.parametrize("limit", ["MAX_SIZE", "TRIAL"])
@pytest.mark.parametrize("columns", [None, [0], [0, 2]])
def test_outputs_are_those_of_each_row(columns, limit, monkeypatch):
    run = lambda row: None if row[0] == "3" else f"{row[0]}!"
    wanted = [run(row) for row in ROWS]
    assert _in_blocks(OnRows(run, columns)) == wanted
    monkeypatch.setattr(many_rows, limit, 3)
    assert _in_blocks(OnRows(run, columns)) == wanted


def _in_blocks(program):
    return [text for k in range(0, 40, 5) for text in program(ROWS[k : k + 5])]


def test_of_the_cells_that_are_read_equal_ones_are_run_once():
    calls = []
    _in_blocks(OnRows(lambda row: calls.append(row[0]), [0, 2]))
    assert calls == list("0123456")


def test_what_is_remembered_is_bounded(monkeypatch):
    monkeypatch.setattr(many_rows, "MAX_SIZE", 10_000)
    program = OnRows(lambda row: row[0])
    for k in range(100):
        program([(f"{k}" * 50,), ("x",)] * 20)
        assert len(program.known) < 100
    assert program(ROWS) == [row[0] for row in ROWS]


def test_rows_that_do_not_repeat_are_not_remembered(monkeypatch):
    monkeypatch.setattr(many_rows, "TRIAL", 100)
    program = OnRows(lambda row: row[0])
    program([(str(i),) for i in range(100)])
    assert not program.remembers and not program.known


def test_columns_that_are_read():
    assert columns_read(TwoCells(4, 1, "longer")) == [1, 4]
    assert columns_read(JoinColumns((3, 0), "-")) == [0, 3] and columns_read(Cell(2)) == [2]


@pytest.mark.parametrize("name", CLASSES)
def test_columns_have_the_names_that_are_looked_for(name):
    """`columns_read` knows columns by the names of settings, so that these must be the names."""
    if issubclass(CLASSES[name], Expression | Condition):
        used = re.findall(r"row\[(.+?)\]", inspect.getsource(CLASSES[name]))
        assert {name.split(".")[-1] for name in used} <= {"column", "other"}, used


DIGITS = st.text("0123456789", min_size=1, max_size=4)
MARK = st.sampled_from("-/. :T,")


@given(st.lists(st.one_of(DIGITS, MARK), max_size=12).map("".join))
def test_usual_dates_are_read_as_all_others(text):
    assert layouts._find(text) == layouts._search(text)


@given(
    st.tuples(*[st.integers(0, 99)] * 5, st.integers(900, 3000), st.sampled_from("-/.")),
    st.sampled_from([" ", "T", None]),
    st.booleans(),
)
def test_usual_dates_and_times(values, between, year_first):
    a, b, hour, minute, second, year, mark = values
    day = f"{year}-{a:02}-{b:02}" if year_first else f"{a}{mark}{b:02}{mark}{year}"
    for time in (f"{hour:02}:{minute:02}", f"{hour:02}:{minute:02}:{second:02}"):
        text = day if between is None else f"{day}{between}{time}"
        assert layouts._find(text) == layouts._search(text)


@given(st.text("0123456789.,-", max_size=50), st.sampled_from([".", ",", ". ", ", "]))
def test_plain_numbers_are_read_as_all_others(text, marks):
    assert numbers.read_numbers(text, marks) == numbers._read(text, marks)


def test_a_long_cell_is_not_kept():
    """Only its start is looked at, so only that need be remembered."""
    text = "2021-03-05 " + "x" * 10_000
    assert layouts.find_moments(text, "ANY") == layouts.find_moments(text[:500], "ANY")
    assert layouts._moments.cache_parameters()["maxsize"] is not None
    hits = layouts._moments.cache_info().hits
    layouts.find_moments(text + "y", "ANY")
    assert layouts._moments.cache_info().hits == hits + 1
