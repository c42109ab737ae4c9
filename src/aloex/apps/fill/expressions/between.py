"""The text of a cell between two texts, the second being the next one after the first."""

from collections.abc import Sequence
from dataclasses import dataclass

from aloex.apps.fill.expressions.base import Expression, Row


@dataclass(frozen=True)
class Between(Expression):
    """What stands after a text, up to the next of another one, without spaces around it."""

    column: int
    left: str
    right: str
    last: bool = False  # whether the last `left` counts, or the first
    to_end: bool = False  # whether it goes to the end of the cell where no `right` follows

    def run(self, row: Row) -> str | None:
        text = row[self.column]
        found = self.span(text)
        return None if found is None else text[found[0] : found[1]].strip()

    def span(self, text: str) -> tuple[int, int] | None:
        """Where it is, with the spaces around it."""
        at = text.rfind(self.left) if self.last else text.find(self.left)
        if at < 0:
            return None
        start = at + len(self.left)
        end = text.find(self.right, start)
        if end < 0:
            return (start, len(text)) if self.to_end else None
        return start, end

    def features(self) -> dict[str, float]:
        return {
            "between": 1.0,
            "between_last": float(self.last),
            "between_to_end": float(self.to_end),
            "between_letters": float(any(char.isalnum() for char in self.left + self.right)),
        }

    def explain(self, columns: Sequence[str]) -> str:
        which = "last" if self.last else "first"
        end = " or the end" if self.to_end else ""
        name = columns[self.column]
        return f'{name} between the {which} "{self.left}" and the next "{self.right}"{end}'
