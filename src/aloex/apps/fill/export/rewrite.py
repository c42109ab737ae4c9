"""Python code for texts that are rewritten: replaced, stripped, padded, joined from all words."""

import re

from aloex.apps.fill.export.body import Body
from aloex.apps.fill.export.literals import text_literal
from aloex.apps.fill.export.python_of import text_of
from aloex.apps.fill.export.regexes import LISTS, find_all, literal, matches, regex_call
from aloex.apps.fill.export.tables import call_entry
from aloex.apps.fill.expressions import cases, rewrite
from aloex.apps.fill.expressions.counting import Count
from aloex.apps.fill.expressions.rewrite import (
    Collapse,
    EveryMatch,
    EverySplit,
    Pad,
    ReplaceAll,
    Strip,
    Truncate,
)


@text_of.register
def text_of_replace_all(expression: ReplaceAll, body: Body) -> str:
    old, pattern = text_of(expression.part, body), expression.pattern
    new, found = text_literal(expression.text), literal(pattern)
    if found is not None and (not expression.by_the_character or len(pattern) == 2):
        return f"{old}.replace({found}, {new})"
    if expression.by_the_character:
        new = f"lambda found: {new} * len(found[0])"
    else:  # in the text that replaces matches a backslash would be special
        new = text_literal(expression.text.replace("\\", r"\\"))
    return regex_call(body, pattern, "sub", new, old)


@text_of.register
def text_of_collapse(expression: Collapse, body: Body) -> str:
    return f'" ".join({text_of(expression.part, body)}.split())'


@text_of.register
def text_of_strip(expression: Strip, body: Body) -> str:
    method = {"left": "lstrip", "right": "rstrip", "both": "strip"}[expression.side]
    chars = text_literal(expression.chars) if expression.chars else ""
    return f"{text_of(expression.part, body)}.{method}({chars})"


@text_of.register
def text_of_pad(expression: Pad, body: Body) -> str:
    method = "rjust" if expression.left else "ljust"
    text, fill = text_of(expression.part, body), text_literal(expression.fill)
    return f"{text}.{method}({expression.width}, {fill})"


@text_of.register
def text_of_truncate(expression: Truncate, body: Body) -> str:
    text, width = body.variable(text_of(expression.part, body), "text"), expression.width
    if not expression.ending:
        return f"{text}[:{width}]"
    ending = text_literal(expression.ending)
    return f"({text} if len({text}) <= {width} else {text}[:{width}] + {ending})"


@text_of.register
def text_of_every_match(expression: EveryMatch, body: Body) -> str:
    found = matches(body, expression.pattern, text_of(expression.part, body))
    body.need_length(found, 1)
    each = body.free_name(LISTS.get(expression.pattern, "parts").removesuffix("s"))
    code = call_entry(body, rewrite, "KEEP", expression.keep, each, in_loop=True)
    code = _in_case(code, expression.form, body)
    if expression.after:
        code += f" + {text_literal(expression.after)}"
    return joined(body, expression.separator, expression.order, found, each, code)


@text_of.register
def text_of_every_split(expression: EverySplit, body: Body) -> str:
    parts = f"{text_of(expression.part, body)}.split({text_literal(expression.cut)})"
    each = body.free_name("part")
    code = _in_case(f"{each}.strip()", expression.form, body)
    return joined(body, expression.separator, expression.order, parts, each, code)


def _in_case(code: str, form: str, body: Body) -> str:
    return call_entry(body, cases, "CASES", form, code, in_loop=True) if form else code


def joined(
    body: Body, separator: str, order: str, items: str, each: str, code: str, only: str = ""
) -> str:
    """Code that joins items.

    Args:
        body: where the code stands.
        separator: the text between them.
        order: a key of `ORDERS`.
        items: code for the list.
        each: the variable for an item.
        code: what becomes of it.
        only: a condition, if not all items are wanted.
    """
    between = text_literal(separator)
    kept = f" if {only}" if only else ""
    is_changed = code != each or only
    if not order:
        return f"{between}.join({f'{code} for {each} in {items}{kept}' if is_changed else items})"
    made = f"[{code} for {each} in {items}{kept}]" if is_changed else items
    ordered = call_entry(body, rewrite, "ORDERS", order, made, in_loop=True)
    ordered = re.fullmatch(r"list\((dict\.fromkeys\(.*\))\)", ordered) or [ordered, ordered]
    return f"{between}.join({ordered[1]})"


@text_of.register
def text_of_count(expression: Count, body: Body) -> str:
    cell, found = body.parameters[expression.column], literal(expression.pattern)
    if not expression.pattern:
        number = f"len({cell})"
    elif found is not None:
        number = f"{cell}.count({found})"
    else:
        number = f"len({find_all(body, expression.pattern, cell)})"
    plus = expression.plus
    more = f" {'+' if plus > 0 else '-'} {abs(plus)}" if plus else ""
    return f"str({number}{more})"
