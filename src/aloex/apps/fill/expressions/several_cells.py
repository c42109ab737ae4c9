"""Expressions of several cells: joined, compared, or one put into another."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from aloex.apps.fill.expressions.base import Expression, Row
from aloex.apps.fill.expressions.patterns import first_number
from aloex.apps.fill.expressions.rewrite import ORDERS

MAX_REPEATS = 1000
MAX_DIGITS = 9


@dataclass(frozen=True)
class ReplaceByColumn(Expression):
    """Every occurrence of a text replaced by another cell."""

    column: int
    text: str
    other: int

    def run(self, row: Row) -> str | None:
        return row[self.column].replace(self.text, row[self.other])

    def features(self) -> dict[str, float]:
        letters = sum(char.isalnum() for char in self.text)
        return {"cell": 1.0, "replace": 1.0, "two_columns": 1.0, "constant_letters": letters / 2}

    def explain(self, columns: Sequence[str]) -> str:
        return f'{columns[self.column]} with "{self.text}" replaced by {columns[self.other]}'


@dataclass(frozen=True)
class JoinColumns(Expression):
    """Several cells, without those that are empty, joined by a separator."""

    columns: tuple[int, ...]
    separator: str
    order: str = ""

    def run(self, row: Row) -> str | None:
        cells = [row[column] for column in self.columns if row[column].strip()]
        return self.separator.join(ORDERS[self.order][0](cells))

    def features(self) -> dict[str, float]:
        letters = sum(char.isalnum() for char in self.separator)
        return {"join": 1.0, "order": float(bool(self.order)), "constant_letters": float(letters)}

    def explain(self, columns: Sequence[str]) -> str:
        names = ", ".join(columns[column] for column in self.columns)
        if self.order == "first":
            return f"the first of {names} that is not empty"
        order = f", {ORDERS[self.order][1]}" if self.order else ""
        return f'those of {names} that are not empty, joined by "{self.separator}"{order}'


@dataclass(frozen=True)
class TwoCells(Expression):
    """What two cells make together."""

    column: int
    other: int
    how: str

    def run(self, row: Row) -> str | None:
        return TWO_CELLS[self.how][0](row[self.column], row[self.other])

    def features(self) -> dict[str, float]:
        return {"two_columns": 1.0, f"two_{self.how}": 1.0}

    def explain(self, columns: Sequence[str]) -> str:
        one, other = columns[self.column], columns[self.other]
        return TWO_CELLS[self.how][1].format(one, other)


def common_prefix(a: str, b: str) -> str:
    """The characters with which both texts begin."""
    number = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), None)
    return a[: min(len(a), len(b)) if number is None else number]


def _by_number(a: str, b: str, choose: Callable[..., float]) -> str | None:
    """The cell whose first number is the largest (or smallest)."""
    x, y = first_number(a), first_number(b)
    return None if x is None or y is None else a if choose(x, y) == x else b


def _pad_to(text: str, width: str) -> str | None:
    number = _small_number(width)
    return None if number is None else text.rjust(number)


def _repeat(text: str, times: str) -> str | None:
    number = _small_number(times)
    return None if number is None else text * number


def _small_number(digits: str) -> int | None:
    """A number up to `MAX_REPEATS`, which stands for larger ones; a cell may have any digits."""
    if not digits.isascii() or not digits.isdigit():
        return None
    return min(int(digits), MAX_REPEATS) if len(digits) <= MAX_DIGITS else MAX_REPEATS


TWO_CELLS = {
    "common_prefix": (common_prefix, "the common start of {} and {}"),
    "common_suffix": (
        lambda a, b: common_prefix(a[::-1], b[::-1])[::-1],
        "the common end of {} and {}",
    ),
    "without_prefix": (
        lambda a, b: a[len(b) :] if a.startswith(b) else None,
        "{} without {} at its start",
    ),
    "without_suffix": (
        lambda a, b: a[: len(a) - len(b)] if a.endswith(b) else None,
        "{} without {} at its end",
    ),
    "without": (lambda a, b: a.replace(b, "") if b and b in a else None, "{} without {}"),
    "longer": (lambda a, b: a if len(a) >= len(b) else b, "the longer one of {} and {}"),
    "shorter": (lambda a, b: a if len(a) <= len(b) else b, "the shorter one of {} and {}"),
    "larger": (lambda a, b: _by_number(a, b, max), "the larger one of {} and {}"),
    "smaller": (lambda a, b: _by_number(a, b, min), "the smaller one of {} and {}"),
    "first_filled": (lambda a, b: a if a.strip() else b, "{}, or {} where it is empty"),
    "count": (lambda a, b: str(a.count(b)) if b else None, "how often {} contains {}"),
    "pad": (_pad_to, "{} filled up with spaces to the width in {}"),
    "repeat": (_repeat, "{} repeated {} times"),
}
