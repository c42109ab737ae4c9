"""Counting: how many of something a cell has, so many of something, groups of so many."""

from collections.abc import Sequence
from dataclasses import dataclass

from aloex.apps.fill.expressions.base import Expression, Row
from aloex.apps.fill.expressions.patterns import compiled, in_words

MAX_REPEATS = 1000
MAX_DIGITS = 9


@dataclass(frozen=True)
class Count(Expression):
    """How many matches of a pattern, or how many characters (pattern ""), a cell has."""

    column: int
    pattern: str
    plus: int = 0

    def run(self, row: Row) -> str | None:
        text = row[self.column]
        number = len(compiled(self.pattern).findall(text)) if self.pattern else len(text)
        return str(number + self.plus)

    def features(self) -> dict[str, float]:
        kind = "literal" if self.pattern.startswith("=") else self.pattern or "characters"
        return {
            "count": 1.0,
            f"count_{kind}": 1.0,
            "count_one_letter": float(kind == "literal" and self.pattern[1:].isalpha()),
            "count_plus": float(self.plus != 0),
        }

    def explain(self, columns: Sequence[str]) -> str:
        what = in_words(self.pattern, plural=True) if self.pattern else "characters"
        more = f" plus {self.plus}" if self.plus else ""
        return f"the number of {what} in {columns[self.column]}{more}"


@dataclass(frozen=True)
class Repeat(Expression):
    """A text as many times as the number in a cell says."""

    text: str
    column: int

    def run(self, row: Row) -> str | None:
        found = compiled("number").findall(row[self.column])
        number = small_number(found[0]) if len(found) == 1 else None
        return None if number is None else self.text * number

    def features(self) -> dict[str, float]:
        return {"repeat": 1.0}

    def explain(self, columns: Sequence[str]) -> str:
        return f'"{self.text}" repeated as often as {columns[self.column]} says'


@dataclass(frozen=True)
class Chunks(Expression):
    """Letters and digits in groups of the same size, without what stood between them."""

    part: Expression
    size: int
    separator: str
    from_right: bool = False  # whether the first group may be shorter, or the last

    def run(self, row: Row) -> str | None:
        text = compiled("nonalnum").sub("", self.part.run(row) or "")
        if not text:
            return None
        first = len(text) % self.size if self.from_right else 0
        groups = [text[i : i + self.size] for i in range(first, len(text), self.size)]
        return self.separator.join([text[:first], *groups] if first else groups)

    def features(self) -> dict[str, float]:
        return {**self.part.features(), "chunks": 1.0, "chunks_right": float(self.from_right)}

    def explain(self, columns: Sequence[str]) -> str:
        side = ", counted from the right" if self.from_right else ""
        what = f"{self.part.explain(columns)} in groups of {self.size}"
        return f'{what}, joined by "{self.separator}"{side}'


def small_number(digits: str) -> int | None:
    """A number up to `MAX_REPEATS`, which stands for larger ones; a cell may have any digits."""
    if not digits.isascii() or not digits.isdigit():
        return None
    return min(int(digits), MAX_REPEATS) if len(digits) <= MAX_DIGITS else MAX_REPEATS
