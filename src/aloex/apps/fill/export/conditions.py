"""Python code for conditions."""

import ast

from aloex.apps.fill.export.body import Body
from aloex.apps.fill.export.literals import text_literal, value_literal
from aloex.apps.fill.export.python_of import condition_of
from aloex.apps.fill.export.regexes import find_all, literal, regex_call
from aloex.apps.fill.expressions import conditions, patterns
from aloex.apps.fill.expressions.conditions import (
    AtLeast,
    Contains,
    Equals,
    Has,
    HasNoCapitals,
    IsAll,
    IsEmpty,
    Larger,
    Not,
    Same,
)

OPPOSITES: dict[type[ast.cmpop], str] = {
    ast.In: "not in",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.GtE: "<",
    ast.Gt: "<=",
}


@condition_of.register
def is_empty(condition: IsEmpty, body: Body) -> str:
    return f"not {body.parameters[condition.column]}.strip()"


@condition_of.register
def equals(condition: Equals, body: Body) -> str:
    cell = body.parameters[condition.column]
    return f"{cell}.strip().casefold() == {text_literal(condition.text.casefold())}"


@condition_of.register
def contains(condition: Contains, body: Body) -> str:
    cell, text = body.parameters[condition.column], text_literal(condition.text)
    if condition.where == "start":
        return f"{cell}.startswith({text})"
    return f"{cell}.endswith({text})" if condition.where == "end" else f"{text} in {cell}"


@condition_of.register
def has(condition: Has, body: Body) -> str:
    cell, text = body.parameters[condition.column], literal(condition.pattern)
    if condition.least == 1:
        return (
            regex_call(body, condition.pattern, "search", cell)
            if text is None
            else (f"{text} in {cell}")
        )
    if text is not None:
        return f"{cell}.count({text}) >= {condition.least}"
    return f"len({find_all(body, condition.pattern, cell)}) >= {condition.least}"


@condition_of.register
def is_all(condition: IsAll, body: Body) -> str:
    cell = f"{body.parameters[condition.column]}.strip()"
    text = literal(condition.pattern)
    if text is not None:
        return f"{cell} == {text}"
    return regex_call(body, condition.pattern, "fullmatch", cell)


@condition_of.register
def has_no_capitals(condition: HasNoCapitals, body: Body) -> str:
    cell = body.parameters[condition.column]
    return f"{cell} == {cell}.{'upper' if condition.reverse else 'lower'}()"


@condition_of.register
def at_least(condition: AtLeast, body: Body) -> str:
    cell, least = body.parameters[condition.column], value_literal(condition.threshold)
    if condition.of_length:
        return f"len({cell}) >= {least}"
    more = ", comma=True" if condition.comma else ""
    number = _number(body, patterns.__name__, "first_number", cell, more)
    return f"{number} is not None and {number} >= {least}"


@condition_of.register
def same(condition: Same, body: Body) -> str:
    cells = [body.parameters[condition.column], body.parameters[condition.other]]
    one, other = [f"{c}.casefold()" for c in cells] if condition.ignore_case else cells
    return f"{one} == {other}" if condition.how == "equal" else f"{other} in {one}"


@condition_of.register
def larger(condition: Larger, body: Body) -> str:
    cells = [body.parameters[condition.column], body.parameters[condition.other]]
    if condition.of_length:
        return " > ".join(f"len({cell})" for cell in cells)
    one, other = (_number(body, conditions.__name__, "only_number", cell) for cell in cells)
    return f"{one} is not None and {other} is not None and {one} > {other}"


def _number(body: Body, module: str, helper: str, cell: str, more: str = "") -> str:
    body.bundle.use_entry(patterns.__name__, "PATTERNS", "decimal")  # all that these look for
    return body.variable(f"{body.helper(module, helper)}({cell}{more})", f"{cell}_number")


@condition_of.register
def opposite(condition: Not, body: Body) -> str:
    inner = condition_of(condition.condition, body)
    match ast.parse(inner, mode="eval").body:
        case ast.UnaryOp(op=ast.Not()):
            return inner.removeprefix("not ")
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in OPPOSITES:
            one, other = (ast.get_source_segment(inner, each) for each in (left, right))
            return f"{one} {OPPOSITES[type(op)]} {other}"
        case ast.Call():
            return f"not {inner}"
        case _:
            return f"not ({inner})"
