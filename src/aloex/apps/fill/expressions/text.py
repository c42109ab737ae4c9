"""Expressions that copy a part of a cell: matches, digits, parts between separators."""

from collections.abc import Sequence
from dataclasses import dataclass

from aloex.apps.fill.expressions.base import Expression, Row
from aloex.apps.fill.expressions.patterns import (
    compiled,
    in_words,
    nth,
    nth_span,
    ordinal,
    spans,
)


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
class MatchNear(Expression):
    """The first match of a pattern after a text in a cell, or the last one before it."""

    column: int
    pattern: str
    text: str
    after: bool = True
    last: bool = False  # whether the last occurrence of the text counts, or the first

    def run(self, row: Row) -> str | None:
        cell = row[self.column]
        found = self.span(cell)
        return None if found is None else cell[found[0] : found[1]]

    def span(self, text: str) -> tuple[int, int] | None:
        """Where the match is."""
        at = text.rfind(self.text) if self.last else text.find(self.text)
        if at < 0:
            return None
        if self.after:
            found = compiled(self.pattern).search(text, at + len(self.text))
            return None if found is None else found.span()
        before = spans(self.pattern, text[:at])
        return before[-1] if before else None

    def features(self) -> dict[str, float]:
        return {
            "near": 1.0,
            f"near_{self.pattern}": 1.0,
            "near_before": float(not self.after),
            "near_last": float(self.last),
            "near_letters": float(sum(char.isalnum() for char in self.text) > 0),
        }

    def explain(self, columns: Sequence[str]) -> str:
        order, side = ("first", "after") if self.after else ("last", "before")
        which = "the last " if self.last else ""
        where = f'{side} {which}"{self.text}" in {columns[self.column]}'
        return f"the {order} {in_words(self.pattern)} {where}"


@dataclass(frozen=True)
class Digits(Expression):
    """Digits of a cell, all others left out: from the k-th to the k-th, as slices count."""

    column: int
    start: int
    end: int | None  # None: to the last

    def run(self, row: Row) -> str | None:
        digits = digits_of(row[self.column])
        start, end, _ = slice(self.start, self.end).indices(len(digits))
        inside = -len(digits) <= self.start and -len(digits) <= (self.end or 0) <= len(digits)
        return digits[start:end] if inside and start < end else None

    def features(self) -> dict[str, float]:
        far = self.start if self.start >= 0 else -self.start
        whole = self.start == 0 and self.end is None
        return {"digits": 1.0, "digits_part": float(not whole), "digits_far": float(far)}

    def explain(self, columns: Sequence[str]) -> str:
        name = columns[self.column]
        if self.start == 0 and self.end is None:
            return f"the digits of {name}"
        if self.end is None and self.start < 0:
            return f"the last {-self.start} digits of {name}"
        if self.start == 0 and self.end is not None and self.end > 0:
            return f"the first {self.end} digits of {name}"
        if self.end is None:
            return f"the digits of {name} without the first {self.start}"
        if self.start >= 0 and self.end < 0:
            first = f"the first {self.start} and " if self.start else ""
            return f"the digits of {name} without {first}the last {-self.end}"
        place = "" if self.start >= 0 else ", counted from the end"
        one, other = (self.start + 1, self.end) if self.start >= 0 else (-self.start, -self.end + 1)
        return f"digits {one} to {other} of {name}{place}"


def digits_of(text: str) -> str:
    """The digits of a text, without what stands between them."""
    return compiled("nondigit").sub("", text)


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


def piece(text: str, keep: int) -> str | None:
    """The first characters, or the last ones if `keep` is negative; None if there are too few."""
    if abs(keep) > len(text):
        return None
    return text[:keep] if keep > 0 else text[keep:] if keep < 0 else text


def far(k: int) -> dict[str, float]:
    """How far from its end of the cell the k-th thing is; counting from the right costs a bit."""
    return {"k": k - 1.0} if k > 0 else {"from_right": 1.0, "k_from_right": -k - 1.0}
