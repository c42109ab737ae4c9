"""Programs as Python code: those that the search finds, and how the code reads."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from aloex.apps.fill import Program, fill_column
from aloex.apps.fill.expressions.base import Constant
from aloex.apps.fill.expressions.cases import Case
from aloex.apps.fill.expressions.conditions import AtLeast, Contains, Not
from aloex.apps.fill.expressions.dates.date_part import DatePart
from aloex.apps.fill.expressions.numbers.values import CellNumber, NumberText, Rounded
from aloex.apps.fill.expressions.programs import Join, Lookup, Switch
from aloex.apps.fill.expressions.rewrite import EveryMatch
from aloex.apps.fill.expressions.slices import Position, Slice
from aloex.apps.fill.expressions.text import Cell, Match, Split
from aloex.base.errors import InputError
from exported_programs import assert_same, hostile_rows, names_of

TASKS = Path(__file__).parents[4] / "studies" / "fill" / "tasks"
EVERY = 23  # so many tasks apart are those that are looked at
MAX_ROWS = 40  # of those that are hard to read


def tasks(file: str) -> list[dict]:
    lines = (TASKS / f"{file}.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines[::EVERY]]


@pytest.mark.parametrize("file", ["text_dev", "values_dev"])
def test_what_the_search_finds_runs_as_python(file):
    num_programs = 0
    for task in tasks(file):
        rows = [tuple(row["in"]) for row in task["rows"]]
        given = [row["out"] for row in task["rows"][:2]]
        try:
            filled = fill_column(rows, [*given, *[None] * (len(rows) - 2)], task["columns"])
        except InputError:
            continue
        hostile = hostile_rows(len(rows[0]))
        for program in [filled.program, *filled.alternatives[:3]]:
            assert_same(program, [*rows, *hostile[:MAX_ROWS]])
            num_programs += 1
    assert num_programs >= 15


def body(program: Program) -> list[str]:
    """The lines of the function behind its docstring."""
    source = program.to_python("made")
    lines = source.partition("def made")[2].partition("\n\n\n")[0].splitlines()[1:]
    quotes = [i for i, line in enumerate(lines) if line.endswith('"""')]
    return [line.removeprefix("    ") for line in lines[quotes[-1] + 1 :]]


def test_the_code_reads_as_if_written_by_hand():
    name = ("name",)
    surname = Case("upper", Split(0, " ", -1))
    assert body(Program(surname, name)) == ['return name.strip().split(" ")[-1].strip().upper()']
    assert body(Program(Match(0, "number", 2, 3), name)) == [
        r'numbers = re.findall(r"\d+", name)',
        "if len(numbers) < 2:",
        "    return None",
        "number = numbers[1]",
        "if len(number) < 3:",
        "    return None",
        "return number[:3]",
    ]
    between = Slice(0, Position("=(", 1, True), Position("=)", 1))
    assert body(Program(between, name)) == [
        'at = name.find("(")',
        "if at < 0:",
        "    return None",
        "start = at + 1",
        'at_2 = name.find(")")',
        "if at_2 < 0:",
        "    return None",
        "if start > at_2:",
        "    return None",
        "return name[start:at_2]",
    ]
    initials = EveryMatch(Cell(0), "nonspace", "first", "upper", "", "", ".")
    assert body(Program(initials, name)) == [
        r'pieces = re.findall(r"\S+", name)',
        "if not pieces:",
        "    return None",
        'return "".join(piece[:1].upper() + "." for piece in pieces)',
    ]
    cases = Switch((Not(Contains(0, "a")), AtLeast(0, 2.0)), (Cell(0), Constant("x"), Cell(0)))
    assert body(Program(cases, name)) == [
        'if "a" not in name:',
        "    return name",
        "name_number = first_number(name)",
        "if name_number is not None and name_number >= 2.0:",
        '    return "x"',
        "return name",
    ]
    assert body(Program(Lookup(0, (("a", "b"),)), name)) == ["return TABLE.get(name)"]


