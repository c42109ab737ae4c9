"""Numbers: one found in a cell, what is done with it, how it is written.

`NumberText(Rounded(CellNumber(0, 0, "."), "10", "floor"), decimals=2)` is the first number of the
first column rounded down to a multiple of 10, with two decimals. All but `NumberText` have a value,
a decimal; as texts they are written plainly. Numbers inside expressions are texts, so that JSON
keeps every digit.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from decimal import Decimal
from typing import Any

from aloex.apps.fill.expressions.base import Expression, Row
from aloex.apps.fill.expressions.numbers.arithmetic import (
    combine,
    finite,
    linear,
    range_end,
    round_to,
    to_decimal,
)
from aloex.apps.fill.expressions.numbers.text import read_number, write_number
from aloex.apps.fill.expressions.numbers.words import in_words, position_in_words, rounding_in_words

COMMON_SCALES = ("60", "100", "1000", "1000000", "1000000000")  # no accident that they fit


@dataclass(frozen=True)
class NumberExpression(Expression):
    """A number made from a row."""

    def value(self, row: Row) -> Decimal | None:
        """The number, or None where the expression does not apply."""
        raise NotImplementedError

    def run(self, row: Row) -> str | None:
        value = self.value(row)
        return None if value is None else write_number(value)


@dataclass(frozen=True)
class CellNumber(NumberExpression):
    """The k-th number of a cell, from the left (0, 1, ...) or from the right (-1, -2, ...)."""

    column: int
    k: int
    marks: str  # the column's: see `numbers.text`

    def value(self, row: Row) -> Decimal | None:
        return read_number(row[self.column], self.k, self.marks)

    def features(self) -> dict[str, float]:
        found: dict[str, float] = {"number": 1.0}
        if self.k:
            found["number_k"] = float(self.k if self.k > 0 else -1 - self.k)
        if self.k < 0:
            found["number_from_right"] = 1.0
        if " " in self.marks:
            found["number_spaces"] = 1.0
        return found

    def explain(self, columns: Sequence[str]) -> str:
        return f"the {position_in_words(self.k)} number of {columns[self.column]}"


@dataclass(frozen=True)
class Linear(NumberExpression):
    """(number multiply + add) / divide."""

    number: NumberExpression
    multiply: str = "1"
    add: str = "0"
    divide: str = "1"

    def value(self, row: Row) -> Decimal | None:
        x = self.number.value(row)
        if x is None:
            return None
        return finite(
            linear(x, to_decimal(self.multiply), to_decimal(self.add), to_decimal(self.divide))
        )

    def features(self) -> dict[str, float]:
        found = self.number.features()
        if (self.multiply, self.divide) == ("-1", "1"):
            found["number_negate"] = 1.0
        elif any(each in COMMON_SCALES for each in (self.multiply, self.divide)):
            found["number_scale"] = 1.0
        elif self._is_mean():
            found["number_mean"] = 1.0
        elif (self.multiply, self.divide) != ("1", "1"):
            found["number_factor"] = 1.0
        if self.add != "0":
            found["number_add"] = 1.0
        return found

    def explain(self, columns: Sequence[str]) -> str:
        words = self.number.explain(columns)
        if self._is_mean():
            return f"the mean{words.removeprefix('the sum')}"
        if self.multiply == "-1":
            words = f"minus {words}"
        elif self.multiply != "1":
            words += f" times {self.multiply}"
        if self.add != "0":
            words += f" {'minus' if self.add[0] == '-' else 'plus'} {self.add.lstrip('-')}"
        if self.divide == "1":
            return words
        return f"{words if self.add == '0' else f'({words})'} divided by {self.divide}"

    def _is_mean(self) -> bool:
        """Whether a sum is divided by how many numbers it has."""
        number = self.number
        if not isinstance(number, Combined) or number.operation != "sum":
            return False
        return (self.multiply, self.add, self.divide) == ("1", "0", str(len(number.numbers())))


@dataclass(frozen=True)
class AbsoluteValue(NumberExpression):
    """A number without its sign."""

    number: NumberExpression

    def value(self, row: Row) -> Decimal | None:
        x = self.number.value(row)
        return None if x is None else x.copy_abs()

    def features(self) -> dict[str, float]:
        return self.number.features() | {"number_absolute": 1.0}

    def explain(self, columns: Sequence[str]) -> str:
        return f"the absolute value of {self.number.explain(columns)}"


@dataclass(frozen=True)
class Combined(NumberExpression):
    """The sum, difference, product or quotient of two numbers, or one with the other's per cent."""

    left: NumberExpression
    right: NumberExpression
    operation: str  # "sum", "difference", "product", "quotient", or see `combine`

    def value(self, row: Row) -> Decimal | None:
        x, y = self.left.value(row), self.right.value(row)
        return None if x is None or y is None else finite(combine(x, y, self.operation))

    def features(self) -> dict[str, float]:
        found = self.left.features()
        for name, amount in self.right.features().items():
            found[name] = found.get(name, 0) + amount
        return found | {"number_combined": 1.0, f"number_{self.operation}": 1.0}

    def explain(self, columns: Sequence[str]) -> str:
        *others, last = [number.explain(columns) for number in self.numbers()]
        left = ", ".join(others)
        if self.operation == "change":
            return f"the change from {last} to {left} as a share"
        if self.operation.endswith("_percent"):
            return f"{left} {self.operation.partition('_')[0]} {last} per cent"
        return f"the {self.operation} of {left} and {last}"

    def numbers(self) -> list[NumberExpression]:
        """The numbers that are added, all of them; or the two of another operation."""
        left = self.left
        if self.operation == "sum" and isinstance(left, Combined) and left.operation == "sum":
            return [*left.numbers(), self.right]
        return [left, self.right]


