"""Conditions that tell some examples from the others."""

from collections.abc import Iterator, Sequence
from itertools import pairwise, permutations
from typing import NamedTuple

from aloex.apps.fill.expressions.base import Row
from aloex.apps.fill.expressions.conditions import (
    AtLeast,
    Condition,
    Contains,
    Equals,
    Has,
    HasNoCapitals,
    IsAll,
    IsEmpty,
    Larger,
    Not,
    Same,
    without_not,
)
from aloex.apps.fill.expressions.patterns import compiled, first_number, spans
from aloex.apps.fill.search.costs import Features, cost_of
from aloex.apps.fill.search.numbers.columns import column_marks

KINDS = ("number", "word", "upper", "lower", "capitalized", "space", "mark", "decimal", "line")
MAX_COLUMNS = 6
ENOUGH = 3  # rows without an output from which on a condition should hold for some, not for all
MAX_WORDS = 12  # of a cell that are asked for


class Test(NamedTuple):
    """A condition, whether it holds for each row, and what it costs and why."""

    cost: float
    condition: Condition
    holds: tuple[bool, ...]
    features: Features


def tests(rows: Sequence[Row], outputs: Sequence[str]) -> list[Test]:
    """Conditions that hold for some examples and not for others, each behaviour once."""
    found: dict[tuple[bool, ...], Test] = {}
    num_examples = len(outputs)
    named = {n for output in outputs if (n := first_number(output)) is not None}
    for condition in _conditions(rows, num_examples, named):
        some = [condition.holds(row) for row in rows[:num_examples]]
        if all(some) or not any(some):
            continue
        holds = tuple(some + [condition.holds(row) for row in rows[num_examples:]])
        features = {
            **condition.features(),
            "if_rare": _rarity(holds[num_examples:]),
            "if_digit": float(_asks_for_a_digit(condition)),
        }
        test = Test(cost_of(features), condition, holds, features)
        if holds not in found or test.cost < found[holds].cost:
            found[holds] = test
    return sorted(found.values(), key=lambda test: test.cost)


def _asks_for_a_digit(condition: Condition) -> bool:
    """Whether a condition looks at digits as at letters: "contains 4" rather than "above 40"."""
    plain = without_not(condition)
    return isinstance(plain, Contains) and plain.text.isdigit() and len(plain.text) < 3


def _rarity(holds: Sequence[bool]) -> float:
    """1 for a condition that tells the examples apart, but none of the other rows."""
    return float(len(holds) >= ENOUGH and (all(holds) or not any(holds)))


def _conditions(rows: Sequence[Row], num_examples: int, named: set[float]) -> Iterator[Condition]:
    columns = range(min(len(rows[0]), MAX_COLUMNS))
    for column in columns:
        cells = [row[column] for row in rows]
        for condition in _of_cells(column, cells, num_examples, named):
            yield condition
            yield Not(condition)
    for one, other in permutations(columns, 2):
        for how in ("equal", "contains"):
            if how == "contains" or one < other:
                yield Same(one, other, how)
                yield Same(one, other, how, ignore_case=True)
        yield Larger(one, other)
        yield Larger(one, other, of_length=True)


def _of_cells(
    column: int, of_all: Sequence[str], num_examples: int, named: set[float]
) -> Iterator[Condition]:
    cells = of_all[:num_examples]
    yield IsEmpty(column)
    yield HasNoCapitals(column)
    yield HasNoCapitals(column, reverse=True)
    for cell in dict.fromkeys(cell.strip() for cell in cells):
        if cell and len(cell) <= 40:
            yield Equals(column, cell)
    for text in dict.fromkeys(text for cell in cells for text in _texts(cell)):
        for where in ("anywhere", "start", "end"):
            yield Contains(column, text, where)
    for kind in KINDS:
        yield IsAll(column, kind)
        counts = sorted({len(spans(kind, cell)) for cell in cells})
        yield from (Has(column, kind, least) for least in counts if least > 0)
    comma = all(marks.startswith(",") for marks in column_marks(of_all))
    numbers = sorted({n for cell in cells if (n := first_number(cell, comma)) is not None})
    for low, high in pairwise(numbers):
        told = [number for number in named if low < number <= high]  # "65+", "under 65"
        yield from (AtLeast(column, t, comma=comma) for t in told or _between(low, high))
    lengths = sorted({len(cell) for cell in cells})
    for high in lengths[1:]:
        yield AtLeast(column, float(high), of_length=True)


def _texts(cell: str) -> list[str]:
    """Words and marks of a cell, and its first and last character."""
    words = compiled("alnum").findall(cell)[:MAX_WORDS]
    marks = list(dict.fromkeys(compiled("mark").findall(cell)))[:MAX_WORDS]
    return [*words, *marks, *dict.fromkeys(cell[:1] + cell[-1:])]


def _between(low: float, high: float) -> list[float]:
    """The roundest thresholds above one number and up to another."""
    found = []
    for power in range(9, -4, -1):
        unit = 10.0**power
        for step in (unit, unit / 2, unit / 4):
            threshold = (low // step + 1) * step
            if low < threshold <= high:
                found.append(threshold)
        if found:
            return found[:2]
    return [float(high)]
