"""`aloex.fill`: data frames, lists of dicts, plain lists, and cells that are no texts."""

import datetime
import decimal
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import aloex
from aloex.apps.fill import register_accessor
from aloex.apps.fill.fill.cells import column_outputs, column_texts
from aloex.base.errors import InputError
from commands import python

NAMES = ["Ada King", "Al Bo", "Cy Dee", "Ed Fo"]
SHORT = ["King", "Bo", None, None]
FILLED = ["King", "Bo", "Dee", "Fo"]


def test_plain_lists_and_series():
    tuples = [(name,) for name in NAMES]
    for inputs in (NAMES, tuples, pd.Series(NAMES), np.array(NAMES), np.array(tuples)):
        for outputs in (SHORT, ["King", "Bo", "", " "], ["King", "Bo", float("nan"), pd.NA]):
            assert aloex.fill(inputs, outputs).values == FILLED
    assert aloex.fill(NAMES, pd.Series(SHORT)).values == FILLED
    assert aloex.fill(iter(NAMES), iter(SHORT)).values == FILLED


def test_inputs_that_are_missing():
    inputs = ["Ada King", None, float("nan"), "Al Bo", pd.NA, "Cy Dee"]
    filled = aloex.fill(inputs, ["King", None, None, "Bo", None, None])
    assert filled.values == ["King", "", "", "Bo", "", "Dee"]
    assert set(filled.in_doubt) == {1, 2, 4}


def test_lists_of_dicts():
    rows = [{"n": 7, "name": name} for name in NAMES]
    rows[0]["short"], rows[1]["short"] = "King", "Bo"
    assert aloex.fill(rows, "short").values == FILLED
    assert aloex.fill(rows, "short", "name").program.columns == ("name",)


def test_dicts_of_lists():
    columns = {"n": range(4), "name": NAMES, "short": SHORT}
    assert aloex.fill(columns, "short").values == FILLED
    assert aloex.fill(columns, "short", ("name", "n")).program.columns == ("name", "n")
    with pytest.raises(InputError, match="columns differ in length"):
        aloex.fill({"name": NAMES, "short": ["King"]}, "short")


def test_data_frames():
    frame = pd.DataFrame({"name": NAMES, "empty": None, "short": SHORT, "n": [1.0, 2.0, None, 4.0]})
    filled = aloex.fill(frame, "short")
    assert filled.values == FILLED and filled.program.columns == ("name", "n")
    assert aloex.fill(frame, target="short", source=["name"]).values == FILLED
    register_accessor()
    assert frame.fill_by_example("short", "name").values == FILLED


class PolarsFrame:
    """As much of a polars.DataFrame as is used: polars itself is not installed for the tests."""

    __module__ = "polars.dataframe.frame"

    def __init__(self, **cells):
        self.cells, self.columns = cells, list(cells)

    def __getitem__(self, name):
        return self.cells[name]


def test_a_frame_of_polars():
    assert aloex.fill(PolarsFrame(name=NAMES, short=SHORT), "short").values == FILLED
    days = [datetime.date(2024, 3, 5), datetime.date(2023, 11, 7), None, datetime.date(2022, 1, 2)]
    frame = PolarsFrame(day=days, n=[1, None, 3, None], short=["5 Mar", "7 Nov", None, None])
    assert aloex.fill(frame, "short", "day").values == ["5 Mar", "7 Nov", "", "2 Jan"]


def test_keys_of_a_dict_have_an_order():
    assert aloex.fill(dict.fromkeys(NAMES).keys(), SHORT).values == FILLED


class PolarsLazyFrame:
    """One that must be collected first: even its columns cost a warning."""

    __module__ = "polars.lazyframe.frame"

    def collect(self):
        raise AssertionError("it may take hours")

    @property
    def columns(self):
        raise AssertionError("a PerformanceWarning")


def test_a_lazy_frame_of_polars_is_told():
    with pytest.raises(InputError, match=r"LazyFrame has no rows yet; call \.collect\(\) first"):
        aloex.fill(PolarsLazyFrame(), "short")


