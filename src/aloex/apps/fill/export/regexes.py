"""Calls of regular expressions for our patterns."""

import re

from aloex.apps.fill.export.body import Body
from aloex.apps.fill.export.literals import regex_literal, text_literal
from aloex.apps.fill.export.tables import call_entry
from aloex.apps.fill.expressions import patterns
from aloex.apps.fill.expressions.patterns import PATTERNS

# pattern -> what a list of its matches is called; a match of these is never empty
LISTS = {
    "word": "words",
    "name": "names",
    "number": "numbers",
    "decimal": "numbers",
    "alnum": "words",
    "capitalized": "words",
    "upper": "capitals",
    "lower": "letters",
    "nonspace": "pieces",
    "space": "spaces",
    "mark": "marks",
    "nonalnum": "gaps",
    "line": "lines",
}

_NEEDLESS = re.compile(r"\\(?:([ \-#&~\s])|.)", re.DOTALL)  # `re.escape` escapes more than it must


def regex_call(body: Body, pattern: str, function: str, *args: str) -> str:
    """A call of a function of `re`: `re.findall(r"\\d+", name)`, or `WORD.findall(name)`."""
    module = body.helper("re", "")
    regex = _fixed_regex(pattern)
    if regex is not None:
        return f"{module}.{function}({', '.join([regex_literal(regex), *args])})"
    made = call_entry(body, patterns, "PATTERNS", pattern)
    name = body.constant(f"{module}.compile({made})", pattern.upper())
    return f"{name}.{function}({', '.join(args)})"


def find_all(body: Body, pattern: str, text: str) -> str:
    """Code for all matches of a pattern."""
    return regex_call(body, pattern, "findall", text)


def matches(body: Body, pattern: str, text: str) -> str:
    """A variable with all matches of a pattern."""
    return body.variable(find_all(body, pattern, text), LISTS.get(pattern, "found"))


def literal(pattern: str) -> str | None:
    """The text that a pattern stands for, as code; None if it stands for many."""
    return text_literal(pattern[1:]) if pattern.startswith("=") else None


def is_never_empty(pattern: str) -> bool:
    """Whether a match of the pattern has a character."""
    return pattern in LISTS or (pattern.startswith("=") and pattern != "=")


def _fixed_regex(pattern: str) -> str | None:
    """The regular expression, unless it has a set of characters that is worked out."""
    if pattern.startswith("="):
        return _NEEDLESS.sub(lambda found: found[1] or found[0], re.escape(pattern[1:]))
    regex = PATTERNS[pattern][0]()
    return regex if regex.isascii() else None
