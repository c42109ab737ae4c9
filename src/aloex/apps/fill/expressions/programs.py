"""Whole programs: parts joined one after the other, cases by a condition, and memorised tables."""

from collections.abc import Sequence
from dataclasses import dataclass

from aloex.apps.fill.expressions.base import Expression, Row, added
from aloex.apps.fill.expressions.conditions import Condition


@dataclass(frozen=True)
class Join(Expression):
    """Parts one after the other; none at all is the empty text."""

    parts: tuple[Expression, ...]

    def run(self, row: Row) -> str | None:
        texts = []
        for part in self.parts:
            text = part.run(row)
            if text is None:
                return None
            texts.append(text)
        return "".join(texts)

    def features(self) -> dict[str, float]:
        return added(part.features() for part in self.parts)

    def explain(self, columns: Sequence[str]) -> str:
        return ", then ".join(part.explain(columns) for part in self.parts) or "nothing"


@dataclass(frozen=True)
class Switch(Expression):
    """The program of the first condition that holds, or else the last program."""

    conditions: tuple[Condition, ...]
    programs: tuple[Expression, ...]  # one more than conditions

    def run(self, row: Row) -> str | None:
        return self.programs[self.case(row)].run(row)

    def case(self, row: Row) -> int:
        """The number of the program that a row gets."""
        found = (i for i, condition in enumerate(self.conditions) if condition.holds(row))
        return next(found, len(self.conditions))

    def features(self) -> dict[str, float]:
        return added(part.features() for part in (*self.conditions, *self.programs))

    def explain(self, columns: Sequence[str]) -> str:
        cases = zip(self.conditions, self.programs, strict=False)
        words = [f"if {c.explain(columns)}: {p.explain(columns)}" for c, p in cases]
        return "; ".join([*words, f"else: {self.programs[-1].explain(columns)}"])


@dataclass(frozen=True)
class Lookup(Expression):
    """A memorised table: the texts of the examples; other rows have none."""

    column: int
    table: tuple[tuple[str, str], ...]

    def run(self, row: Row) -> str | None:
        return dict(self.table).get(row[self.column])

    def features(self) -> dict[str, float]:
        return {"lookup": 1.0}

    def explain(self, columns: Sequence[str]) -> str:
        pairs = ", ".join(f'"{x}" is "{y}"' for x, y in self.table)
        return f"memorised by {columns[self.column]}: {pairs}"
