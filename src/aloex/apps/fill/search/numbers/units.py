"""Numbers with units that differ from cell to cell: those that are brought to one."""

from collections.abc import Sequence
from decimal import Decimal

from aloex.apps.fill.expressions.base import Row
from aloex.apps.fill.expressions.numbers.quantities import (
    FAMILIES,
    CellQuantity,
    read_quantities,
)
from aloex.apps.fill.expressions.numbers.values import CellNumber
from aloex.apps.fill.search.numbers.columns import MAX_CELL, Source

MAX_SOURCES = 6


def quantities(rows: Sequence[Row], sources: Sequence[Source], num_examples: int) -> list[Source]:
    """The sources with their units, in columns where these differ: else a number says it all."""
    found: dict[tuple[Decimal | None, ...], Source] = {}
    for source in sources[:MAX_SOURCES]:
        read = source.expression
        if not isinstance(read, CellNumber):
            continue
        cells = [row[read.column] if len(row[read.column]) <= MAX_CELL else "" for row in rows]
        if not any(char.isalpha() for cell in cells for char in cell):
            continue
        for family in FAMILIES:
            values = tuple(_value(cell, read, family) for cell in cells)
            if None in values[:num_examples] or values == source.values:
                continue
            factors = {
                y / x for x, y in zip(source.values, values, strict=True) if x and y is not None
            }
            if len(factors) > 1:
                expression = CellQuantity(read.column, read.k, read.marks, family)
                found.setdefault(values, source._replace(expression=expression, values=values))
    return list(found.values())


def _value(cell: str, read: CellNumber, family: str) -> Decimal | None:
    values = read_quantities(cell, read.marks, family)
    return values[read.k] if -len(values) <= read.k < len(values) else None