def test_lists_inside_a_frame():
    class Series(list):
        def to_list(self):
            return list(self)

        def __str__(self):
            return "shape: (2,)"

    assert column_texts([Series(["a", 1]), None]) == ["['a', 1]", ""]


def test_wide_frames_are_read_where_the_examples_come_from():
    others = {f"c{i}": [f"{'zyxw'[k]}{i + 3}" for k in range(4)] for i in range(12)}
    filled = aloex.fill({"name": NAMES, **others, "short": SHORT}, "short")
    assert filled.values == FILLED and len(filled.program.columns) == 8


def test_values_are_texts_and_answers_may_be_missing():
    filled = aloex.fill(["a 1", "b 2", "c 3", ""], [1, 2, None, None])
    assert filled.values == ["1", "2", "3", ""] and filled.answers[3].text is None


def test_programs_say_what_they_take():
    program = (
        "import aloex\n"
        "program = aloex.fill(['Ada King', 'Al Bo'], ['King', None]).program\n"
        "for call in (program.run, program.to_python):\n"
        "    for given in (None, 5, (None,)):\n"
        "        try:\n            call(given)\n"
        "        except ValueError as error:\n            print(error)\n"
    )
    done = python(program)
    assert done.returncode == 0, done.stderr
    row, name = (
        "a row is a text, or a tuple of texts, got ",
        "the name of a function is a text, got ",
    )
    assert done.stdout.splitlines() == [
        start + given for start in (row, name) for given in ("None", "5", "(None,)")
    ]


DAYS = ["5 Mar", None, "7 Nov", None]
DOLLARS = ["$1.50", None, "$20", None]
TYPES = [  # a column of pandas, its examples, what is found
    (pd.array([10, None, 31, 42], dtype="Int64"), ["#10", None, "#31", None], "#42"),
    (pd.Series([1.5, None, 20999, 7]), ["1.50", None, "20,999.00", None], "7.00"),
    (pd.to_datetime(["2024-03-05", None, "2023-11-07", "2022-01-02"]), DAYS, "2 Jan"),
    (pd.to_datetime(["2024-03-05", None, "2023-11-07", "2022-01-02"], utc=True), DAYS, "2 Jan"),
    ([decimal.Decimal("1.50"), None, decimal.Decimal("2E+1"), decimal.Decimal(7)], DOLLARS, "$7"),
    ([True, None, False, True], ["yes", None, "no", None], "yes"),
    (pd.Categorical(["x y", None, "p q", "r s"]), ["y", None, "q", None], "s"),
]


@pytest.mark.parametrize("cells, examples, found", TYPES)
def test_columns_of_many_types(cells, examples, found):
    filled = aloex.fill(pd.DataFrame({"a": cells, "b": examples}), "b")
    assert filled.values[3] == found


CELLS = [  # a column, and its texts
    ([1.0, 2.0, float("nan")], ["1", "2", ""]),
    ([1.5, 2.0, 1e-7, 1e20], ["1.5", "2", "0.0000001", "1e+20"]),
    ([np.float64(3.0), np.int64(4), np.nan], ["3", "4", ""]),
    ([None, pd.NA, pd.NaT, "x", " "], ["", "", "", "x", " "]),
    ([pd.Timestamp("2024-03-05"), datetime.date(2024, 3, 6)], ["2024-03-05", "2024-03-06"]),
    ([np.datetime64("2024-03-05", "ns"), np.datetime64("NaT")], ["2024-03-05", ""]),
    (
        [pd.Timestamp("2024-03-05"), pd.Timestamp("2024-03-05 14:30")],
        ["2024-03-05 00:00:00", "2024-03-05 14:30:00"],
    ),
    ([decimal.Decimal("1.50"), decimal.Decimal("NaN")], ["1.50", ""]),
    ([decimal.Decimal("2E+3"), b"J\xc3\xb6rg \xff"], ["2000", "Jörg \\xff"]),
    ([True, 7, "007", float("inf")], ["True", "7", "007", "inf"]),
]


