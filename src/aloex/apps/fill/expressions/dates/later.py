"""A part of a date or time that is as much later as another cell says: an order and its days."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from aloex.apps.fill.expressions.base import Expression, Row
from aloex.apps.fill.expressions.dates.changes import change_moment
from aloex.apps.fill.expressions.dates.date_part import DatePart
from aloex.apps.fill.expressions.dates.layouts import Moment
from aloex.apps.fill.expressions.dates.parts import write_part
from aloex.apps.fill.expressions.numbers.values import NumberExpression

MAX_STEP = 10**6  # nobody adds more


@dataclass(frozen=True)
class LaterPart(Expression):
    """A part of a date or time after a number of units, or before for the sign -1."""

    part: DatePart  # without a change
    by: NumberExpression
    unit: str
    sign: int = 1

    @property
    def source(self) -> tuple[int, int, str, tuple[Any, ...]]:
        """Equal for parts of the same date, see `DatePart`."""
        return (*self.part.source[:3], ("later", self.by, (self.unit, self.sign)))

    def run(self, row: Row) -> str | None:
        part = self.part
        moment, by = part.moment(row), self.by.value(row)
        if moment is None or by is None:
            return None
        moment = later_moment(moment, by, self.unit, self.sign)
        return None if moment is None else write_part(moment, part.part, part.language, part.case)

    def features(self) -> dict[str, float]:
        return self.part.features() | {"date_later": 1.0, "date_before": float(self.sign < 0)}

    def explain(self, columns: Sequence[str]) -> str:
        sign = "plus" if self.sign > 0 else "minus"
        return f"{self.part.explain(columns)} {sign} {self.by.explain(columns)} as {self.unit}s"


def later_moment(moment: Moment, by: Decimal, unit: str, sign: int) -> Moment | None:
    """A moment after a whole number of units, or before."""
    if by.copy_abs() > MAX_STEP or by % 1:
        return None
    return change_moment(moment, "add", sign * int(by), unit)
