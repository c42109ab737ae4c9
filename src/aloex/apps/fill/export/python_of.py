"""The Python code of expressions and conditions: one function for each class, and one for all.

A class without a function of its own is written as it is: its source goes into the module, and the
body calls its `run`. So every class can be exported; a function of its own makes the code read as a
person would write it.
"""

from functools import singledispatch
from typing import Any

from aloex.apps.fill.export.body import Body
from aloex.apps.fill.export.literals import value_literal
from aloex.apps.fill.expressions.base import Expression
from aloex.apps.fill.expressions.conditions import Condition
from aloex.apps.fill.expressions.numbers.values import NumberExpression


@singledispatch
def text_of(expression: Expression, body: Body) -> str:
    """Code for the text of an expression; lines before it make sure that there is one.

    It is a name, a literal, a call, or stands in parentheses: a method can be called on it.
    """
    return body.present(call(expression, "run", body), "text")


@singledispatch
def condition_of(condition: Condition, body: Body) -> str:
    """Code that is true where a condition holds."""
    return call(condition, "holds", body)


@singledispatch
def number_of(expression: NumberExpression, body: Body) -> str:
    """Code for the value of a number; lines before it make sure that there is one."""
    return body.present(call(expression, "value", body), "number")


@singledispatch
def write_return(expression: Expression, body: Body) -> None:
    """Write lines that return the text of an expression, or None."""
    body.finish(text_of(expression, body))


def call(value: Any, method: str, body: Body) -> str:
    """A call of a method with the whole row; the object is a constant of the module."""
    body.bundle.use_method(method)
    body.bundle.keep_tables()
    code = value_literal(value, lambda kind: body.helper(kind.__module__, kind.__name__))
    return f"{body.constant(code, type(value).__name__.upper())}.{method}({body.row()})"
