"""A module of ours as text and as a tree: what defines each of its names, and pieces of it."""

import ast
import importlib
import inspect
from collections.abc import Iterable
from functools import cache
from itertools import accumulate
from typing import NamedTuple

from aloex.apps.fill.export.bundle.scopes import bound_names, references

OURS = __name__.partition(".")[0] + "."
Key = tuple[str, str]  # (module, name); the name is "" for a module itself
Located = ast.stmt | ast.expr


class Edit(NamedTuple):
    """Bytes of a module's text, from start to end, and what replaces them."""

    start: int
    end: int
    text: str


class Source:
    """The source of a module.

    Args:
        name: of the module.
    """

    def __init__(self, name: str):
        text = inspect.getsource(importlib.import_module(name))
        self.name = name
        self.bytes = text.encode()
        self.lines = self.bytes.splitlines(keepends=True)
        self.starts = [0, *accumulate(map(len, self.lines))]
        self.statements = ast.parse(text).body
        self.imports: dict[str, Key] = {}
        self.definitions: dict[str, list[ast.stmt]] = {}
        for statement in self.statements:
            self._add(statement)

    def _add(self, statement: ast.stmt) -> None:
        if isinstance(statement, ast.Import):
            for each in statement.names:
                self.imports[each.asname or each.name] = (each.name, "")
        elif isinstance(statement, ast.ImportFrom):
            for each in statement.names:
                self.imports[each.asname or each.name] = (statement.module or "", each.name)
        else:
            names = bound_names([statement])
            # What binds nothing, such as `TABLE["x"] = 1`, belongs to the names that it mentions.
            for name in names or {found.node.id for found in references(statement)}:
                if names or name in self.definitions:
                    self.definitions.setdefault(name, []).append(statement)

    def find(self, name: str) -> Key | None:
        """Where a name of the module is defined; None for names of Python itself."""
        if name in self.definitions:
            return self.name, name
        found = self.imports.get(name)
        if found is None or not found[0].startswith(OURS):
            return found
        return source(found[0]).find(found[1])

    def where(self, node: Located) -> tuple[int, int]:
        """First byte of a node and the first behind it."""
        end = node.end_lineno or node.lineno, node.end_col_offset or 0
        return self._at(node.lineno, node.col_offset), self._at(*end)

    def _at(self, line: int, column: int) -> int:
        return self.starts[line - 1] + column

    def lines_of(self, statement: ast.stmt) -> tuple[int, int]:
        """First byte of a statement's lines and the first behind them; comments above count."""
        decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
        first = min([statement.lineno, *(each.lineno for each in decorators)])
        while first > 1 and self.lines[first - 2].lstrip().startswith(b"#"):
            first -= 1
        return self.starts[first - 1], self.starts[statement.end_lineno or statement.lineno]

    def text(self, start: int, end: int, edits: Iterable[Edit] = ()) -> str:
        """A part of the text after edits, which do not overlap; those outside are left out."""
        pieces: list[str] = []
        for edit in sorted(edits):
            if start <= edit.start and edit.end <= end:
                pieces += [self.bytes[start : edit.start].decode(), edit.text]
                start = edit.end
        return "".join([*pieces, self.bytes[start:end].decode()])


@cache
def source(name: str) -> Source:
    """The source of a module."""
    return Source(name)