@pytest.mark.parametrize("cells, texts", CELLS)
def test_cells_are_written_as_a_person_would(cells, texts):
    assert column_texts(cells) == texts
    assert column_outputs(cells) == [text if text.strip() else None for text in texts]


MISTAKES = [
    (({"name": NAMES, "short": SHORT}, "shrot"), r"no column 'shrot' \(did you mean 'short'\?\)"),
    (({"name": NAMES, "short": SHORT}, "short", "nam"), "did you mean 'name'"),
    (({"name": NAMES, "short": SHORT}, "short", ["short"]), "cannot be read, too"),
    (({"name": NAMES, "short": SHORT}, "short", []), "source names no column"),
    (({"short": SHORT}, "short"), "nothing to read"),
    (({"name": NAMES, "short": SHORT}, 2), "no column 2; the columns are: 'name', 'short'"),
    (({1: NAMES, 2: SHORT}, "1"), r"no column '1' \(did you mean 1\?\); the columns are: 1, 2"),
    (({"name": NAMES, "short": SHORT}, pd.Series(SHORT)), "told by its name, since the table has"),
    (({"name": NAMES, "short": SHORT}, SHORT), r"told by its name, .* got \['King', 'Bo', None"),
    (({"name": NAMES, "short": SHORT}, "short", [["name"]]), r"by its name, .* got \['name'\]"),
]


@pytest.mark.parametrize("given, words", MISTAKES)
def test_mistakes_with_frames(given, words):
    with pytest.raises(InputError, match=words):
        aloex.fill(pd.DataFrame(given[0]), *given[1:])


@pytest.mark.parametrize(
    ("inputs", "outputs", "words"),
    [
        (NAMES, ["x"], "4 inputs and 1 outputs"),
        (NAMES, "short", "must be a list"),
        ([], [], "no rows"),
        (NAMES, [None] * 4, "no row has an output"),
        (["a", "a"], ["b", "c"], "rows 1 and 2 contradict"),
        ("names.csv", "short", r"got 'names.csv'; for a file there is pandas.read_csv"),
        (Path("names.csv"), "short", "for a file there is pandas.read_csv"),
        (None, "short", "a table is a DataFrame, .* got None"),
        ([{"n": "x y"}, {"n": "z w"}], ["y", None], r"told by its name, .* got \['y', None\]"),
        ({*NAMES}, SHORT, "the table is a set, whose rows have no order; give a list"),
        (frozenset(NAMES), SHORT, "the table is a frozenset, whose rows have no order"),
        (NAMES, {"King", "Bo", None, ""}, "the list of outputs is a set, whose rows"),
    ],
)
def test_mistakes_with_lists(inputs, outputs, words):
    with pytest.raises(InputError, match=words):
        aloex.fill(inputs, outputs)


def test_columns_of_one_name():
    frame = pd.DataFrame([["a b", "c", "b"], ["d e", "f", None]], columns=["x", "x", "y"])
    with pytest.raises(InputError, match="two columns are called 'x'"):
        aloex.fill(frame, "y")


def test_neither_jax_nor_pandas_is_needed():
    program = (
        "import sys\n"
        "sys.modules.update(dict.fromkeys(['jax', 'pandas', 'polars', 'scipy', 'numba']))\n"
        "import aloex\n"
        "assert aloex.fill(['Ada King', 'Al Bo'], ['King', None]).values == ['King', 'Bo']\n"
    )
    done = python(program)
    assert done.returncode == 0, done.stderr


def test_pandas_has_the_accessor_if_it_was_there_first():
    done = python("import pandas, aloex.apps.fill; print(pandas.DataFrame.fill_by_example)")
    assert done.returncode == 0 and "Accessor" in done.stdout, done.stderr
    done = python("import sys, aloex.apps.fill; print('pandas' in sys.modules)")
    assert done.stdout == "False\n", done.stderr
    assert sys.modules["pandas"] is pd