@dataclass(frozen=True)
class Rounded(NumberExpression):
    """A number rounded to a multiple of a step."""

    number: NumberExpression
    step: str
    mode: str  # one of `ROUNDINGS`

    def value(self, row: Row) -> Decimal | None:
        x = self.number.value(row)
        return None if x is None else finite(round_to(x, to_decimal(self.step), self.mode))

    def features(self) -> dict[str, float]:
        return self.number.features() | {
            "number_round": 1.0,
            f"number_{self.mode}": 1.0,
            "number_step": _oddness(self.step),
        }

    def explain(self, columns: Sequence[str]) -> str:
        return f"{self.number.explain(columns)} rounded {rounding_in_words(self.step, self.mode)}"


@dataclass(frozen=True)
class RangeEnd(NumberExpression):
    """An end of the range in which a number lies: 20 or 30, or 29 with a gap of 1, for 23."""

    number: NumberExpression
    step: str
    end: str  # "lower" or "upper"
    offset: str = "0"  # where a range begins: 1 for ranges such as 1-10, 11-20
    gap: str = "0"  # from the upper end to the next range
    closed: str = "lower"  # the end that itself belongs to the range

    def value(self, row: Row) -> Decimal | None:
        x = self.number.value(row)
        if x is None:
            return None
        step, offset, gap = map(to_decimal, (self.step, self.offset, self.gap))
        return finite(range_end(x, step, self.end, offset, gap, self.closed))

    def features(self) -> dict[str, float]:
        return self.number.features() | {
            "number_range": 1.0,
            f"number_range_{self.end}": 1.0,
            "number_range_offset": float(self.offset not in ("0", self.gap)),
            "number_range_closed_above": float(self.closed == "upper"),
            "number_step": _oddness(self.step),
        }

    def explain(self, columns: Sequence[str]) -> str:
        start = "" if self.offset == "0" else f" (counted from {self.offset})"
        gap = "" if self.gap == "0" or self.end == "lower" else f", less {self.gap}"
        number = self.number.explain(columns)
        closed = "" if self.closed == "lower" else " (with its upper end)"
        which = f"the range of {self.step}{start}{closed} that holds {number}"
        return f"the {self.end} end of {which}{gap}"


@dataclass(frozen=True)
class NumberText(Expression):
    """A number as it is written; `write_number` says what the fields do."""

    number: NumberExpression
    decimals: int | None = None
    mark: str = "."
    group: str = ""
    lakhs: bool = False
    width: int = 0
    plus: bool = False
    negative: str = "-"

    def run(self, row: Row) -> str | None:
        value = self.number.value(row)
        if value is None:
            return None
        return write_number(  # not `style()`, since there are millions of rows
            value,
            decimals=self.decimals,
            mark=self.mark,
            group=self.group,
            lakhs=self.lakhs,
            width=self.width,
            plus=self.plus,
            negative=self.negative,
        )

    def is_idle(self, rows: Sequence[Row]) -> bool:
        """Whether rounding, or reading the text as a number, makes no difference."""
        if isinstance(self.number, Rounded):
            return all(self.number.number.value(row) == self.number.value(row) for row in rows)
        return isinstance(self.number, CellNumber) and all(
            (self.run(row) or "") in row[self.number.column] for row in rows
        )

    def style(self) -> dict[str, Any]:
        """The arguments of `write_number`."""
        return {field.name: getattr(self, field.name) for field in fields(self)[1:]}

    def features(self) -> dict[str, float]:
        given = {
            "number_decimals": self.decimals is not None,
            "number_comma": self.mark != ".",
            "number_comma_3": self.mark == "," and self.decimals == 3,
            "number_group": bool(self.group),
            "number_lakhs": self.lakhs,
            "number_zeros": self.width > 0,
            "number_plus": self.plus,
            "number_parentheses": self.negative == "()",
            "number_sign_after": self.negative == "5-",
        }
        return self.number.features() | {name: 1.0 for name, is_given in given.items() if is_given}

    def explain(self, columns: Sequence[str]) -> str:
        return ", ".join([self.number.explain(columns), *in_words(**self.style())])


def _oddness(step: str) -> float:
    """How far a step is from a power of ten: 0 for 100, 0.5 for 5 and 50, 0.75 for 25, 1 for 7."""
    digits = step.replace(".", "").strip("0")
    return {"1": 0.0, "5": 0.5, "25": 0.75, "2": 1.6}.get(digits, float(len(digits)))
