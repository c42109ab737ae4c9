"""Durations of a table: those of its cells, and the times between dates of two cells."""

from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from itertools import permutations

from aloex.apps.fill.expressions.base import Row
from aloex.apps.fill.expressions.dates.date_part import read_moment
from aloex.apps.fill.expressions.dates.layouts import ORDERS, Moment, find_moments, needs_order
from aloex.apps.fill.expressions.durations.elapsed import time_between
from aloex.apps.fill.expressions.durations.text import PATTERN, in_unit, read_durations
from aloex.apps.fill.expressions.durations.values import CellDuration, Elapsed
from aloex.apps.fill.expressions.numbers.values import NumberExpression
from aloex.apps.fill.search.numbers.columns import Source

MAX_MOMENTS = 6  # dates and times of a row that are subtracted from each other
PER_CELL = 2  # durations, and dates, of a cell that are looked at
MAX_CELL = 100  # characters of a cell

Place = tuple[int, int, str]  # column, number, order


def cell_durations(rows: Sequence[Row], num_examples: int) -> list[Source]:
    """Durations that every example has, in seconds, minutes and hours; each behaviour once."""
    found: dict[tuple[Decimal | None, ...], Source] = {}
    for column in range(len(rows[0])):
        cells = [row[column] if len(row[column]) <= MAX_CELL else "" for row in rows]
        if not all(
            any(match.group() for match in PATTERN.finditer(c)) for c in cells[:num_examples]
        ):
            continue
        for clock in "hm":
            read = [read_durations(cell, clock) for cell in cells]
            for k in range(min(PER_CELL, *map(len, read[:num_examples]))):
                seconds = tuple(each[k] if k < len(each) else None for each in read)
                for unit in ("minute", "second", "hour"):
                    expression = CellDuration(column, k, clock, unit)
                    source = _source(expression, seconds, lambda x, unit=unit: in_unit(x, unit))
                    found.setdefault(source.values, source)
    return list(found.values())


def times_between(rows: Sequence[Row], num_examples: int) -> list[Source]:
    """Times from one date or time of the row to another, in every unit that all examples have."""
    places = list(_places(rows, num_examples))[:MAX_MOMENTS]
    moments = {place: [read_moment(row[place[0]], *place[1:]) for row in rows] for place in places}
    found: dict[tuple[Decimal | None, ...], Source] = {}
    for start, end in permutations(places, 2):
        pairs = list(zip(moments[start], moments[end], strict=True))
        for unit in ("day", "minute", "hour", "year", "month"):
            if not all(a and b and time_between(a, b, unit) for a, b in pairs[:1]):
                continue
            values = tuple(time_between(a, b, unit) if a and b else None for a, b in pairs)
            if None not in values[:num_examples]:
                expression = Elapsed(*start, *end, unit)
                found.setdefault(values, Source(expression, values, "."))
    return list(found.values())


def _source(
    expression: NumberExpression,
    values: Sequence[Decimal | None],
    function: Callable[[Decimal], Decimal],
) -> Source:
    changed = tuple(None if value is None else function(value) for value in values)
    return Source(expression, changed, ".")


def _places(rows: Sequence[Row], num_examples: int) -> Iterator[Place]:
    """Where dates and times stand that every example has, in the orders that read most rows."""
    for column in range(len(rows[0])):
        cells = [row[column] for row in rows]
        examples = cells[:num_examples]
        if any(len(cell) > MAX_CELL for cell in examples):
            continue
        orders = ORDERS if any(map(needs_order, cells)) else ("ANY",)
        least = min(len(find_moments(cell, orders[0])) for cell in examples)
        for number in range(1, min(least, PER_CELL) + 1):
            read = {order: [read_moment(cell, number, order) for cell in cells] for order in orders}
            fit = [order for order in orders if all(read[order][:num_examples])]
            counts = {order: sum(map(_is_there, read[order])) for order in fit}
            for order in fit:
                if counts[order] == max(counts.values()):
                    yield column, number, order


def _is_there(moment: Moment | None) -> bool:
    return moment is not None
