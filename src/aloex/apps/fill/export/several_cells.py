"""Python code for what several cells make together."""

from aloex.apps.fill.export.body import Body
from aloex.apps.fill.export.literals import text_literal
from aloex.apps.fill.export.python_of import text_of
from aloex.apps.fill.export.rewrite import joined
from aloex.apps.fill.export.tables import call_entry, calls_helpers, may_be_none
from aloex.apps.fill.expressions import several_cells
from aloex.apps.fill.expressions.several_cells import JoinColumns, ReplaceByColumn, TwoCells


@text_of.register
def text_of_replace_by_column(expression: ReplaceByColumn, body: Body) -> str:
    cell, other = body.parameters[expression.column], body.parameters[expression.other]
    return f"{cell}.replace({text_literal(expression.text)}, {other})"


@text_of.register
def text_of_join_columns(expression: JoinColumns, body: Body) -> str:
    cells = [body.parameters[column] for column in expression.columns]
    items = f"({', '.join(cells)}{',' * (len(cells) == 1)})"
    each = body.free_name("cell")
    only = f"{each}.strip()"
    return joined(body, expression.separator, expression.order, items, each, each, only)


@text_of.register
def text_of_two_cells(expression: TwoCells, body: Body) -> str:
    cells = body.parameters[expression.column], body.parameters[expression.other]
    code = call_entry(body, several_cells, "TWO_CELLS", expression.how, *cells)
    if calls_helpers(body, several_cells, "TWO_CELLS", expression.how):
        body.bundle.keep_tables()
    if may_be_none(body, several_cells, "TWO_CELLS", expression.how):
        return body.present(code, "text")
    return code
