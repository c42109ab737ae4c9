"""Python code for parts of dates and times."""

from aloex.apps.fill.export.body import Body
from aloex.apps.fill.export.literals import text_literal
from aloex.apps.fill.export.python_of import text_of
from aloex.apps.fill.expressions.dates import changes, date_part, parts
from aloex.apps.fill.expressions.dates.date_part import DatePart

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
    read = body.helper(date_part.__name__, "read_moment")
    cell, order = body.parameters[expression.column], text_literal(expression.order)
    moment = body.present(f"{read}({cell}, {expression.number}, {order})", "moment")
    if expression.change != "none":
        change = body.helper(changes.__name__, "change_moment")
        how, unit = text_literal(expression.change), text_literal(expression.unit)
        code = f"{change}({moment}, {how}, {expression.step}, {unit})"
        moment = body.present(code, "changed")
    body.bundle.use_entry(parts.__name__, "PARTS", expression.part)
    write = body.helper(parts.__name__, "write_part")
    style = [expression.language, expression.case]
    while style and not style[-1]:
        style.pop()
    settings = ", ".join(map(text_literal, [expression.part, *style]))
    name = VARIABLES.get(expression.part, expression.part.partition("_")[0].lower())
    return body.present(f"{write}({moment}, {settings})", name if name.isidentifier() else "half")
