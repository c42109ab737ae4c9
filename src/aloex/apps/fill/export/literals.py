"""Values and texts as Python code."""

import math
import re
from dataclasses import fields, is_dataclass
from typing import Any

from aloex.base.errors import InputError

WIDTH = 88  # of a line of generated code, where there is a choice
_PIECE = re.compile(r'\s*(?:"[^"]*"|[^\s"])+|\s+|"')  # a word; what is in quotes stays on one line


def text_literal(text: str) -> str:
    """A text in quotes; what cannot be printed is escaped.

    >>> print(text_literal('say "hi"'), text_literal("it's"))
    'say "hi"' "it's"
    """
    quote = "'" if '"' in text and "'" not in text else '"'
    return f"{quote}{_escaped(text, quote)}{quote}"


def regex_literal(regex: str) -> str:
    """A regular expression, raw where that is possible.

    >>> print(regex_literal(r"\\d+"))
    r"\\d+"
    """
    if "\\" not in regex or not regex.isprintable() or '"' in regex or regex.endswith("\\"):
        return text_literal(regex)
    return f'r"{regex}"'


def f_string(parts: list[tuple[bool, str]]) -> str | None:
    """Parts (is it a text, the text or code) as an f-string; None if Python 3.11 has no such."""
    if any(re.search(r"""["'\\{}#!:\n]""", part) for is_text, part in parts if not is_text):
        return None
    double = lambda text: _escaped(text, '"').replace("{", "{{").replace("}", "}}")
    inside = [double(part) if is_text else f"{{{part}}}" for is_text, part in parts]
    return f'f"{"".join(inside)}"'


def value_literal(value: Any, class_name: Any = None) -> str:
    """A number, a text, None, a tuple or a dataclass of them.

    Args:
        value: the value.
        class_name: a function from a class to its name in the code.
    """
    if isinstance(value, str):
        return text_literal(value)
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    if value is None or isinstance(value, bool | int | float):
        return repr(value)
    if isinstance(value, tuple):
        items = [value_literal(each, class_name) for each in value]
        return f"({', '.join(items)}{',' * (len(items) == 1)})"
    if is_dataclass(value) and class_name is not None:
        settings = {
            f.name: value_literal(getattr(value, f.name), class_name) for f in fields(value)
        }
        given = ", ".join(f"{name}={code}" for name, code in settings.items())
        return f"{class_name(type(value))}({given})"
    raise InputError(f"{value!r} cannot be written as Python code")


def docstring(text: str, indent: str) -> list[str]:
    """The lines of a docstring, or of a part of one."""
    lines, line = list[str](), ""
    for piece in _PIECE.findall(_escaped(text, "")):
        if line and len(indent + line + piece) > WIDTH:
            lines.append(line)
            line = piece.lstrip()
        else:
            line += piece
    return [indent + each.replace('"""', '""\\"') for each in [*lines, line]]


def _escaped(text: str, quote: str) -> str:
    """A text as it stands between quotes."""
    return "".join(
        f"\\{char}" if char in ("\\", quote) else char if char.isprintable() else repr(char)[1:-1]
        for char in text
    )
