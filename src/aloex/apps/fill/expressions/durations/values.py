"""Durations of a row: read from a cell, or between two dates or times; and how they are written.

A duration is a number of its unit, so that numbers are rounded, added and written as others are.
`DurationText` writes any number, taken for hours, minutes or seconds, in a layout.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from aloex.apps.fill.expressions.base import Expression, Row
from aloex.apps.fill.expressions.dates.date_part import read_moment
from aloex.apps.fill.expressions.durations.elapsed import time_between
from aloex.apps.fill.expressions.durations.text import (
    in_seconds,
    in_unit,
    read_duration,
    write_duration,
)
from aloex.apps.fill.expressions.numbers.values import NumberExpression
from aloex.apps.fill.expressions.numbers.words import position_in_words


@dataclass(frozen=True)
class CellDuration(NumberExpression):
    """The k-th duration of a cell, from 0, in a unit."""

    column: int
    k: int
    clock: str  # what comes first in 1:30, "h" or "m"
    unit: str  # of `UNIT_NAMES`

    def value(self, row: Row) -> Decimal | None:
        seconds = read_duration(row[self.column], self.k, self.clock)
        return None if seconds is None else in_unit(seconds, self.unit)

    def features(self) -> dict[str, float]:
        return {"duration": 1.0, "number_k": float(self.k)}

    def explain(self, columns: Sequence[str]) -> str:
        which = "" if self.k == 0 else f"{position_in_words(self.k)} "
        return f"the {which}duration in {columns[self.column]} in {self.unit}s"


@dataclass(frozen=True)
class Elapsed(NumberExpression):
    """The time from a date or time of one cell to one of another cell, in a unit.

    A time without a date that is before the other is on the next day. Years and months are full
    ones.
    """

    column: int
    number: int  # which of the cell's dates and times, from 1
    order: str  # how it is read, see `DatePart`
    other: int
    other_number: int
    other_order: str
    unit: str  # of `UNIT_NAMES`, or "month" or "year"

    def value(self, row: Row) -> Decimal | None:
        start = read_moment(row[self.column], self.number, self.order)
        end = read_moment(row[self.other], self.other_number, self.other_order)
        return None if start is None or end is None else time_between(start, end, self.unit)

    def features(self) -> dict[str, float]:
        return {
            "elapsed": 1.0,
            "elapsed_years": float(self.unit in ("month", "year")),
            "date_number": float(self.number + self.other_number - 2),
        }

    def explain(self, columns: Sequence[str]) -> str:
        start, end = columns[self.column], columns[self.other]
        return f"the {self.unit}s from {start} to {end}"


@dataclass(frozen=True)
class DurationText(Expression):
    """A number of hours, minutes or seconds as a duration; `write_duration` says what is done."""

    number: NumberExpression
    unit: str  # of `UNIT_NAMES`
    layout: str
    short: bool = False
    rounding: str = ""

    def run(self, row: Row) -> str | None:
        value = self.number.value(row)
        if value is None:
            return None
        return write_duration(in_seconds(value, self.unit), self.layout, self.short, self.rounding)

    def features(self) -> dict[str, float]:
        return self.number.features() | {
            "duration_text": 1.0,
            "duration_short": float(self.short),
            "duration_rounded": float(bool(self.rounding)),
            "duration_padded_word": float(_pads_before_word(self.layout)),
        }

    def explain(self, columns: Sequence[str]) -> str:
        number = self.number.explain(columns)
        unit = "" if isinstance(self.number, CellDuration | Elapsed) else f" as {self.unit}s"
        layout = self.layout.replace("{", "").replace("}", "")
        rounded = {"": "", "half_up": " rounded", "floor": " rounded down"}
        short = ", without what is 0" if self.short else ""
        how = rounded.get(self.rounding, " rounded up")
        return f"{number}{unit}{how}, written {layout}{short}"


def _pads_before_word(layout: str) -> bool:
    """Whether a number of two digits stands before a word: 2h 05m."""
    return "}" in layout and any(
        layout[i + 4 : i + 6].strip()[:1].isalpha()
        for field in ("{mm}", "{ss}", "{hh}")
        if (i := layout.find(field)) >= 0
    )
