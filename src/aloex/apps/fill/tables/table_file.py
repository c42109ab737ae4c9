"""Tables of two columns, input and output, as people have them in CSV files."""

import csv
import io
from dataclasses import dataclass
from pathlib import Path

from aloex.apps.fill.fill import Solution, solve, space_for
from aloex.apps.fill.space.version_space import VersionSpace
from aloex.base.errors import InputError, require
from aloex.base.files import write_file

HEADINGS = {
    *("input", "output", "in", "out", "from", "to", "x", "y", "before", "after", "source"),
    *("target", "example", "examples", "result", "results", "old", "new", "given", "wanted"),
    "text",
}


@dataclass(frozen=True)
class Table:
    """The rows of a file: input and output, "" where that is missing."""

    rows: list[tuple[str, str]]
    heading: list[str] | None
    delimiter: str

    @property
    def examples(self) -> list[tuple[str, str]]:
        return [(x, y) for x, y in self.rows if y]

    @property
    def inputs(self) -> list[str]:
        """Those without an output; rows without either are no rows."""
        return [x for x, y in self.rows if x and not y]


def read(path: Path, header: bool | None = None) -> Table:
    """The table in a file. Whether its first row is a header is guessed, unless it is said.

    A first row is taken for a header if its cells are words like input and output, or if it stands
    in the way: the other examples have a program without letters of its own, and with it there is
    none.
    """
    text = _text(path)
    delimiter = _delimiter(text)
    try:
        lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        found = [(lines.line_num, cells) for cells in lines if any(cells)]
    except csv.Error as error:
        raise InputError(f"{path} cannot be read as a CSV file: {error}") from None
    require(len(found) > 0, f"{path} is empty; it needs two columns, input and output")
    for number, cells in found:
        filled = len(cells) - next((i for i, cell in enumerate(reversed(cells)) if cell), 0)
        require(
            filled <= 2,
            f"{path}, line {number}: {filled} columns, but there may be two, input and output; "
            "put quotes around cells with a comma",
        )
    rows = [(cells[0], cells[1] if len(cells) > 1 else "") for _, cells in found]
    if header is None:
        header = _looks_like_header(rows)
    return Table(rows[1:] if header else rows, found[0][1][:2] if header else None, delimiter)


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise InputError(f"there is no file {path}; check the path") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path} is not UTF-8 text (byte {error.start}); save it as CSV in UTF-8"
        ) from None


def _delimiter(text: str) -> str:
    """A comma, unless the first line has none and has a tab or a semicolon."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    return next((mark for mark in ",\t;" if mark in first), ",")


def _looks_like_header(rows: list[tuple[str, str]]) -> bool:
    x, y = rows[0]
    if x.strip().casefold() in HEADINGS and y.strip().casefold() in {*HEADINGS, ""}:
        return True
    examples = [(a, b) for a, b in rows[1:6] if b]
    if not y or not examples or x in dict(examples):
        return False
    return not space_for([(x, y), *examples]) and bool(VersionSpace(examples))


def fill(table: Table, **settings) -> Solution:
    """Find a program for the rows that have outputs, and fill the others."""
    require(
        len(table.examples) > 0,
        "no row has an output; fill in some by hand, and the others will follow them",
    )
    return solve(table.examples, table.inputs, **settings)


def write(path: Path, table: Table, solution: Solution) -> None:
    """The table with its outputs filled in, and a third column with their share of agreement."""
    filled = iter(solution.rows)
    text = io.StringIO(newline="")
    out = csv.writer(text, delimiter=table.delimiter, lineterminator="\n")
    if table.heading is not None:
        out.writerow([*(*table.heading, "")[:2], "agreement"])
    for x, y in table.rows:
        row = None if y or not x else next(filled)
        out.writerow([x, y, ""] if row is None else [x, row.output or "", f"{row.share:.3f}"])
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, text.getvalue())
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}") from None
