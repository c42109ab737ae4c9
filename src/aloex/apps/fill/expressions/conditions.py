"""Conditions on a row: which of two programs it gets."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from aloex.apps.fill.expressions.base import Row
from aloex.apps.fill.expressions.patterns import compiled, first_number, in_words, spans


@dataclass(frozen=True)
class Condition:
    """True or false of a row."""

    def holds(self, row: Row) -> bool:
        raise NotImplementedError

    def features(self) -> dict[str, float]:
        return {"condition": 1.0, f"if_{type(self).__name__.lower()}": 1.0}

    def explain(self, columns: Sequence[str]) -> str:
        raise NotImplementedError

    def to_json(self) -> dict[str, Any]:
        """JSON values from which `from_json` makes the condition again."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {"op": type(self).__name__} | {
            name: value.to_json() if isinstance(value, Condition) else value
            for name, value in values.items()
        }


@dataclass(frozen=True)
class IsEmpty(Condition):
    """A cell has nothing but spaces."""

    column: int

    def holds(self, row: Row) -> bool:
        return not row[self.column].strip()

    def explain(self, columns: Sequence[str]) -> str:
        return f"{columns[self.column]} is empty"


@dataclass(frozen=True)
class Equals(Condition):
    """A cell is a certain text; capitals count or not."""

    column: int
    text: str

    def holds(self, row: Row) -> bool:
        return row[self.column].strip().casefold() == self.text.casefold()

    def explain(self, columns: Sequence[str]) -> str:
        return f'{columns[self.column]} is "{self.text}"'


@dataclass(frozen=True)
class Contains(Condition):
    """A cell contains a text: anywhere, at its start or at its end."""

    column: int
    text: str
    where: str = "anywhere"

    def holds(self, row: Row) -> bool:
        cell = row[self.column]
        if self.where == "start":
            return cell.startswith(self.text)
        return cell.endswith(self.text) if self.where == "end" else self.text in cell

    def features(self) -> dict[str, float]:
        return {**super().features(), f"if_contains_{self.where}": 1.0}

    def explain(self, columns: Sequence[str]) -> str:
        verb = {"anywhere": "contains", "start": "starts with", "end": "ends with"}[self.where]
        return f'{columns[self.column]} {verb} "{self.text}"'


@dataclass(frozen=True)
class Has(Condition):
    """A cell has at least so many matches of a pattern."""

    column: int
    pattern: str
    least: int = 1

    def holds(self, row: Row) -> bool:
        return len(spans(self.pattern, row[self.column])) >= self.least

    def features(self) -> dict[str, float]:
        return {**super().features(), "if_least": self.least - 1.0}

    def explain(self, columns: Sequence[str]) -> str:
        if self.least == 1:
            return f"{columns[self.column]} has a {in_words(self.pattern)}"
        what = in_words(self.pattern, plural=True)
        return f"{columns[self.column]} has at least {self.least} {what}"


@dataclass(frozen=True)
class IsAll(Condition):
    """A cell is one match of a pattern from end to end."""

    column: int
    pattern: str

    def holds(self, row: Row) -> bool:
        return compiled(self.pattern).fullmatch(row[self.column].strip()) is not None

    def explain(self, columns: Sequence[str]) -> str:
        return f"{columns[self.column]} is one {in_words(self.pattern)}"


@dataclass(frozen=True)
class HasNoCapitals(Condition):
    """A cell has no capital letters (or, `reverse`, no small ones)."""

    column: int
    reverse: bool = False

    def holds(self, row: Row) -> bool:
        cell = row[self.column]
        return cell == (cell.upper() if self.reverse else cell.lower())

    def explain(self, columns: Sequence[str]) -> str:
        return f"{columns[self.column]} has no {'small' if self.reverse else 'capital'} letters"


@dataclass(frozen=True)
class AtLeast(Condition):
    """The first number of a cell (or its length) is at least so much."""

    column: int
    threshold: float
    of_length: bool = False
    comma: bool = False  # whether the column's decimal mark is a comma

    def number(self, row: Row) -> float | None:
        """What is compared; None if the cell has no number."""
        cell = row[self.column]
        return float(len(cell)) if self.of_length else first_number(cell, self.comma)

    def holds(self, row: Row) -> bool:
        number = self.number(row)
        return number is not None and number >= self.threshold

    def features(self) -> dict[str, float]:
        return {**super().features(), "if_length": float(self.of_length)}

    def explain(self, columns: Sequence[str]) -> str:
        what = "the length of " if self.of_length else ""
        return f"{what}{columns[self.column]} is at least {self.threshold:g}"


@dataclass(frozen=True)
class Same(Condition):
    """Two cells are equal, or the first contains the second; capitals count or not."""

    column: int
    other: int
    how: str = "equal"
    ignore_case: bool = False

    def holds(self, row: Row) -> bool:
        one, other = row[self.column], row[self.other]
        if self.ignore_case:
            one, other = one.casefold(), other.casefold()
        return one == other if self.how == "equal" else other in one

    def features(self) -> dict[str, float]:
        return {**super().features(), "if_ignore_case": float(self.ignore_case)}

    def explain(self, columns: Sequence[str]) -> str:
        verb = "equals" if self.how == "equal" else "contains"
        case = ", capitals or not" if self.ignore_case else ""
        return f"{columns[self.column]} {verb} {columns[self.other]}{case}"


@dataclass(frozen=True)
class Larger(Condition):
    """The only number (or the length) of a cell is larger than that of another."""

    column: int
    other: int
    of_length: bool = False

    def can_compare(self, row: Row) -> bool:
        """Whether both cells have something to compare."""
        return self.of_length or all(
            only_number(row[column]) is not None for column in (self.column, self.other)
        )

    def holds(self, row: Row) -> bool:
        measure = len if self.of_length else only_number
        one, other = measure(row[self.column]), measure(row[self.other])
        return one is not None and other is not None and one > other

    def explain(self, columns: Sequence[str]) -> str:
        word = "longer" if self.of_length else "larger"
        return f"{columns[self.column]} is {word} than {columns[self.other]}"


def only_number(text: str) -> float | None:
    """The number in a text that has no other; a date has three."""
    return first_number(text) if len(spans("decimal", text)) == 1 else None


def without_not(condition: Condition) -> Condition:
    """A condition without the opposites around it."""
    while isinstance(condition, Not):
        condition = condition.condition
    return condition


@dataclass(frozen=True)
class Not(Condition):
    """The opposite of another condition."""

    condition: Condition

    def holds(self, row: Row) -> bool:
        return not self.condition.holds(row)

    def features(self) -> dict[str, float]:
        return {**self.condition.features(), "if_not": 1.0}

    def explain(self, columns: Sequence[str]) -> str:
        return f"not ({self.condition.explain(columns)})"
