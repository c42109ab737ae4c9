"""A program that a user can keep: run it, read it, store it."""

import json
from dataclasses import dataclass
from typing import Any

from aloex.apps.fill.export import to_python
from aloex.apps.fill.expressions.base import Expression, Row
from aloex.apps.fill.expressions.from_json import from_json
from aloex.base.errors import InputError, require

VERSION = 1  # of the JSON


@dataclass(frozen=True)
class Program:
    """An expression and the names of the columns that it reads.

    Args:
        expression: what makes the text of a row.
        columns: the names of the cells of a row.
    """

    expression: Expression
    columns: tuple[str, ...]

    def run(self, row: Row | str) -> str | None:
        """The text for a row, or for a single cell; None where the program does not apply."""
        cells = (row,) if isinstance(row, str) else tuple(row)
        require(
            len(cells) == len(self.columns),
            f"this program reads {len(self.columns)} cells: {', '.join(self.columns)}; got {cells}",
        )
        return self.expression.run(cells)

    def explain(self) -> str:
        """The program in plain English."""
        return self.expression.explain(self.columns)

    def to_python(self, name: str = "fill") -> str:
        """The program as a Python module that needs no Aloex.

        Args:
            name: of the function.

        Returns:
            The source: Python 3.11 or newer, and only its standard library. The function has a
            parameter for each column that the program reads, called like the column as far as
            Python allows, and returns what `run` does.

        Raises:
            InputError: a function cannot have this name.

        Example:
            >>> from aloex.apps.fill.expressions.cases import Case
            >>> from aloex.apps.fill.expressions.text import Split
            >>> program = Program(Case("lower", Split(0, ",", 2)), ("Last, first",))
            >>> print(program.to_python("first_name"))
            def first_name(last_first: str) -> str | None:
                \"\"\"The second part of Last, first cut at "," in small letters.\"\"\"
                parts = last_first.split(",")
                if len(parts) < 2:
                    return None
                return parts[1].strip().lower()
            <BLANKLINE>
        """
        return to_python(self.expression, self.columns, name)

    def to_json(self) -> dict[str, Any]:
        """JSON values; `Program.from_json` reads them."""
        return {
            "aloex_fill": VERSION,
            "columns": list(self.columns),
            "words": self.explain(),
            "program": self.expression.to_json(),
        }

    @classmethod
    def from_json(cls, values: Any) -> "Program":
        """The program that `to_json` wrote, also as a text."""
        if isinstance(values, str):
            try:
                values = json.loads(values)
            except json.JSONDecodeError as error:
                raise InputError(f"this is no program, since it is no JSON: {error}") from None
        if not isinstance(values, dict) or values.get("aloex_fill") != VERSION:
            raise InputError(
                f'this is no program of version {VERSION}: it has no "aloex_fill": {VERSION}'
            )
        try:
            columns = tuple(str(name) for name in values["columns"])
            program = cls(from_json(values["program"]), columns)
            program.expression.run(("",) * len(columns))
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise InputError(f"this program is damaged: {type(error).__name__} {error}") from None
        return program

    def __str__(self) -> str:
        return self.explain()
