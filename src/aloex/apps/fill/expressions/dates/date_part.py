"""A part of a date or time that stands in a cell, perhaps rounded or moved first."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from aloex.apps.fill.expressions.base import Expression, Row
from aloex.apps.fill.expressions.dates.bare_numbers import BARE_NUMBERS, read_bare_number
from aloex.apps.fill.expressions.dates.changes import (
    RARE_UNITS,
    SHIFTS,
    WEEKS,
    change_moment,
    is_of_the_clock,
)
from aloex.apps.fill.expressions.dates.layouts import Moment, find_moments
from aloex.apps.fill.expressions.dates.names import LANGUAGES
from aloex.apps.fill.expressions.dates.parts import (
    NAMED_PARTS,
    PARTS,
    RARE,
    TIMES,
    write_part,
)

_ORDERS = {"DMY": "day first", "MDY": "month first", "YMD": "year first", **BARE_NUMBERS}
_ORDINALS = {1: "", 2: "second ", 3: "third ", 4: "fourth "}
_INTERVALS = {
    **{(1, unit): f"week from {unit.partition('_')[0].title()}" for unit in WEEKS},
    **{(step, u): f"{step} hours from {h}:00" for u, h in SHIFTS.items() for step in (8, 12)},
    (1, "week"): "week from Monday",
    (1, "half_month"): "half of the month",
    (3, "month"): "quarter",
    (6, "month"): "half-year",
    (10, "year"): "decade",
}
# Steps that people use most; of two that fit the examples the finer one would show in others.
_USUAL_STEPS = {("minute", 30): 1.0, ("minute", 15): 2.0}


@dataclass(frozen=True)
class DatePart(Expression):
    """One part of the `number`-th date or time of a cell.

    Args:
        column: where the date stands.
        number: which of the cell's dates and times, from 1.
        part: what is written: a name of `PARTS` or `NAMED_PARTS`.
        order: how a date of three numbers is read: DMY, MDY, YMD, or ANY if there are none; or how
            a number alone is, a name of `BARE_NUMBERS`.
        change: what is done with the date before, a name of `CHANGES`, with its step and unit.
        language, case: of the names of months and weekdays.
        order_is_open: the rows leave open whether the day or the month comes first, and it matters.
    """

    column: int
    number: int
    part: str
    order: str = "ANY"
    change: str = "none"
    step: int = 0
    unit: str = ""
    language: str = ""
    case: str = ""
    order_is_open: bool = False

    @property
    def operation(self) -> tuple[str, int, str]:
        """What is done with the date: (change, step, unit)."""
        return (self.change, self.step, self.unit)

    @property
    def source(self) -> tuple[int, int, str, tuple[str, int, str]]:
        """Equal for parts of the same date that is read and changed in the same way."""
        return (self.column, self.number, self.order, self.operation)

    def run(self, row: Row) -> str | None:
        if self.column >= len(row):
            return None
        moment = read_any(row[self.column], self.number, self.order)
        if moment is not None and self.change != "none":
            moment = change_moment(moment, self.change, self.step, self.unit)
        return None if moment is None else write_part(moment, self.part, self.language, self.case)

    def moment(self, row: Row) -> Moment | None:
        """The date or time before the change."""
        return read_any(row[self.column], self.number, self.order)

    def features(self) -> dict[str, float]:
        found: dict[str, float] = {"date_part": 1.0}
        if self.number > 1:
            found["date_number"] = self.number - 1.0
        if self.change != "none":
            found[f"date_{self.change.split('_')[0]}"] = 1.0
            if self.change != "add" and self.step > 1:
                fine = _USUAL_STEPS.get((self.unit, self.step))
                found["date_fine_step" if fine else "date_unusual_step"] = fine or 1.0
            if self.unit in WEEKS and self.unit != "week":
                found["date_sunday_week"] = 1.0
            if self.unit in RARE_UNITS:
                found["date_rare_unit"] = 1.0
        if self.part in RARE:
            found["date_rare_part"] = 1.0
        if self.part == "decade":
            found["date_decade"] = 1.0
        if self.language not in ("", "en"):
            found["date_other_language"] = 1.0
        if self.order == "YMD":
            found["date_year_first"] = 1.0  # years of two digits: others are read in any order
        if self.order in BARE_NUMBERS:
            found["date_bare"] = 1.0
        if self.order_is_open:
            found["date_open_order"] = 1.0
        return found

    def explain(self, columns: Sequence[str]) -> str:
        part = NAMED_PARTS.get(self.part) or PARTS[self.part][0]
        style = [LANGUAGES[self.language]] if self.language not in ("", "en") else []
        style += [f"{self.case} case"] if self.case in ("upper", "lower") else []
        words = f"{part} ({', '.join(style)})" if style else part
        return f"the {words} of {self._explain_moment(columns)}"

    def _explain_moment(self, columns: Sequence[str]) -> str:
        timed = self.part in TIMES or (self.unit and is_of_the_clock(self.unit))
        kind = "time" if timed else "date"
        which = _ORDINALS.get(self.number, f"{self.number}th ")
        order = f" ({_ORDERS[self.order]})" if self.order in _ORDERS else ""
        moment = f"the {which}{kind} in {columns[self.column]}{order}"
        if self.change == "none":
            return moment
        if self.change == "add":
            sign = "plus" if self.step > 0 else "minus"
            return f"{moment} {sign} {_count(abs(self.step), self.unit)}"
        interval = _INTERVALS.get((self.step, self.unit))
        if self.change in ("floor", "ceiling", "nearest"):
            way = {"floor": "down to", "ceiling": "up to", "nearest": "to the nearest"}[self.change]
            steps = interval or (_count(self.step, self.unit) if self.step > 1 else self.unit)
            article = "the " if self.step == 1 or interval else ""
            return f"{moment} rounded {way} {'' if way.endswith('nearest') else article}{steps}"
        interval = interval or (f"{self.step}-{self.unit} interval" if self.step > 1 else self.unit)
        end = "end" if self.change == "next" else self.change.replace("_", " ")
        return f"the {end} of the {interval} of {moment}"


def read_moment(text: str, number: int, order: str) -> Moment | None:
    """The `number`-th date or time of a text, from 1."""
    moments = find_moments(text, order)
    return moments[number - 1] if number <= len(moments) else None


@lru_cache(maxsize=16)  # the parts of a date are read one after the other
def read_any(text: str, number: int, order: str) -> Moment | None:
    """The date or time of a text in any order, also of a number alone."""
    if order in BARE_NUMBERS:
        return read_bare_number(text, order)
    return read_moment(text, number, order)


def _count(step: int, unit: str) -> str:
    return f"{step} {unit}{'' if step == 1 else 's'}"