def test_dates_and_numbers_are_read_once():
    parts = [DatePart(0, 1, part, "DMY") for part in ("yyyy", "mm")]
    date = Join((parts[0], Constant("-"), parts[1]))
    assert body(Program(date, ("date",))) == [
        'moment = read_moment(date, 1, "DMY")',
        "if moment is None:",
        "    return None",
        'year = write_part(moment, "yyyy")',
        'month = write_part(moment, "mm")',
        "if year is None or month is None:",
        "    return None",
        'return f"{year}-{month}"',
    ]
    price = NumberText(Rounded(CellNumber(0, 0, "."), "0.05", "half_up"), 2, group=",")
    assert body(Program(price, ("price",)))[-1] == (
        'return write_number(round_to(number, Decimal("0.05"), "half_up"), decimals=2, group=",")'
    )


def test_only_what_is_needed_comes_along():
    source = Program(DatePart(0, 1, "yyyy", "DMY"), ("date",)).to_python()
    assert '"yyyy":' in source and '"quarter":' not in source and "def change_moment" not in source
    assert "import" not in Program(Split(0, ",", 1), ("x",)).to_python()
    words = Program(Match(0, "word", 1), ("x",)).to_python()
    assert "_letters" in words and "capitalized" not in words
    assert len(words) < 2500  # no set of characters is written out


def test_parameters_have_the_names_of_the_columns():
    columns = (
        "Full Name",
        "class",
        "full name",
        "2025",
        "😀",
        "Größe",
        "read_moment",
        "unread",
        "",
    )
    expression = Join(tuple(Cell(i) for i in range(len(columns)) if i != 7))
    source = Program(expression, columns).to_python("made")
    assert source.startswith(
        "def made(full_name: str, class_: str, full_name_2: str, column_2025: str, column: str, "
        "größe: str, read_moment: str, column_2: str) -> str | None:"
    )
    assert names_of(source)["made"](*"abcdefgh") == "abcdefgh"


def test_names_of_columns_do_not_hide_helpers():
    for column in ("title", "re", "moment", "CASES", "words", "Decimal", "len", "made"):
        expression = Join(
            (
                Case("title", Match(0, "word", 1)),
                DatePart(1, 1, "weekday_name", "DMY", language="en", case="title"),
                NumberText(CellNumber(1, 0, ".")),
            )
        )
        program = Program(expression, (column, "date"))
        assert_same(program, [("ada x", "5.3.2019"), ("", ""), *hostile_rows(2)[:9]])


@pytest.mark.parametrize("name", ["title", "date", "read_moment", "_find", "NAMES", "cache"])
def test_the_function_may_have_the_name_of_a_helper(name):
    expression = Join((Case("title", Cell(0)), DatePart(0, 1, "week", "DMY")))
    function = names_of(Program(expression, ("cell",)).to_python(name))[name]
    assert function("on 5.3.2019") == expression.run(("on 5.3.2019",)) == "On 5.3.201910"


@pytest.mark.parametrize("name", ["", "a b", "class", "1a", "print", "re", "a\n"])
def test_names_that_a_function_cannot_have(name):
    with pytest.raises(InputError, match="a function cannot be called"):
        Program(Cell(0), ("x",)).to_python(name)


def test_a_program_that_reads_nothing():
    source = Program(Constant("x"), ("name",)).to_python("made")
    assert names_of(source)["made"]() == "x"


def test_texts_in_the_docstring_stay_texts():
    nasty = '"""\nimport os\n\\" \u202e\ud800 \\'
    program = Program(Join((Cell(0), Constant(nasty))), (f"na{nasty}me",))
    function = names_of(program.to_python("made"))["made"]
    assert function("a") == "a" + nasty and "import os" in function.__doc__


def test_python_alone_runs_it(tmp_path):
    """Without installed packages, the environment's settings and the folder of the script."""
    date = Join((Case("title", Match(0, "word", 1)), DatePart(0, 1, "month_name", "DMY", "none", 0,
                 "", "fr", "title"), NumberText(CellNumber(0, -1, "."), 2)))  # fmt: skip
    source = Program(date, ("cell",)).to_python("made")
    file = tmp_path / "made.py"
    file.write_text(f'{source}\n\nprint(ascii(made("ÉMILE 5.3.2019 x 7")))\n', encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-I", "-S", file], capture_output=True, text=True, timeout=120
    )
    assert done.stdout.strip() == ascii(date.run(("ÉMILE 5.3.2019 x 7",))), done.stderr
