"""Expressions that copy a part of a cell, and change its case."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from aloex.apps.fill.expressions.base import Expression, Row, added
from aloex.apps.fill.expressions.patterns import in_words, nth, nth_span, ordinal


@dataclass(frozen=True)
class Cell(Expression):
    """A whole cell."""

    column: int

    def run(self, row: Row) -> str | None:
        return row[self.column]

    def features(self) -> dict[str, float]:
        return {"cell": 1.0}

    def explain(self, columns: Sequence[str]) -> str:
        return columns[self.column]


@dataclass(frozen=True)
class Match(Expression):
    """The k-th match of a pattern in a cell, from 1, or from -1 at the end; or a piece of it."""

    column: int
    pattern: str
    k: int
    keep: int = 0  # so many of its first characters; if negative, of its last ones; 0 for all

    def run(self, row: Row) -> str | None:
        text = row[self.column]
        found = self.span(text)
        return None if found is None else piece(text[found[0] : found[1]], self.keep)

    def span(self, text: str) -> tuple[int, int] | None:
        """Where the match is."""
        return nth_span(self.pattern, text, self.k)

    def features(self) -> dict[str, float]:
        found = {"match": 1.0, f"match_{self.pattern}": 1.0, **far(self.k)}
        if self.keep:
            found |= {
                "keep": 1.0,
                "keep_more": abs(self.keep) - 1.0,
                "keep_last": float(self.keep < 0),
            }
        return found

    def explain(self, columns: Sequence[str]) -> str:
        words = f"the {ordinal(self.k)} {in_words(self.pattern)} of {columns[self.column]}"
        if not self.keep:
            return words
        number, side = abs(self.keep), "first" if self.keep > 0 else "last"
        return f"the {side} {f'{number} characters' if number > 1 else 'character'} of {words}"


@dataclass(frozen=True)
class Split(Expression):
    """The k-th part of a cell that is cut at a separator; without spaces around it."""

    column: int
    separator: str
    k: int

    def run(self, row: Row) -> str | None:
        part = nth(self.cut(row[self.column]), self.k)
        return None if part is None else part.strip()

    def cut(self, text: str) -> list[str]:
        """All parts; spaces at the ends of a cell separate nothing."""
        return (text.strip() if self.separator.isspace() else text).split(self.separator)

    def span(self, text: str) -> tuple[int, int] | None:
        """Where the part is, with the spaces around it."""
        parts = self.cut(text)
        part = nth(parts, self.k)
        if part is None:
            return None
        before = parts[: self.k - 1 if self.k > 0 else self.k]
        start = sum(map(len, before)) + len(before) * len(self.separator)
        start += len(text) - len(text.lstrip()) if self.separator.isspace() else 0
        return start, start + len(part)

    def features(self) -> dict[str, float]:
        return {"split": 1.0, **far(self.k)}

    def explain(self, columns: Sequence[str]) -> str:
        return f'the {ordinal(self.k)} part of {columns[self.column]} cut at "{self.separator}"'


@dataclass(frozen=True)
class Position:
    """A gap between characters.

    pattern "": the k-th gap from the left (k >= 0) or from the right (k < 0, -1 the end). Else the
    start or end of the k-th match, `offset` characters to the right of it.
    """

    pattern: str
    k: int
    at_end: bool = False
    offset: int = 0

    def to_json(self) -> dict[str, Any]:
        """JSON values, as of an expression."""
        return {"op": "Position"} | {f.name: getattr(self, f.name) for f in fields(self)}

    def find(self, text: str) -> int | None:
        if not self.pattern:
            gap = self.k if self.k >= 0 else len(text) + self.k + 1
        else:
            found = nth_span(self.pattern, text, self.k)
            if found is None:
                return None
            gap = found[self.at_end] + self.offset
        return gap if 0 <= gap <= len(text) else None

    def features(self) -> dict[str, float]:
        if not self.pattern:
            number = self.k if self.k >= 0 else -self.k - 1
            return {"counted": 1.0, "counted_far": float(number)} if number else {"edge": 1.0}
        kind = "literal" if self.pattern.startswith("=") else "pattern"
        found = {f"at_{kind}": 1.0, **far(self.k)}
        if self.offset:
            found |= {"offset": 1.0, "offset_far": abs(self.offset) - 1.0}
        return found

    def explain(self) -> str:
        if not self.pattern:
            if self.k in (0, -1):
                return "the start" if self.k == 0 else "the end"
            number = self.k if self.k > 0 else -self.k - 1
            place = "" if self.k > 0 else " from the end"
            return f"{number} character{'s' * (number > 1)}{place}"
        side = "after" if self.at_end else "before"
        words = f"{side} the {ordinal(self.k)} {in_words(self.pattern)}"
        if self.offset:
            number = abs(self.offset)
            direction = "right of" if self.offset > 0 else "left of"
            side = "end" if self.at_end else "start"
            words = (
                f"{number} character{'s' * (number > 1)} {direction} the {side} of the "
                f"{ordinal(self.k)} {in_words(self.pattern)}"
            )
        return words


@dataclass(frozen=True)
class Slice(Expression):
    """The text of a cell between two positions."""

    column: int
    start: Position
    end: Position

    def run(self, row: Row) -> str | None:
        text = row[self.column]
        start, end = self.start.find(text), self.end.find(text)
        if start is None or end is None or start > end:
            return None
        return text[start:end]

    def features(self) -> dict[str, float]:
        return added([{"slice": 1.0}, self.start.features(), self.end.features()])

    def explain(self, columns: Sequence[str]) -> str:
        start, end = self.start.explain(), self.end.explain()
        return f"{columns[self.column]} from {start} to {end}"


CASES = {
    "lower": (str.lower, "in small letters"),
    "upper": (str.upper, "in capitals"),
    "title": (lambda text: title(text), "with every word capitalized"),
    "sentence": (lambda text: text[:1].upper() + text[1:].lower(), "with a capital first"),
    "swap": (str.swapcase, "with capitals and small letters swapped"),
}


def title(text: str) -> str:
    """Every word with a capital first: O'Brien, but Tom's."""
    out, inside = [], False
    for i, char in enumerate(text):
        out.append(char.lower() if inside else char.upper())
        one_letter_follows = text[i + 1 : i + 2].isalpha() and not text[i + 2 : i + 3].isalpha()
        inside = char.isalnum() or (inside and char in "'’" and one_letter_follows)
    return "".join(out)


@dataclass(frozen=True)
class Case(Expression):
    """Another expression in another case."""

    form: str
    part: Expression

    def run(self, row: Row) -> str | None:
        text = self.part.run(row)
        return None if text is None else CASES[self.form][0](text)

    def features(self) -> dict[str, float]:
        return {**self.part.features(), "case": 1.0, f"case_{self.form}": 1.0}

    def explain(self, columns: Sequence[str]) -> str:
        return f"{self.part.explain(columns)} {CASES[self.form][1]}"


def piece(text: str, keep: int) -> str | None:
    """The first characters, or the last ones if `keep` is negative; None if there are too few."""
    if abs(keep) > len(text):
        return None
    return text[:keep] if keep > 0 else text[keep:] if keep < 0 else text


def far(k: int) -> dict[str, float]:
    """How far from its end of the cell the k-th thing is; counting from the right costs a bit."""
    return {"k": k - 1.0} if k > 0 else {"from_right": 1.0, "k_from_right": -k - 1.0}
