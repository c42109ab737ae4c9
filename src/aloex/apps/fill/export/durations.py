"""Python code for durations: read from a cell, between two moments, and written."""

from aloex.apps.fill.export.body import Body
from aloex.apps.fill.export.literals import text_literal, value_literal
from aloex.apps.fill.export.python_of import number_of, text_of
from aloex.apps.fill.expressions.dates import date_part
from aloex.apps.fill.expressions.durations import elapsed
from aloex.apps.fill.expressions.durations import text as duration_texts
from aloex.apps.fill.expressions.durations.values import CellDuration, DurationText, Elapsed


@number_of.register
def number_of_duration(expression: CellDuration, body: Body) -> str:
    read = body.helper(duration_texts.__name__, "read_duration")
    cell, clock = body.parameters[expression.column], text_literal(expression.clock)
    seconds = body.present(f"{read}({cell}, {expression.k}, {clock})", "seconds")
    in_unit = body.helper(duration_texts.__name__, "in_unit")
    return f"{in_unit}({seconds}, {text_literal(expression.unit)})"


@number_of.register
def number_of_elapsed(expression: Elapsed, body: Body) -> str:
    read = body.helper(date_part.__name__, "read_moment")
    places = (
        (expression.column, expression.number, expression.order, "start"),
        (expression.other, expression.other_number, expression.other_order, "end"),
    )
    start, end = (
        body.present(f"{read}({body.parameters[column]}, {k}, {text_literal(order)})", name)
        for column, k, order, name in places
    )
    between = body.helper(elapsed.__name__, "time_between")
    return body.present(f"{between}({start}, {end}, {text_literal(expression.unit)})", "time")


@text_of.register
def text_of_duration(expression: DurationText, body: Body) -> str:
    number = number_of(expression.number, body)
    in_seconds = body.helper(duration_texts.__name__, "in_seconds")
    write = body.helper(duration_texts.__name__, "write_duration")
    given = [text_literal(expression.layout)]
    if expression.short or expression.rounding:
        given.append(f"short={value_literal(expression.short)}")
        given.append(f"rounding={text_literal(expression.rounding)}")
    seconds = f"{in_seconds}({number}, {text_literal(expression.unit)})"
    return body.present(f"{write}({seconds}, {', '.join(given)})", "duration")
