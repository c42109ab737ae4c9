"""The text of a cell between two positions: by counting, or before and after a match."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from aloex.apps.fill.expressions.base import Expression, Row, added
from aloex.apps.fill.expressions.patterns import in_words, nth_span, ordinal
from aloex.apps.fill.expressions.text import far


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

    def what(self) -> str:
        """The match at which the position is."""
        return f"{ordinal(self.k)} {in_words(self.pattern)}"

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
        words = f"{side} the {self.what()}"
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
        found = self.span(text)
        return None if found is None else text[found[0] : found[1]]

    def span(self, text: str) -> tuple[int, int] | None:
        """Where the slice is."""
        start, end = self.start.find(text), self.end.find(text)
        return None if start is None or end is None or start > end else (start, end)

    def features(self) -> dict[str, float]:
        return added([{"slice": 1.0}, *self._ends(), self.start.features(), self.end.features()])

    def _ends(self) -> list[dict[str, float]]:
        """Whether it is a head or a tail of the cell, and cut at the first text or the last."""
        if self.end == Position("", -1) and self.start.pattern.startswith("="):
            return [
                {f"tail_{'first' if self.start.k > 0 else 'last'}": 1.0, **self._dot(self.start)}
            ]
        if self.start == Position("", 0) and self.end.pattern.startswith("="):
            return [{f"head_{'first' if self.end.k > 0 else 'last'}": 1.0, **self._dot(self.end)}]
        return []

    @staticmethod
    def _dot(position: Position) -> dict[str, float]:
        """The last dot of a file name counts, the first of a sentence."""
        return {"dot_first" if position.k > 0 else "dot_last": float(position.pattern == "=.")}

    def explain(self, columns: Sequence[str]) -> str:
        name, start, end = columns[self.column], self.start, self.end
        if end == Position("", -1):
            if not start.pattern:
                return _counted(name, start.k, "last", "first")
            if not start.offset:
                return f"{name} {'after' if start.at_end else 'from'} the {start.what()}"
        if start == Position("", 0):
            if not end.pattern:
                return _counted(name, -1 - end.k, "first", "last")
            if not end.offset:
                return f"{name} {'up to' if end.at_end else 'before'} the {end.what()}"
        if not (start.pattern or end.pattern) and 0 <= start.k < end.k:
            which = f"s {start.k + 1} to {end.k}" if end.k > start.k + 1 else f" {end.k}"
            return f"character{which} of {name}"
        if start.at_end and not (end.at_end or start.offset or end.offset) and end.pattern:
            return f"{name} between the {start.what()} and the {end.what()}"
        return f"{name} from {start.explain()} to {end.explain()}"


def _counted(name: str, k: int, kept: str, dropped: str) -> str:
    """The first (or last) characters of a cell, or all but these."""
    number = -k - 1 if k < 0 else k
    characters = "character" if number == 1 else f"{number} characters"
    if k < 0:
        return f"the {kept} {characters} of {name}"
    return f"{name} without its {dropped} {characters}"
