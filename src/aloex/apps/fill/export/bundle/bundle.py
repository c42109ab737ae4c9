"""The bundle: what some functions and classes of ours need, as one text that stands alone.

There is one implementation: the text is that of our own modules. Left out are definitions and
methods that nothing reaches, and entries of tables that nobody asks for. A name that two modules
use for different things is changed in one of them.
"""

import ast
import builtins
import keyword
from collections.abc import Iterable
from itertools import chain, count

from aloex.apps.fill.export.bundle.edits import edited, expression_text
from aloex.apps.fill.export.bundle.reach import Reach
from aloex.apps.fill.export.bundle.scopes import references
from aloex.apps.fill.export.bundle.source import OURS, Key, Source, source

MAX_LINE = 88
NOT_FREE = frozenset({*keyword.kwlist, *keyword.softkwlist, *dir(builtins)})


class Bundle:
    """Definitions of ours that a text uses.

    Args:
        taken: names that no definition may have.
    """

    def __init__(self, taken: Iterable[str] = ()):
        self._taken = {*taken, *NOT_FREE}
        self._names: dict[Key, str] = {}  # in the text
        self._methods: set[str] = set()
        self._entries: dict[Key, set[str]] = {}
        self._keeps_tables = False

    def use(self, module: str, name: str, others: Iterable[str] = ()) -> str:
        """Keep a definition, or import something of the standard library.

        Args:
            module: where it is.
            name: its name there; "" for the module itself.
            others: names that it must not get, beside those that are taken.

        Returns:
            Its name in the text.
        """
        key = source(module).find(name) if module.startswith(OURS) else (module, name)
        if key is None:
            raise KeyError(f"{module} has no {name}")
        return self._name(key, others)

    def use_method(self, name: str) -> None:
        """Keep the methods with a name."""
        self._methods.add(name)

    def use_entry(self, module: str, table: str, key: str) -> None:
        """Keep an entry of a table, and only those that are asked for in this way."""
        self._entries.setdefault((module, table), set()).add(key)

    def keep_tables(self) -> None:
        """Keep tables whole: it is not known which of their entries are used."""
        self._keeps_tables = True

    def entry(self, module: str, table: str, key: str) -> ast.expr | None:
        """The code of an entry; None if the table is not written as a plain dict."""
        statements = source(module).definitions.get(table, [])
        value = getattr(statements[0], "value", None) if len(statements) == 1 else None
        if not isinstance(value, ast.Dict):
            return None
        pairs = zip(value.keys, value.values, strict=True)
        return next((v for k, v in pairs if isinstance(k, ast.Constant) and k.value == key), None)

    def names_in(self, module: str, node: ast.expr) -> list[str]:
        """The names in an expression of a module that it defines or imports."""
        found = dict.fromkeys(each.node.id for each in references(node))
        return [name for name in found if source(module).find(name) is not None]

    def code(self, module: str, node: ast.expr, given: dict[str, str]) -> str:
        """An expression of a module as code of the text; names in `given` are replaced."""
        names = [name for name in self.names_in(module, node) if name not in given]
        used = {name: self.use(module, name) for name in names}
        return expression_text(source(module), node, used | given)

    def reserve(self, name: str, others: Iterable[str] = ()) -> str:
        """A name that nothing else in the text has."""
        numbered = (f"{name}_{number}" for number in count(2))
        free = next(n for n in chain([name], numbered) if n not in {*self._taken, *others})
        self._taken.add(free)
        return free

    def write(self) -> tuple[list[str], list[str]]:
        """The imports, one line each, and the definitions."""
        reach = Reach(self._methods, {} if self._keeps_tables else self._entries)
        for key in list(self._names):
            reach.add(key)
        for key in reach.keys:
            self._name(key)
        definitions = [
            edited(source(module), statement, self._renamed(source(module)), reach.left_out)
            for module in _in_order(list(reach.statements))
            for statement in source(module).statements
            if statement in reach.statements[module]
        ]
        return self._imports(), definitions

    def _name(self, key: Key, others: Iterable[str] = ()) -> str:
        """The name of a definition in the text: its own, or one with that of its module."""
        if key not in self._names:
            module, name = key[0].rpartition(".")[2], key[1] or key[0]
            if name in self._taken or name in others:
                prefix = module.upper() if name.isupper() else module
                name = f"{'_' * name.startswith('_')}{prefix}_{name.lstrip('_')}"
            self._names[key] = self.reserve(name, others)
        return self._names[key]

    def _renamed(self, where: Source) -> dict[str, str]:
        """Names of a module -> other names that they have in the text."""
        keys = {name: where.find(name) for name in (*where.definitions, *where.imports)}
        known = {name: self._names[key] for name, key in keys.items() if key in self._names}
        return {name: new for name, new in known.items() if new != name}

    def _imports(self) -> list[str]:
        modules, members = list[str](), dict[str, list[str]]()
        for (module, name), new in self._names.items():
            if module.startswith(OURS):
                continue
            old = name or module
            found = old if new == old else f"{old} as {new}"
            if name:
                members.setdefault(module, []).append(found)
            else:
                modules.append(f"import {found}")
        return [*sorted(modules), *(_import_line(m, members[m]) for m in sorted(members))]


def _import_line(module: str, names: list[str]) -> str:
    """Names in the order of kinds: constants, classes, functions."""
    names = sorted(names, key=lambda name: (not name.isupper(), name.islower(), name))
    line = f"from {module} import {', '.join(names)}"
    if len(line) <= MAX_LINE:
        return line
    return "\n".join([f"from {module} import (", *(f"    {name}," for name in names), ")"])


def _in_order(modules: list[str]) -> list[str]:
    """Modules after those from which they import."""
    found: dict[str, None] = {}

    def add(module: str) -> None:
        for imported, _ in source(module).imports.values():
            if imported in modules and imported not in found:
                add(imported)
        found[module] = None

    for module in modules:
        if module not in found:
            add(module)
    return list(found)
