"""Python code for whole programs: parts joined, cases, memorised tables."""

from aloex.apps.fill.export.body import INDENT, Body, bare
from aloex.apps.fill.export.literals import WIDTH, f_string, text_literal
from aloex.apps.fill.export.python_of import condition_of, text_of, write_return
from aloex.apps.fill.expressions.base import Constant, Expression
from aloex.apps.fill.expressions.programs import Join, Lookup, Switch


@text_of.register
def text_of_join(expression: Join, body: Body) -> str:
    parts = _merged([_part(each, body) for each in _flat(expression)])
    if len(parts) < 2:
        is_text, part = parts[0] if parts else (True, "")
        return text_literal(part) if is_text else part
    whole = f_string([(is_text, part if is_text else bare(part)) for is_text, part in parts])
    if whole is not None and len(whole) < WIDTH:
        return whole
    codes = [text_literal(part) if is_text else part for is_text, part in parts]
    sum_of_all = f"({' + '.join(codes)})"
    if len(sum_of_all) < WIDTH:
        return sum_of_all
    return "(\n" + INDENT + f"\n{INDENT}+ ".join(codes) + "\n)"


def _flat(expression: Expression) -> list[Expression]:
    if not isinstance(expression, Join):
        return [expression]
    return [each for part in expression.parts for each in _flat(part)]


def _part(expression: Expression, body: Body) -> tuple[bool, str]:
    """Whether a part is a constant, and its text or else its code."""
    if isinstance(expression, Constant):
        return True, expression.text
    return False, text_of(expression, body)


def _merged(parts: list[tuple[bool, str]]) -> list[tuple[bool, str]]:
    """Neighbouring constants as one."""
    found: list[tuple[bool, str]] = []
    for is_text, part in parts:
        if is_text and found and found[-1][0]:
            found[-1] = (True, found[-1][1] + part)
        else:
            found.append((is_text, part))
    return found


@text_of.register
def text_of_switch(expression: Switch, body: Body) -> str:
    """As a part of something else: the cases give a variable its value."""
    result = body.free_name("result")
    body.keep_name(result)
    conditions = [condition_of(each, body) for each in expression.conditions]
    for number, (condition, program) in enumerate(
        zip(conditions, expression.programs, strict=False)
    ):
        with body.block(f"{'elif' if number else 'if'} {condition}:"):
            body.assign(result, text_of(program, body))
    with body.block("else:"):
        body.assign(result, text_of(expression.programs[-1], body))
    return result


@write_return.register
def return_switch(expression: Switch, body: Body) -> None:
    for condition, program in zip(expression.conditions, expression.programs, strict=False):
        with body.block(f"if {condition_of(condition, body)}:"):
            write_return(program, body)
    write_return(expression.programs[-1], body)


@text_of.register
def text_of_lookup(expression: Lookup, body: Body) -> str:
    pairs = [f"{text_literal(x)}: {text_literal(y)}" for x, y in dict(expression.table).items()]
    code = f"{{{', '.join(pairs)}}}"
    if len(code) > WIDTH:
        code = "{\n" + "".join(f"{INDENT}{pair},\n" for pair in pairs) + "}"
    return body.present(
        f"{body.table(code, 'TABLE')}.get({body.parameters[expression.column]})", "text"
    )
