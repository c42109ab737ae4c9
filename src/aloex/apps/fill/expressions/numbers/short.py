"""Numbers written in other ways than with their digits alone: 21st, 1.2K."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from aloex.apps.fill.expressions.base import Expression, Row
from aloex.apps.fill.expressions.numbers.arithmetic import EXACT, round_to
from aloex.apps.fill.expressions.numbers.ordinals import ordinal
from aloex.apps.fill.expressions.numbers.text import write_number
from aloex.apps.fill.expressions.numbers.values import NumberExpression


@dataclass(frozen=True)
class OrdinalNumber(Expression):
    """A whole number from 0 on as an English ordinal: 1st, 12th, 23rd."""

    number: NumberExpression

    def run(self, row: Row) -> str | None:
        value = self.number.value(row)
        return None if value is None else write_ordinal(value)

    def features(self) -> dict[str, float]:
        return self.number.features() | {"number_ordinal": 1.0}

    def explain(self, columns: Sequence[str]) -> str:
        return f"{self.number.explain(columns)} as an ordinal number"


@dataclass(frozen=True)
class ShortNumber(Expression):
    """A number in thousands, millions and so on, with a letter for these: 1.2K, 3M, 842."""

    number: NumberExpression
    suffixes: tuple[str, ...]  # for 1000, 1000000, ...
    decimals: int  # at most
    mark: str = "."
    keep_zeros: bool = False  # 3.0M

    def run(self, row: Row) -> str | None:
        value = self.number.value(row)
        if value is None:
            return None
        return write_short(value, self.suffixes, self.decimals, self.mark, self.keep_zeros)

    def features(self) -> dict[str, float]:
        return self.number.features() | {
            "number_short": 1.0,
            "number_comma": float(self.mark != "."),
            "number_short_zeros": float(self.keep_zeros),
        }

    def explain(self, columns: Sequence[str]) -> str:
        letters = " or ".join(suffix.strip() for suffix in self.suffixes)
        zeros = "always " if self.keep_zeros else "at most "
        decimals = f"{zeros}{self.decimals} decimal{'s' * (self.decimals != 1)}"
        return f"{self.number.explain(columns)} shortened by {letters}, with {decimals}"


def write_ordinal(value: Decimal) -> str | None:
    """A number as an English ordinal, or None if it is none.

    >>> write_ordinal(Decimal(112)), write_ordinal(Decimal(21))
    ('112th', '21st')
    """
    if value < 0 or EXACT.remainder(value, Decimal(1)):
        return None
    return ordinal(int(value))


def write_short(
    value: Decimal, suffixes: Sequence[str], decimals: int, mark: str, keep_zeros: bool
) -> str | None:
    """A number in the largest of thousands, millions and so on that it has.

    >>> write_short(Decimal(1249), ("K", "M"), 1, ".", False)
    '1.2K'
    """
    step = Decimal(1).scaleb(-decimals)
    for power in range(len(suffixes), -1, -1):
        scaled = round_to(value.scaleb(-3 * power, EXACT), step, "half_up")
        # 999,999 is 1M and not 1000K.
        if power == 0 or scaled.copy_abs() >= 1:
            shown = decimals if keep_zeros and power else None
            text = write_number(scaled, decimals=shown, mark=mark)
            return None if text is None else text + (suffixes[power - 1] if power else "")
    return None
