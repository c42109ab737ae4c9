"""A text at the start or end of a cell that some cells have and others lack."""

from collections.abc import Sequence
from dataclasses import dataclass

from aloex.apps.fill.expressions.base import Expression, Row, num_letters


@dataclass(frozen=True)
class WithoutAffix(Expression):
    """Without a text at the start, or at the end, where it has it."""

    part: Expression
    text: str
    at_end: bool = False

    def run(self, row: Row) -> str | None:
        text = self.part.run(row)
        if text is None:
            return None
        return text.removesuffix(self.text) if self.at_end else text.removeprefix(self.text)

    def features(self) -> dict[str, float]:
        return {
            **self.part.features(),
            "affix": 1.0,
            "affix_letters": float(num_letters(self.text)),
        }

    def explain(self, columns: Sequence[str]) -> str:
        where = "end" if self.at_end else "start"
        return f'{self.part.explain(columns)} without "{self.text}" at the {where}, if it is there'


@dataclass(frozen=True)
class WithAffix(Expression):
    """With a text at the start, or at the end, which is added where it is not there."""

    part: Expression
    text: str
    at_end: bool = False

    def run(self, row: Row) -> str | None:
        text = self.part.run(row)
        if text is None:
            return None
        if self.at_end:
            return text if text.endswith(self.text) else text + self.text
        return text if text.startswith(self.text) else self.text + text

    def features(self) -> dict[str, float]:
        return {
            **self.part.features(),
            "affix": 1.0,
            "affix_letters": float(num_letters(self.text)),
            "affix_added": 1.0,
        }

    def explain(self, columns: Sequence[str]) -> str:
        where = "end" if self.at_end else "start"
        return f'{self.part.explain(columns)} with "{self.text}" at the {where}, added if need be'
