"""Numbers with what stands behind them: 1.2K, 3 million, 1.5 GB, 250 g, in one unit for all.

Units belong to families, since an M behind a number is a million of people but a metre of cloth.
A family has a unit of 1, to which all others are brought.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache

from aloex.apps.fill.expressions.base import Row
from aloex.apps.fill.expressions.numbers.arithmetic import EXACT
from aloex.apps.fill.expressions.numbers.text import read_numbers
from aloex.apps.fill.expressions.numbers.values import NumberExpression
from aloex.apps.fill.expressions.numbers.words import position_in_words

# family -> unit -> how much of the unit of 1 it is; "" is a number with nothing behind it
FAMILIES = {
    "count": {
        **dict.fromkeys(("",), "1"),
        **dict.fromkeys(("k", "tsd", "thousand"), "1e3"),
        **dict.fromkeys(("m", "mn", "mio", "mill", "million", "millions"), "1e6"),
        **dict.fromkeys(("b", "bn", "mrd", "billion", "billions"), "1e9"),
        **dict.fromkeys(("t", "tn", "trillion"), "1e12"),
    },
    "bytes": {"b": "1", "kb": "1e3", "mb": "1e6", "gb": "1e9", "tb": "1e12"}
    | {"kib": "1024", "mib": "1048576", "gib": "1073741824"},
    "grams": {"mg": "0.001", "g": "1", "kg": "1e3", "t": "1e6"},
    "metres": {"mm": "0.001", "cm": "0.01", "m": "1", "km": "1e3"},
    "litres": {"ml": "0.001", "cl": "0.01", "dl": "0.1", "l": "1"},
}


def read_quantities(text: str, marks: str, family: str) -> list[Decimal | None]:
    """The numbers of a text in the unit of 1 of a family; None where another unit stands.

    >>> [int(value) for value in read_quantities("1.2K and 842", ".", "count")]
    [1200, 842]
    """
    found: list[Decimal | None] = []
    at = 0
    for number in read_numbers(text, marks):
        at = text.index(number.digits, at) + len(number.digits)
        unit = _unit(family).match(text, at)
        if number.value is None or unit is None:
            found.append(None)
        else:
            factor = FAMILIES[family][unit[1].lower()]
            found.append(EXACT.multiply(number.value, Decimal(factor)))
    return found


def read_quantity(text: str, k: int, marks: str, family: str) -> Decimal | None:
    """The k-th number of a text in the unit of 1 of a family, see `CellNumber`."""
    found = read_quantities(text, marks, family)
    return found[k] if -len(found) <= k < len(found) else None


@cache
def _unit(family: str) -> re.Pattern[str]:
    """The unit behind a number; where there may be none, what follows is no word with a digit."""
    units = "|".join(sorted(filter(None, FAMILIES[family]), key=len, reverse=True))
    none = "|" if "" in FAMILIES[family] else ""
    return re.compile(rf"\s?((?:{units})(?![^\W_]){none})", re.IGNORECASE)


@dataclass(frozen=True)
class CellQuantity(NumberExpression):
    """The k-th number of a cell, with the unit behind it brought to the unit of 1."""

    column: int
    k: int
    marks: str  # the column's: see `numbers.text`
    family: str  # of `FAMILIES`

    def value(self, row: Row) -> Decimal | None:
        return read_quantity(row[self.column], self.k, self.marks, self.family)

    def features(self) -> dict[str, float]:
        return {
            "number": 1.0,
            "number_k": float(self.k if self.k >= 0 else -1 - self.k),
            "number_from_right": float(self.k < 0),
            "number_unit": 1.0,
        }

    def explain(self, columns: Sequence[str]) -> str:
        unit = "with its K or M" if self.family == "count" else f"in {self.family}"
        return f"the {position_in_words(self.k)} number of {columns[self.column]} {unit}"
