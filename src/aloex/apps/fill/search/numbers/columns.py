"""The numbers of a table's columns: how a column writes them, and which of them to look at."""

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple

from aloex.apps.fill.expressions.base import Row
from aloex.apps.fill.expressions.dates.layouts import digits_of_moments
from aloex.apps.fill.expressions.numbers.text import (
    ReadNumber,
    read_numbers,
    to_ascii_digits,
)
from aloex.apps.fill.expressions.numbers.values import CellNumber, NumberExpression

MAX_SOURCES = 24
PER_COLUMN = 3  # numbers looked at from the left, and as many from the right
MAX_CELL = 400  # cells longer than this are texts, not places of numbers

_RUN = re.compile(r"[0-9]{1,40}(?:[.,][0-9]{1,40}){1,12}")
_SPACED = re.compile(r"[0-9]{1,40}(?: [0-9]{1,40}){1,12}")
_SPACED_THOUSANDS = re.compile(r"[0-9]{1,3}(?: [0-9]{3})+")


class Source(NamedTuple):
    """A number and its values: in the examples, then in other rows."""

    expression: NumberExpression
    values: tuple[Decimal | None, ...]
    marks: str  # of the column
    alone: bool = False  # no cell of the column holds another number
    in_date: bool = False  # it is a part of dates, which nobody multiplies
    in_time: bool = False  # it is a part of times
    percent: bool = False  # the cells have a per cent sign

    def examples(self, num_examples: int) -> list[Decimal]:
        """The values in the examples, where all have one."""
        return [value for value in self.values[:num_examples] if value is not None]


def number_sources(rows: Sequence[Row], num_examples: int) -> list[Source]:
    """Numbers that every example has, each behaviour once, the first of every column first."""
    ranked: list[tuple[int, int, Source]] = []
    for column in range(len(rows[0])):
        cells = [row[column] if len(row[column]) <= MAX_CELL else "" for row in rows]
        if not all(any(char.isdecimal() for char in cell) for cell in cells[:num_examples]):
            continue
        for rank, source in enumerate(_column_sources(cells, column, num_examples)):
            ranked.append((rank, column, source))
    ranked.sort(key=lambda each: each[:2])
    return [source for _, _, source in ranked[:MAX_SOURCES]]


def _column_sources(cells: list[str], column: int, num_examples: int) -> list[Source]:
    seen: dict[tuple[Decimal | None, ...], Source] = {}
    dates = [digits_of_moments(cell) for cell in cells[:num_examples]]
    percent = all("%" in cell for cell in cells[:num_examples])
    dated = all(is_dated for is_dated, _ in dates)
    for marks in column_marks(cells):
        read = [read_numbers(cell, marks) for cell in cells]
        alone = max(map(len, read)) == 1
        least = min(len(numbers) for numbers in read[:num_examples])
        near = min(PER_COLUMN, least)
        for k in sorted((*range(near), *range(-near, 0)), key=lambda k: abs(k + 0.5)):
            values = tuple(
                numbers[k].value if -len(numbers) <= k < len(numbers) else None for numbers in read
            )
            if None not in values[:num_examples] and values not in seen:
                inside = all(_is_inside(read[i], k, each) for i, (_, each) in enumerate(dates))
                in_date, in_time = inside and dated, inside and not dated
                seen[values] = Source(
                    CellNumber(column, k, marks), values, marks, alone, in_date, in_time, percent
                )
    return list(seen.values())


def _is_inside(numbers: Sequence[ReadNumber], k: int, spans: Sequence[tuple[int, int]]) -> bool:
    """Whether the k-th number of a cell is a part of its dates, told by the digits before it."""
    k %= len(numbers)
    digits = [sum(map(str.isdecimal, number.digits)) for number in numbers[: k + 1]]
    start, end = sum(digits[:-1]), sum(digits)
    return any(first < end and start < last for first, last in spans)


def column_marks(cells: Sequence[str]) -> list[str]:
    """The marks under which to read a column, as all its cells tell; both if it stays open.

    >>> column_marks(["1.234", "0,5"])
    [',']
    >>> column_marks(["1.234"])
    ['.', ',']
    """
    decimal = {".": 0, ",": 0}
    is_open = False
    spaced: list[str] = []
    for cell in cells:
        if not cell.isascii():
            cell = to_ascii_digits(cell, ".")
        for run in _RUN.findall(cell):
            mark = _decimal_mark(run)
            if mark in decimal:
                decimal[mark] += 1
            is_open |= mark == "open"
        spaced += _SPACED.findall(cell)
    if any(decimal.values()):
        marks = sorted((mark for mark in decimal if decimal[mark]), key=lambda mark: -decimal[mark])
    else:
        marks = [".", ","] if is_open else ["."]
    if spaced and all(map(_SPACED_THOUSANDS.fullmatch, spaced)):
        return [mark + spaces for mark in marks for spaces in (" ", "")]
    return marks


def _decimal_mark(run: str) -> str:
    """The decimal mark of a run such as 1.234,5, or "open", or "" for none (12.05.2019)."""
    marks, parts = re.findall(r"[.,]", run), re.split(r"[.,]", run)
    thousands = len(parts[0]) <= 3 and parts[0][0] != "0"
    in_threes = thousands and all(len(part) == 3 for part in parts[1:])
    other = {".": ",", ",": "."}
    if len(marks) == 1:
        return "open" if in_threes else marks[0]
    if len(set(marks)) == 1:
        in_lakhs = thousands and all(len(part) == 2 for part in parts[1:-1]) and len(parts[-1]) == 3
        return other[marks[0]] if in_threes or in_lakhs else ""
    # Two kinds: the last is the decimal mark if the others are all of the other kind.
    return marks[-1] if marks[-1] not in marks[:-1] and thousands else ""
