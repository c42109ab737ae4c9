"""A program that a user can keep: run it, read it, store it."""

import json
from collections.abc import Iterable
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
        cells = _cells(row)
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
        return to_python(self.expression, self.columns, _name(name))

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
            columns = _columns(values["columns"])
            program = cls(from_json(values["program"]), columns)
            program.expression.run(("",) * len(columns))
            _check_parts(values["program"])
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise InputError(
                f"this program is damaged: {_damage(error)}; save it again with --save-program"
            ) from None
        return program

    def __str__(self) -> str:
        return self.explain()


def _cells(row: Any) -> Row:
    """The cells of what somebody gives for a row."""
    is_single = isinstance(row, str) or not isinstance(row, Iterable)
    cells: tuple[Any, ...] = (row,) if is_single else tuple(row)
    require(
        all(isinstance(cell, str) for cell in cells),
        f"a row is a text, or a tuple of texts, got {row!r:.80}",
    )
    return cells


def _name(told: Any) -> str:
    require(isinstance(told, str), f"the name of a function is a text, got {told!r:.80}")
    return told


def _columns(values: Any) -> tuple[str, ...]:
    """The names of columns; a ValueError if they are none."""
    if not isinstance(values, list) or not all(isinstance(name, str) for name in values):
        raise ValueError(f'"columns" must be a list of texts, got {values!r:.80}')
    return tuple(values)


def _check_parts(value: Any) -> None:
    """A ValueError if something is joined of no parts: it would be nothing for every row."""
    if isinstance(value, dict) and value.get("parts") == []:
        raise ValueError(f"{value['op']} has no parts")
    for each in value.values() if isinstance(value, dict) else value:
        if isinstance(each, dict | list):
            _check_parts(each)


def _damage(error: Exception) -> str:
    """What an error in reading a program means."""
    if isinstance(error, KeyError):
        return f"{error.args[0]!r} is missing, or is no part of this language"
    if isinstance(error, IndexError):
        return 'it reads a column that "columns" does not have'
    return str(error)
