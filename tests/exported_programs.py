"""What tests of exported programs share: cells that are hard to read, how to run a source."""

from typing import Any

from aloex.apps.fill import Program
from aloex.apps.fill.expressions.base import Row
from aloex.apps.fill.expressions.columns_read import columns_read

HOSTILE = [
    "",
    " ",
    "n/a",
    "👩‍👩‍👧 Émile",
    "שלום עולם 12",
    "مرحبا ١٢٣٫٤٥",
    "long " * 700 + "1,234.5",
    "wxyz" * 700 + " 1",
    "e\u0301le\u0300ve ǆ ß ŉ",  # marks that combine, letters that grow in capitals
    "१२३ 四五 ²³½ １２，３４５．６",
    "\ud800 alone",
    "9" * 400,
    "-5",
    "(3.50)",
    "31/02/2019 25:61",
    "2019-03-05T10:20:30Z",
    "5 March 2019 at 3pm, 6 March",
    "a\tb\nc\r\nd",
    "Ann-Marie O'Brien.",
    "İIıi ΣΑΣ",
    "12.5%",
    "\\n {y} \"q\" 'z' %s",
    "camelCaseWord a,b;c|d/e_f",
]


def hostile_rows(num_columns: int) -> list[Row]:
    """Every hostile cell in every column, beside others."""
    number = len(HOSTILE)
    return [
        tuple(HOSTILE[(i + shift * column) % number] for column in range(num_columns))
        for i in range(number)
        for shift in ((0, 1, 5) if num_columns > 1 else (0,))
    ]


def names_of(source: str) -> dict[str, Any]:
    """All names that a source defines, once it has gone through bytes, as in a file."""
    namespace: dict[str, Any] = {"__name__": "exported"}
    exec(compile(source.encode(), "<exported>", "exec"), namespace)  # noqa: S102
    return namespace


def assert_same(program: Program, rows: list[Row]) -> None:
    """The exported function does what the program does."""
    source = program.to_python(name="made")
    assert "import aloex" not in source and "from aloex" not in source
    function = names_of(source)["made"]
    read = columns_read(program.expression)
    for row in rows:
        cells = [row[column] for column in read]
        assert function(*cells) == program.run(row), (program.explain(), row, source[:2000])
