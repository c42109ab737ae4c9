"""A program as a Python module: a function and what it needs, without Aloex."""

from collections.abc import Sequence

from aloex.apps.fill.export import (
    conditions,
    dates,
    durations,
    numbers,
    programs,
    rewrite,
    several_cells,
    text,
)
from aloex.apps.fill.export.body import INDENT, Body
from aloex.apps.fill.export.bundle import Bundle
from aloex.apps.fill.export.identifiers import check_name, identifier
from aloex.apps.fill.export.literals import docstring
from aloex.apps.fill.export.python_of import write_return
from aloex.apps.fill.expressions.base import Expression
from aloex.apps.fill.expressions.columns_read import columns_read

# Modules that say how to write the code of their classes: importing them is all that it takes.
WRITERS = (conditions, dates, durations, numbers, programs, rewrite, several_cells, text)

HELPERS = "# What the function needs, from Aloex (Apache License 2.0)."


def to_python(expression: Expression, columns: Sequence[str], name: str) -> str:
    """The source of a module with a function that does what an expression does.

    Args:
        expression: what makes the text of a row.
        columns: the names of the cells of a row.
        name: of the function.

    Returns:
        The source: Python 3.11 or newer, with nothing but the standard library. The function has a
        parameter for each column that is read, in their order, and returns a text, or None where
        the expression does not apply.

    Raises:
        InputError: a function cannot have this name.

    Example:
        >>> from aloex.apps.fill.expressions.cases import Case
        >>> from aloex.apps.fill.expressions.text import Split
        >>> print(to_python(Case("upper", Split(0, ",", 1)), ["city"], "short"))
        def short(city: str) -> str | None:
            \"\"\"The first part of city cut at "," in capitals.\"\"\"
            return city.split(",")[0].strip().upper()
        <BLANKLINE>
    """
    check_name(name)
    parameters: dict[int, str] = {}
    for column in columns_read(expression):
        taken = [name, *parameters.values()]
        parameters[column] = identifier(columns[column], "column", taken)
    body = Body(Bundle([name]), parameters, len(columns))
    write_return(expression, body)
    return whole_module(name, _docstring(expression.explain(columns), columns), body)


def whole_module(name: str, words: list[str], body: Body) -> str:
    """The module of a function with a body.

    Args:
        name: of the function.
        words: the lines of its docstring.
        body: its statements, and what they need.
    """
    imports, helpers = body.bundle.write()
    given = ", ".join(f"{each}: str" for each in body.parameters.values())
    function = [f"def {name}({given}) -> str | None:", *words, *body.lines]
    parts = ["\n".join(imports)] if imports else []
    parts += [f"{constant} = {code}" for code, constant in body.tables.items()]
    parts += ["\n".join(function)]
    if helpers:
        helpers[0] = f"{HELPERS}\n\n{helpers[0]}"
    constants = [f"{constant} = {code}" for code, constant in body.constants.items()]
    return _spaced([*parts, *helpers, *constants])


def _docstring(words: str, columns: Sequence[str]) -> list[str]:
    """The lines of the docstring; a column keeps its name, also if it is the first word."""
    is_name = any(column and words.startswith(column) for column in columns)
    lines = docstring(f"{words[:1] if is_name else words[:1].upper()}{words[1:]}.", INDENT)
    if len(lines) == 1 and len(lines[0]) < 90:
        return [f'{INDENT}"""{lines[0].strip()}"""']
    return [f'{INDENT}"""{lines[0].strip()}', *lines[1:], f'{INDENT}"""']


def _spaced(parts: list[str]) -> str:
    """Parts with two empty lines around functions and classes."""
    whole, before = "", ""
    for part in parts:
        if before:
            is_far = _is_large(before) or _is_large(part) or part.startswith(HELPERS)
            whole += "\n\n\n" if is_far else "\n"
        whole += part
        before = part
    return whole + "\n"


def _is_large(part: str) -> bool:
    """Whether a part is a function or a class, or the imports."""
    lines = [line for line in part.splitlines() if line and not line.startswith("#")]
    return lines[0].startswith(("def ", "class ", "@", "import ", "from "))
