"""Expressions of several cells: joined, compared, or one put into another."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from aloex.apps.fill.expressions.base import Expression, Row, num_letters
from aloex.apps.fill.expressions.counting import small_number
from aloex.apps.fill.expressions.patterns import first_number
from aloex.apps.fill.expressions.rewrite import ORDERS


@dataclass(frozen=True)
class ReplaceByColumn(Expression):
    """Every occurrence of a text replaced by another cell."""

    column: int
    text: str
    other: int

    def run(self, row: Row) -> str | None:
        return row[self.column].replace(self.text, row[self.other])

    def features(self) -> dict[str, float]:
        letters = num_letters(self.text)
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

    def is_idle(self, rows: Sequence[Row]) -> bool:
        """Whether none of these rows has two cells to join."""
        filled = (sum(bool(row[column].strip()) for column in self.columns) for row in rows)
        return self.order != "first" and all(number < 2 for number in filled)

    def features(self) -> dict[str, float]:
        letters = num_letters(self.separator)
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

    def is_idle(self, rows: Sequence[Row]) -> bool:
        """Whether it chooses one of two cells, and that is the same column in all these rows."""
        texts = [self.run(row) for row in rows]
        columns = (self.column, self.other)
        return self.how in CHOICES and any(
            all(row[column] == text for row, text in zip(rows, texts, strict=True))
            for column in columns
        )

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
    number = small_number(width)
    return None if number is None else text.rjust(number)


def _repeat(text: str, times: str) -> str | None:
    number = small_number(times)
    return None if number is None else text * number


def _nth_part(text: str, number: str, separator: str | None) -> str | None:
    """The n-th part of a text that is cut at a separator; at spaces, if it is None."""
    n, parts = small_number(number), text.split(separator)
    return parts[n - 1].strip() if n is not None and 0 < n <= len(parts) else None


def _first_n(text: str, number: str) -> str | None:
    n = small_number(number)
    return None if n is None else text[:n]


def _last_n(text: str, number: str) -> str | None:
    n = small_number(number)
    return None if n is None else text[max(len(text) - n, 0) :]


def _without(text: str, other: str) -> str | None:
    """A text without another one and without the space that was between them."""
    return " ".join(text.replace(other, "").split()) if other and other in text else None


CHOICES = ("longer", "shorter", "larger", "smaller", "first_filled")
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
    "without_spaces": (_without, "{} without {}, with single spaces"),
    "before": (lambda a, b: a[: a.find(b)].rstrip() if b and b in a else None, "{} before {}"),
    "after": (
        lambda a, b: a[a.find(b) + len(b) :].lstrip() if b and b in a else None,
        "{} after {}",
    ),
    "first_n": (_first_n, "as many of the first characters of {} as {} says"),
    "last_n": (_last_n, "as many of the last characters of {} as {} says"),
    "nth_word": (
        lambda a, b: _nth_part(a, b, None),
        "the part without spaces of {} whose number is {}",
    ),
    "nth_of_list": (
        lambda a, b: _nth_part(a, b, ","),
        "the part of {} between commas with number {}",
    ),
    "position": (
        lambda a, b: str(a.find(b) + 1) if b and b in a else None,
        "the position in {} where {} begins",
    ),
    "longer": (lambda a, b: a if len(a) >= len(b) else b, "the longer one of {} and {}"),
    "shorter": (lambda a, b: a if len(a) <= len(b) else b, "the shorter one of {} and {}"),
    "larger": (lambda a, b: _by_number(a, b, max), "the larger one of {} and {}"),
    "smaller": (lambda a, b: _by_number(a, b, min), "the smaller one of {} and {}"),
    "first_filled": (lambda a, b: a if a.strip() else b, "{}, or {} where it is empty"),
    "count": (lambda a, b: str(a.count(b)) if b else None, "how often {} contains {}"),
    "pad": (_pad_to, "{} filled up with spaces to the width in {}"),
    "repeat": (_repeat, "{} repeated {} times"),
}
