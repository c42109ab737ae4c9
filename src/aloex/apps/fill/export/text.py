"""Python code for parts of cells, and for their case."""

from typing import NamedTuple

from aloex.apps.fill.export.body import Body
from aloex.apps.fill.export.literals import text_literal
from aloex.apps.fill.export.python_of import call, text_of
from aloex.apps.fill.export.regexes import is_never_empty, literal, matches, regex_call
from aloex.apps.fill.export.tables import call_entry
from aloex.apps.fill.expressions import cases
from aloex.apps.fill.expressions.base import Constant
from aloex.apps.fill.expressions.cases import Case
from aloex.apps.fill.expressions.slices import Position, Slice
from aloex.apps.fill.expressions.text import Cell, Match, Split


@text_of.register
def text_of_constant(expression: Constant, body: Body) -> str:
    return text_literal(expression.text)


@text_of.register
def text_of_cell(expression: Cell, body: Body) -> str:
    return body.parameters[expression.column]


@text_of.register
def text_of_match(expression: Match, body: Body) -> str:
    if expression.k == 0:  # there is no such match
        return body.present(call(expression, "run", body), "text")
    pattern, keep = expression.pattern, expression.keep
    found = matches(body, pattern, body.parameters[expression.column])
    code = item(body, found, expression.k)
    if not keep:
        return code
    if abs(keep) > 1 or not is_never_empty(pattern):
        code = body.variable(code, found.removesuffix("s") if found.endswith("s") else "match")
        body.need_length(code, abs(keep))
    return f"{code}[:{keep}]" if keep > 0 else f"{code}[{keep}:]"


@text_of.register
def text_of_split(expression: Split, body: Body) -> str:
    k, separator = expression.k, expression.separator
    if k == 0:
        return body.present(call(expression, "run", body), "text")
    cell = body.parameters[expression.column]
    text = f"{cell}.strip()" if separator.isspace() else cell
    parts = f"{text}.split({text_literal(separator)})"
    if abs(k) == 1:  # there is always one
        return f"{parts}[{k - 1 if k > 0 else k}].strip()"
    return f"{item(body, body.variable(parts, 'parts'), k)}.strip()"


def item(body: Body, items: str, k: int) -> str:
    """Code for the k-th item of a list, from 1, or from -1 at the end."""
    body.need_length(items, abs(k))
    return f"{items}[{k - 1 if k > 0 else k}]"


@text_of.register
def text_of_case(expression: Case, body: Body) -> str:
    return call_entry(body, cases, "CASES", expression.form, text_of(expression.part, body))


class Gap(NamedTuple):
    """A gap between characters, as code, and on which sides it is known to be inside the text."""

    code: str
    not_before: bool
    not_behind: bool


@text_of.register
def text_of_slice(expression: Slice, body: Body) -> str:
    text = body.parameters[expression.column]
    counted = _counted(expression.start, expression.end)
    if counted is not None:
        start, end, length = counted
        body.need_length(text, length)
        return text if not start and not end else f"{text}[{start}:{end}]"
    gaps = _gap(expression.start, text, "start", body), _gap(expression.end, text, "end", body)
    _check_order(*gaps, text, body)
    first, last = gaps[0].code, gaps[1].code
    return f"{text}[{'' if first == '0' else first}:{'' if last == f'len({text})' else last}]"


def _counted(start: Position, end: Position) -> tuple[str, str, int] | None:
    """A slice that only counts: where from, where to, and how long a text must be to have it."""
    if start.pattern or end.pattern:
        return None
    from_left, to_left = start.k, end.k
    from_right, to_right = -1 - start.k, -1 - end.k
    if 0 <= from_left <= to_left:
        return str(from_left or ""), str(to_left), to_left
    if from_left >= 0 and to_left < 0:
        return str(from_left or ""), f"-{to_right}" if to_right else "", from_left + to_right
    if from_left < 0 and to_left < 0 and 0 < from_right >= to_right:
        return f"-{from_right}", f"-{to_right}" if to_right else "", from_right
    return None


def _check_order(start: Gap, end: Gap, text: str, body: Body) -> None:
    """Go on only if the gaps are inside the text and in order; say no more than needed."""
    if (start.code == "0" and end.not_before) or (end.code == f"len({text})" and start.not_behind):
        is_in_order = start.not_before and end.not_behind
    else:
        is_in_order = False
    if not is_in_order:
        lower = [] if start.not_before else ["0"]
        upper = [] if end.not_behind else [f"len({text})"]
        order = [*lower, start.code, end.code, *upper]
        simple = f"{start.code} > {end.code}"
        body.stop_if(simple if len(order) == 2 else f"not {' <= '.join(order)}")


def _gap(position: Position, text: str, name: str, body: Body) -> Gap:
    k, offset = position.k, position.offset
    if not position.pattern:
        if k >= 0:
            return Gap(str(k), True, k == 0)
        return Gap(f"len({text})" if k == -1 else f"len({text}) - {-1 - k}", k == -1, True)
    found, more = _found(position, text, body)
    more += offset
    moved = f"{found} {'+' if more > 0 else '-'} {abs(more)}" if more else found
    return Gap(body.variable(moved, name), offset >= 0, offset <= 0)


def _found(position: Position, text: str, body: Body) -> tuple[str, int]:
    """Code for the start or end of the k-th match, and what is to be added to it."""
    mark, k = literal(position.pattern), position.k
    length = len(position.pattern) - 1
    # Not so for the last of several characters: in "aaa" the only "aa" is the first, from the left.
    if mark is not None and (k == 1 or (k == -1 and length == 1)):
        at = body.variable(f"{text}.{'find' if k == 1 else 'rfind'}({mark})", "at")
        body.stop_if(f"{at} < 0")
        return at, length if position.at_end else 0
    code = f"list({regex_call(body, position.pattern, 'finditer', text)})"
    side = "end" if position.at_end else "start"
    return f"{item(body, body.variable(code, 'matches'), k)}.{side}()", 0
