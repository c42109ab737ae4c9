"""The body of the function, written line by line.

An expression that does not apply ends the whole function: whatever contains it does not apply
either. So each value that may be missing gets a variable, and where it is missing the function
returns None. The code of a text can then be written as if nothing were ever missing.
"""

import ast
import re
from collections.abc import Generator
from contextlib import contextmanager
from copy import copy
from itertools import chain, count

from aloex.apps.fill.export.bundle import Bundle
from aloex.apps.fill.export.identifiers import RESERVED

INDENT = "    "


class Body:
    """Statements, and what is known after them.

    Args:
        bundle: where the helpers come from.
        parameters: column -> its name; the other columns are not read.
        num_columns: of a row.
    """

    def __init__(self, bundle: Bundle, parameters: dict[int, str], num_columns: int):
        self.bundle = bundle
        self.parameters = parameters
        self.num_columns = num_columns
        self.lines: list[str] = []
        self.tables: dict[str, str] = {}  # code -> name: constants that stand before the function
        self.constants: dict[str, str] = {}  # those that need helpers, and stand behind them
        self._depth = 1
        self._mentioned: set[str] = set()  # names of the module
        self._variables: dict[str, str] = {}  # code -> the variable that has its value
        self._lengths: dict[str, int] = {}  # variable -> its least length, as far as checked
        self._excluded: dict[str, None] = {}  # conditions that do not hold here
        self._unchecked: list[str] = []  # variables that may be None

    def row(self) -> str:
        """The whole row as a tuple; cells that are not read are empty."""
        cells = [self.parameters.get(i, '""') for i in range(self.num_columns)]
        return f"({', '.join(cells)}{',' * (len(cells) == 1)})"

    def helper(self, module: str, name: str) -> str:
        """The name of a function of ours, or of something in the standard library."""
        found = self.bundle.use(module, name, self._local())
        self._mentioned.add(found)
        return found

    def expression(self, module: str, node: ast.expr, given: dict[str, str]) -> str:
        """An expression of one of our modules as code; names in `given` are replaced."""
        for name in self.bundle.names_in(module, node):
            if name not in given:
                self.helper(module, name)
        return self.bundle.code(module, node, given)

    def constant(self, code: str, name: str) -> str:
        """A constant of the module that may use helpers."""
        return self._constant(self.constants, code, name)

    def table(self, code: str, name: str) -> str:
        """A constant of the module that needs no helpers."""
        return self._constant(self.tables, code, name)

    def _constant(self, known: dict[str, str], code: str, name: str) -> str:
        if code not in known:
            known[code] = self.bundle.reserve(name, self._local())
            self._mentioned.add(known[code])
        return known[code]

    def variable(self, code: str, name: str) -> str:
        """A variable with the value of some code: a new one called `name`, if there is none."""
        if code.isidentifier():
            return code
        if code not in self._variables:
            free = self.free_name(name)
            self.line(f"{free} = {bare(code)}")
            self._variables[code] = free
        return self._variables[code]

    def present(self, code: str, name: str) -> str:
        """A variable with the value of some code, which is not None from here on."""
        is_new = code not in self._variables
        found = self.variable(code, name)
        if is_new and found != code:
            self._unchecked.append(found)
        return found

    def free_name(self, name: str) -> str:
        """A name for a variable."""
        taken = {*self._local(), *self._mentioned, *RESERVED}
        return next(
            each
            for each in chain([name], (f"{name}_{number}" for number in count(2)))
            if each not in taken
        )

    def need_length(self, variable: str, number: int) -> None:
        """Go on only if a list or text has at least so many items."""
        if self._lengths.get(variable, 0) < number:
            self._lengths[variable] = number
            short = f"len({variable}) < {number}" if number > 1 else f"not {variable}"
            self.stop_if(short)

    def stop_if(self, condition: str) -> None:
        """Return None if a condition holds."""
        if condition not in self._excluded:
            self._excluded[condition] = None
            self.line(f"if {condition}:")
            self.line(f"{INDENT}return None")

    def line(self, code: str) -> None:
        """A statement; checks of variables that it mentions come before."""
        if any(re.search(rf"\b{name}\b", code) for name in self._unchecked):
            self._check()
        indent = INDENT * self._depth
        self.lines += [indent + line for line in code.splitlines()]

    def _check(self) -> None:
        missing = " or ".join(f"{name} is None" for name in self._unchecked)
        self._unchecked = []
        if missing:
            self.stop_if(missing)

    def finish(self, code: str) -> None:
        """Return a text; one that may be missing needs no check."""
        if code in self._unchecked:
            self._unchecked.remove(code)
        self._check()
        start = f"{INDENT * self._depth}{code} = "
        if code.isidentifier() and self.lines and self.lines[-1].startswith(start):
            code = self.lines.pop().removeprefix(start)
        self.line(f"return {bare(code)}")

    def assign(self, variable: str, code: str) -> None:
        """Give a variable a text."""
        self._check()
        self.line(f"{variable} = {bare(code)}")

    @contextmanager
    def block(self, head: str) -> Generator[None]:
        """Lines inside an `if`; what they find out is not known behind it."""
        self._check()
        self.line(head)
        before = copy(self._variables), copy(self._lengths), copy(self._excluded)
        self._depth += 1
        yield
        self._check()
        self._depth -= 1
        self._variables, self._lengths, self._excluded = before

    def keep_name(self, variable: str) -> None:
        """No other variable gets this name."""
        self._variables[variable] = variable

    def _local(self) -> set[str]:
        return {*self.parameters.values(), *self._variables.values()}


def bare(code: str) -> str:
    """Code without parentheses around all of it, unless it has several lines."""
    if not code.startswith("(") or "\n" in code:
        return code
    try:
        inside = ast.parse(code[1:-1], mode="eval").body
    except SyntaxError:
        return code
    return code if isinstance(inside, ast.Tuple) else code[1:-1]
