"""What a set of definitions needs, and what of it may be left out.

Methods are matched by name alone: where `x.run` occurs, every class keeps its `run`.
"""

import ast
import sys

from aloex.apps.fill.export.bundle.scopes import Function, attributes, references
from aloex.apps.fill.export.bundle.source import OURS, Key, Source, source


class Reach:
    """All definitions that some lead to.

    Args:
        methods: names of methods to keep.
        entries: table -> the keys to keep of it; other tables are kept whole.
    """

    def __init__(self, methods: set[str], entries: dict[Key, set[str]]):
        self.methods = set(methods)
        self.entries = entries
        self.keys: dict[Key, None] = {}  # all that is named, in the order in which it was found
        self.statements: dict[str, list[ast.stmt]] = {}  # by module
        self.left_out: set[ast.AST] = set()
        self._optional: list[tuple[Source, Function]] = []

    def add(self, key: Key) -> None:
        """A definition and all that it needs."""
        self.keys[key] = None
        module, name = key
        if not module.startswith(OURS):
            if module.partition(".")[0] not in sys.stdlib_module_names:
                raise NotImplementedError(f"{module} is not in the standard library")
            return
        where = source(module)
        for statement in where.definitions[name]:
            kept = self.statements.setdefault(module, [])
            if statement not in kept:
                kept.append(statement)
                self._leave_out(where, statement, self.entries.get(key))
                self._follow(where, statement)

    def _leave_out(self, where: Source, statement: ast.stmt, wanted: set[str] | None) -> None:
        """Methods until something mentions them, and entries that nobody wants."""
        if isinstance(statement, ast.ClassDef):
            for each in statement.body:
                if isinstance(each, Function) and not each.name.startswith("__"):
                    self._optional.append((where, each))
                    self.left_out.add(each)
        table = getattr(statement, "value", None)
        if wanted is not None and isinstance(table, ast.Dict):
            for key, value in zip(table.keys, table.values, strict=True):
                if isinstance(key, ast.Constant) and key.value not in wanted:
                    self.left_out |= {key, value}

    def _follow(self, where: Source, node: ast.AST) -> None:
        self.methods |= attributes(node, self.left_out)
        for found in list(references(node, self.left_out)):
            key = where.find(found.node.id)
            if key is not None and key not in self.keys:
                self.add(key)
        mentioned = [each for each in self._optional if each[1].name in self.methods]
        self._optional = [each for each in self._optional if each[1].name not in self.methods]
        self.left_out -= {method for _, method in mentioned}
        for place, method in mentioned:
            self._follow(place, method)
