"""Tables of two columns, input and output, as people have them in CSV files."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from aloex.base.errors import InputError, require
from aloex.base.files import explain_os_error, make_folder, write_file


@dataclass(frozen=True)
class Table:
    """The rows of a file: input and output, "" where that is missing."""

    rows: list[tuple[str, str]]
    delimiter: str = ","
    heading: tuple[str, str] | None = None  # once it is known that there is one

    @property
    def examples(self) -> list[tuple[str, str]]:
        """The rows with an output."""
        return [(x, y) for x, y in self.rows if y]

    @property
    def inputs(self) -> list[str]:
        """The inputs without an output; a row without either is no row."""
        return [x for x, y in self.rows if x and not y]


def read(path: Path) -> Table:
    """All rows of a file, the first one too; `split_header` tells whether it is a header."""
    text = _text(path)
    delimiter = _delimiter(text)
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        found = [(lines.line_num, cells) for cells in lines if any(cells)]
    except csv.Error as error:
        raise InputError(
            f"{path} cannot be read as a CSV file: line {lines.line_num}: {error}; look for a "
            "quote that is not closed, or not doubled inside a cell"
        ) from None
    require(len(found) > 0, f"{path} is empty; it needs two columns, input and output")
    for number, cells in found:
        num_filled = len(cells) - next((i for i, cell in enumerate(reversed(cells)) if cell), 0)
        require(
            num_filled <= 2,
            f"{path}, line {number}: {num_filled} columns, but there may be two, input and output; "
            "put quotes around cells with a comma",
        )
    return Table([(cells[0], cells[1] if len(cells) > 1 else "") for _, cells in found], delimiter)


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise InputError(f"there is no file {path}; check the path") from None
    except OSError as error:
        raise InputError(f"cannot read {explain_os_error(error, path)}") from None
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path} is not UTF-8 text (byte {error.start}); save it as CSV in UTF-8"
        ) from None


def _delimiter(text: str) -> str:
    """A comma, unless the first line has none and has a tab or a semicolon."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    return next((mark for mark in ",\t;" if mark in first), ",")


def write(path: Path, table: Table, filled: Sequence[tuple[str | None, float]]) -> None:
    """Write the table with its missing outputs, and the agreement on each as a third column.

    Args:
        path: the file; its folder is made if need be.
        table: the table as it was read.
        filled: an output (None for none) and the share that agrees, for each of `table.inputs`.
    """
    answers = iter(filled)
    text = io.StringIO(newline="")
    out = csv.writer(text, delimiter=table.delimiter, lineterminator="\n")
    if table.heading is not None:
        out.writerow([*table.heading, "agreement"])
    for x, y in table.rows:
        if y or not x:
            out.writerow([x, y, ""])
        else:
            output, share = next(answers)
            out.writerow([x, output or "", f"{share:.3f}"])
    make_folder(path.parent)
    write_file(path, text.getvalue())
