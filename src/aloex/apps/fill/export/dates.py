"""Python code for parts of dates and times."""

from aloex.apps.fill.export.body import Body
from aloex.apps.fill.export.literals import text_literal
from aloex.apps.fill.export.python_of import number_of, text_of
from aloex.apps.fill.expressions.dates import bare_numbers, changes, date_part, later, parts
from aloex.apps.fill.expressions.dates.bare_numbers import BARE_NUMBERS
from aloex.apps.fill.expressions.dates.date_part import DatePart
from aloex.apps.fill.expressions.dates.later import LaterPart

# part -> what a variable with it is called
VARIABLES = {
    "d": "day",
    "dd": "day",
    "m": "month",
    "mm": "month",
    "yyyy": "year",
    "yy": "year",
    "H": "hour",
    "HH": "hour",
    "h": "hour",
    "hh": "hour",
    "M": "minute",
    "MM": "minute",
    "S": "second",
    "SS": "second",
}


@text_of.register
def text_of_date_part(expression: DatePart, body: Body) -> str:
    moment = _moment(expression, body)
    if expression.change != "none":
        change = body.helper(changes.__name__, "change_moment")
        how, unit = text_literal(expression.change), text_literal(expression.unit)
        code = f"{change}({moment}, {how}, {expression.step}, {unit})"
        moment = body.present(code, "changed")
    return _written(moment, expression, body)


@text_of.register
def text_of_later_part(expression: LaterPart, body: Body) -> str:
    moment, by = _moment(expression.part, body), number_of(expression.by, body)
    change = body.helper(later.__name__, "later_moment")
    code = f"{change}({moment}, {by}, {text_literal(expression.unit)}, {expression.sign})"
    return _written(body.present(code, "later"), expression.part, body)


def _moment(expression: DatePart, body: Body) -> str:
    """Code that reads a date or time."""
    cell, order = body.parameters[expression.column], text_literal(expression.order)
    if expression.order in BARE_NUMBERS:
        read = body.helper(bare_numbers.__name__, "read_bare_number")
        return body.present(f"{read}({cell}, {order})", "moment")
    read = body.helper(date_part.__name__, "read_moment")
    return body.present(f"{read}({cell}, {expression.number}, {order})", "moment")


def _written(moment: str, expression: DatePart, body: Body) -> str:
    """Code for the text of the part of a moment."""
    body.bundle.use_entry(parts.__name__, "PARTS", expression.part)
    write = body.helper(parts.__name__, "write_part")
    style = [expression.language, expression.case]
    while style and not style[-1]:
        style.pop()
    settings = ", ".join(map(text_literal, [expression.part, *style]))
    name = VARIABLES.get(expression.part, expression.part.partition("_")[0].lower())
    return body.present(f"{write}({moment}, {settings})", name if name.isidentifier() else "half")
