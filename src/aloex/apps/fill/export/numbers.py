"""Python code for numbers: found in a cell, computed with, and written."""

import re
from dataclasses import fields

from aloex.apps.fill.export.body import Body
from aloex.apps.fill.export.literals import text_literal, value_literal
from aloex.apps.fill.export.python_of import number_of, text_of
from aloex.apps.fill.expressions.numbers import arithmetic, quantities, short
from aloex.apps.fill.expressions.numbers import text as number_texts
from aloex.apps.fill.expressions.numbers.quantities import CellQuantity
from aloex.apps.fill.expressions.numbers.short import OrdinalNumber, ShortNumber
from aloex.apps.fill.expressions.numbers.values import (
    AbsoluteValue,
    CellNumber,
    Combined,
    Linear,
    NumberExpression,
    NumberText,
    RangeEnd,
    Rounded,
)

PLAIN = re.compile(r"-?[0-9]{1,30}(?:\.[0-9]{1,30})?")
ZERO = re.compile(r"-?[0.]+")


@number_of.register
def number_of_cell(expression: CellNumber, body: Body) -> str:
    read = body.helper(number_texts.__name__, "read_number")
    cell, marks = body.parameters[expression.column], text_literal(expression.marks)
    return body.present(f"{read}({cell}, {expression.k}, {marks})", "number")


@number_of.register
def number_of_quantity(expression: CellQuantity, body: Body) -> str:
    read = body.helper(quantities.__name__, "read_quantity")
    cell, marks = body.parameters[expression.column], text_literal(expression.marks)
    family = text_literal(expression.family)
    return body.present(f"{read}({cell}, {expression.k}, {marks}, {family})", "number")


@number_of.register
def number_of_linear(expression: Linear, body: Body) -> str:
    number = number_of(expression.number, body)
    settings = {name: getattr(expression, name) for name in ("multiply", "add", "divide")}
    given = ", ".join(f"{name}={_decimal(value, body)}" for name, value in settings.items())
    code = f"{body.helper(arithmetic.__name__, 'linear')}({number}, {given})"
    return _finite(code, [*settings.values()], expression.divide, body)


@number_of.register
def number_of_absolute_value(expression: AbsoluteValue, body: Body) -> str:
    return f"{number_of(expression.number, body)}.copy_abs()"


@number_of.register
def number_of_combined(expression: Combined, body: Body) -> str:
    left, right = number_of(expression.left, body), number_of(expression.right, body)
    combine = body.helper(arithmetic.__name__, "combine")
    code = f"{combine}({left}, {right}, {text_literal(expression.operation)})"
    never_zero = "1" if expression.operation in ("sum", "difference", "product") else "0"
    return _finite(code, [], never_zero, body)


@number_of.register
def number_of_rounded(expression: Rounded, body: Body) -> str:
    number, step = number_of(expression.number, body), expression.step
    round_to = body.helper(arithmetic.__name__, "round_to")
    code = f"{round_to}({number}, {_decimal(step, body)}, {text_literal(expression.mode)})"
    return _finite(code, [step], step, body)


@number_of.register
def number_of_range_end(expression: RangeEnd, body: Body) -> str:
    number, step = number_of(expression.number, body), expression.step
    helper = body.helper(arithmetic.__name__, "range_end")
    given = {
        "step": _decimal(step, body),
        "end": text_literal(expression.end),
        "offset": _decimal(expression.offset, body),
        "gap": _decimal(expression.gap, body),
        "closed": text_literal(expression.closed),
    }
    code = f"{helper}({number}, {', '.join(f'{name}={each}' for name, each in given.items())})"
    return _finite(code, [step, expression.offset, expression.gap], step, body)


def _decimal(text: str, body: Body) -> str:
    """A constant; a text that is no plain number is read as the expression reads it."""
    if PLAIN.fullmatch(text):
        return f"{body.helper('decimal', 'Decimal')}({text_literal(text)})"
    return f"{body.helper(arithmetic.__name__, 'to_decimal')}({text_literal(text)})"


def _finite(code: str, constants: list[str], divisor: str, body: Body) -> str:
    """Code for a number that exists: only a division by zero, or a strange constant, has none."""
    if all(map(PLAIN.fullmatch, [*constants, divisor])) and not ZERO.fullmatch(divisor):
        return code
    return body.present(f"{body.helper(arithmetic.__name__, 'finite')}({code})", "number")


@text_of.register
def text_of_number(expression: NumberExpression, body: Body) -> str:
    write = body.helper(number_texts.__name__, "write_number")
    return f"{write}({number_of(expression, body)})"


@text_of.register
def text_of_ordinal(expression: OrdinalNumber, body: Body) -> str:
    write = body.helper(short.__name__, "write_ordinal")
    return body.present(f"{write}({number_of(expression.number, body)})", "ordinal")


@text_of.register
def text_of_short_number(expression: ShortNumber, body: Body) -> str:
    write = body.helper(short.__name__, "write_short")
    given = (expression.suffixes, expression.decimals, expression.mark, expression.keep_zeros)
    code = ", ".join([number_of(expression.number, body), *map(value_literal, given)])
    return body.present(f"{write}({code})", "text")


@text_of.register
def text_of_number_text(expression: NumberText, body: Body) -> str:
    write = body.helper(number_texts.__name__, "write_number")
    given = [(f.name, f.default, getattr(expression, f.name)) for f in fields(expression)[1:]]
    style = [f"{name}={value_literal(value)}" for name, usual, value in given if value != usual]
    code = f"{write}({', '.join([number_of(expression.number, body), *style])})"
    if expression.decimals is None:
        return code
    return body.present(code, "text")
