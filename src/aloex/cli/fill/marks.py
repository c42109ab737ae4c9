"""The column that `--confidence` writes, and what it says when the table is filled again.

A row of it has `given`, for an example, or a number such as 0.624817: the confidence, 0.62, and a
check sum of the answer. So each row tells by itself whether a person has changed its answer since.
"""

import re
import zlib
from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple

from aloex.apps.fill.tables import Table
from aloex.base.errors import InputError, require
from aloex.cli.fill.screen import shown

GIVEN = "given"  # the mark of a row that is an example
SUFFIX = " confidence"  # of the column's name
NUMBER = re.compile(r"(\d*[.,]?\d+(?:e-\d+)?)\s*(%?)", re.IGNORECASE | re.ASCII)
MAX_LOOKED = 1000  # rows that tell whether a column without a name has marks
DECIMALS = 6  # of a mark: two for the confidence, four for the check sum


class Counted(NamedTuple):
    """What counts of a column that has been filled before."""

    outputs: list[str | None]  # the examples; None for rows that are to be filled again
    corrected: list[int]  # rows whose answer a person has changed


def mark_of(text: str, confidence: float) -> str:
    """The mark of an answer."""
    return f"0.{min(int(100 * confidence), 99):02d}{_check_sum(text):04d}"


def _check_sum(text: str) -> int:
    """Four digits; the last is not 0, since spreadsheets would drop it."""
    number = zlib.crc32(text.encode("utf-8", "surrogatepass")) % 10_000
    return number if number % 10 else number + 1


def _sum_in(mark: str) -> int | None:
    """The check sum of a mark, also as spreadsheets write it: 0,624817 or 62.4817%; None if none.

    Without its zeros at the end it must have all decimals: what was rounded has lost its sum.
    """
    number = NUMBER.fullmatch(mark.strip())
    if number is None:
        return None
    value = Decimal(number[1].replace(",", ".")) / (100 if number[2] else 1)
    digits = value.normalize().as_tuple()
    if digits.exponent != -DECIMALS or value >= 1:
        return None
    return int(value.scaleb(DECIMALS)) % 10_000


def _is_given(mark: str) -> bool:
    return mark.strip().casefold() == GIVEN


def find_marks(table: Table, target: int, to_write: bool = False) -> int | None:
    """The column of marks that an earlier run has written for the target, if there is one.

    Args:
        table: the table.
        target: the column that is filled.
        to_write: marks are going to be written.

    Raises:
        InputError: they cannot be, since the user has a column with that name.
    """
    name = f"{table.names[target]}{SUFFIX}"
    if table.header is None:
        last = len(table.names) - 1
        return last if last != target and _is_ours(table, target, last, False) else None
    if table.names.count(name) != 1:
        return None
    column = table.names.index(name)
    if _is_ours(table, target, column, True):
        return column
    require(
        not to_write or not table.has_text[column],
        f"{table.name} has a column {name!r} of its own, which --confidence would write over; "
        "rename it",
    )
    return column if to_write else None


def _is_ours(table: Table, target: int, column: int, named: bool) -> bool:
    """Whether a column has our marks: examples, or check sums that are right in most rows.

    Without a name, `given` may be just a word: there must be nothing but numbers beside it. As this
    is looked at for every such table, it is in its first rows only.
    """
    rows = table.rows if named else table.rows[:MAX_LOOKED]
    padded = ([*row.cells, *[""] * len(table.names)] for row in rows)
    pairs = [(cells[target], cells[column]) for cells in padded if cells[column].strip()]
    num_right = sum(_sum_in(mark) == _check_sum(cell) for cell, mark in pairs)
    if 2 * num_right > len(pairs):
        return True
    others = [mark.strip() for _, mark in pairs if not _is_given(mark)]
    return len(others) < len(pairs) and (named or all(map(NUMBER.fullmatch, others)))


def count_outputs(table: Table, cells: Sequence[str | None], column: int) -> Counted:
    """Which cells of a target are examples, by the column of marks.

    Args:
        table: the table.
        cells: of the target; None where there is no text.
        column: that of the marks.

    Raises:
        InputError: a mark says neither; the message names its line.
    """
    outputs, corrected = list(cells), []
    for i, (cell, mark) in enumerate(zip(cells, table.column(column), strict=True)):
        if not mark.strip() or _is_given(mark):
            continue
        found = _sum_in(mark)
        if found is None:
            raise _unknown(table, i, column, mark)
        if cell is None:
            continue
        if found == _check_sum(cell):
            outputs[i] = None
        else:
            corrected.append(i)
    require(
        any(outputs) or not any(cells),
        f"no row is marked {GIVEN!r} in the column of confidence; mark the examples",
    )
    return Counted(outputs, corrected)


def _unknown(table: Table, row: int, column: int, mark: str) -> InputError:
    return InputError(
        f"line {table.lines[row]} of {table.name} has {shown(mark)!r} in the column "
        f"{shown(table.names[column])!r}, which should have {GIVEN!r} or a number of {DECIMALS} "
        f"decimals; write {GIVEN} if the cell beside it is right, or clear both cells to have them "
        "filled again"
    )
