"""What every expression of the table language has in common.

An expression is a frozen dataclass that turns a row, a tuple of cells, into a text, or into None
where it does not apply: there is no third word, no date. It never raises. Programs are made of
expressions, and so are their words, their Python code and their JSON.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any

Row = tuple[str, ...]


@dataclass(frozen=True)
class Expression:
    """A text made from a row."""

    def run(self, row: Row) -> str | None:
        """The text for a row, or None where the expression does not apply."""
        raise NotImplementedError

    def features(self) -> dict[str, float]:
        """What a ranker may look at: name -> how much of it (costs are a sum over these)."""
        raise NotImplementedError

    def is_idle(self, rows: Sequence[Row]) -> bool:
        """Whether it changes another expression, its `part`, but in none of these rows."""
        part = getattr(self, "part", None)
        return isinstance(part, Expression) and all(part.run(row) == self.run(row) for row in rows)

    def explain(self, columns: Sequence[str]) -> str:
        """A noun phrase in plain English: `the first word of name`."""
        raise NotImplementedError

    def to_json(self) -> dict[str, Any]:
        """JSON values from which `from_json` makes the expression again."""
        return {"op": type(self).__name__} | {
            field.name: _to_json(getattr(self, field.name)) for field in fields(self)
        }


def added(features: Iterable[dict[str, float]]) -> dict[str, float]:
    """Features of several parts, added up."""
    found: dict[str, float] = {}
    for each in features:
        for name, amount in each.items():
            found[name] = found.get(name, 0.0) + amount
    return found


def num_letters(text: str) -> int:
    """How many letters and digits a text has."""
    return sum(char.isalnum() for char in text)


def _to_json(value: Any) -> Any:
    if hasattr(value, "to_json"):
        return value.to_json()
    if isinstance(value, tuple):
        return [_to_json(each) for each in value]
    return value


@dataclass(frozen=True)
class Constant(Expression):
    """The same text for every row."""

    text: str

    def run(self, row: Row) -> str | None:
        return self.text

    def features(self) -> dict[str, float]:
        letters = num_letters(self.text)
        return {
            "constant": 1.0,
            "constant_letters": float(letters),
            "constant_marks": float(len(self.text) - letters),
        }

    def explain(self, columns: Sequence[str]) -> str:
        return f'the text "{self.text}"'
