"""What of a row the examples bear out: where its parts are cut out, units, sides of thresholds.

A program that fits the examples has been seen to work on rows like these. Another row is like them
if its parts stand between the same kinds of characters, its numbers have the same units, and its
numbers are not between the examples of two cases, where the threshold may be anywhere.
"""

import re
from collections.abc import Iterator, Sequence

from aloex.apps.fill.expressions.base import Expression, Row
from aloex.apps.fill.expressions.between import Between
from aloex.apps.fill.expressions.cases import Case
from aloex.apps.fill.expressions.columns_read import columns_read
from aloex.apps.fill.expressions.conditions import AtLeast, Condition, Larger, without_not
from aloex.apps.fill.expressions.dates.date_part import DatePart
from aloex.apps.fill.expressions.dates.later import LaterPart
from aloex.apps.fill.expressions.durations.values import CellDuration, DurationText, Elapsed
from aloex.apps.fill.expressions.numbers.quantities import CellQuantity
from aloex.apps.fill.expressions.numbers.values import NumberExpression
from aloex.apps.fill.expressions.patterns import first_number
from aloex.apps.fill.expressions.programs import Join, Switch
from aloex.apps.fill.expressions.rewrite import CamelCase, Collapse, EverySplit, ReplaceAll, Strip
from aloex.apps.fill.expressions.several_cells import JoinColumns
from aloex.apps.fill.expressions.slices import Slice
from aloex.apps.fill.expressions.text import Cell, Match, MatchNear, Split
from aloex.apps.fill.search.shapes import kind_of

Key = tuple[int, str, str]
UNIT = re.compile(r"[$€£¥₹%°]|(?<=\d)[^\W\d_]+|(?<=\d )[^\W\d_]+")
UNITS = "units"


def own_program(program: Expression, row: Row) -> tuple[int, Expression]:
    """The program that a row gets, and the number of its case."""
    if not isinstance(program, Switch):
        return 0, program
    case = program.case(row)
    return case + 1, program.programs[case]


def surroundings(program: Expression, row: Row) -> list[Key]:
    """For each part that is copied from a row, the kinds of characters around both of its ends.

    Of the part itself only marks count: a comma at its end, but not a letter.
    """
    case, own = own_program(program, row)
    found: list[Key] = []
    for i, (text, start, end) in _copied(own, row):
        before, after = text[start - 1 : start] if start else "", text[end : end + 1]
        first, last = (_mark(text[start]), _mark(text[end - 1])) if start < end else ("empty", "")
        found.append((100 * case + i, kind_of(before) + first, last + kind_of(after)))
    return found


def _mark(char: str) -> str:
    return "" if char.isalnum() else kind_of(char)


def _copied(program: Expression, row: Row) -> Iterator[tuple[int, tuple[str, int, int]]]:
    """The parts of a joined program that are cells or cut out of them: their number, and where."""
    for i, part in enumerate(program.parts if isinstance(program, Join) else ()):
        while isinstance(part, Case | Collapse | Strip):
            part = part.part
        if isinstance(part, Between | Match | MatchNear | Slice | Split):
            text = row[part.column]
            span = part.span(text)
            if span is not None:
                yield i, (text, span[0], span[1])
        else:
            for column in _whole_cells(part):
                yield i, (row[column], 0, len(row[column]))


def _whole_cells(part: Expression) -> Sequence[int]:
    """The columns of which a part keeps all words."""
    if isinstance(part, JoinColumns):
        return part.columns
    if isinstance(part, ReplaceAll) and not _is_mark(part.pattern):
        return ()
    if isinstance(part, CamelCase | EverySplit | ReplaceAll):
        return _whole_cells(part.part)
    return (part.column,) if isinstance(part, Cell) else ()


def _is_mark(pattern: str) -> bool:
    return pattern.startswith("=") and not any(char.isalnum() for char in pattern)


def units(program: Expression, row: Row) -> list[Key]:
    """The units of the numbers that a program reads from a row; "" where there is none."""
    case, own = own_program(program, row)
    found: list[Key] = []
    for part in own.parts if isinstance(own, Join) else ():
        if _is_plain_number(part):
            for column in columns_read(part):
                names = [name.casefold() for name in UNIT.findall(row[column])]
                found += [(100 * case + column, UNITS, name) for name in names or [""]]
    return found


def _is_plain_number(part: Expression) -> bool:
    """Whether a part is made of numbers whose units it does not read."""
    number = part
    while isinstance(inner := getattr(number, "number", None), Expression):
        number = inner
    return isinstance(number, NumberExpression) and not isinstance(
        number, CellDuration | CellQuantity | Elapsed
    )


_ONE_DIGIT = re.compile(r"(?<![\d:])0?[1-9](?!\d)")  # minutes always have two


class Paddings:
    """Whether numbers below 10 in dates have a zero in front, as far as the examples show it.

    Args:
        program: what fills the column.
        outputs: of the examples.
    """

    def __init__(self, program: Expression, outputs: Sequence[str]):
        programs = program.programs if isinstance(program, Switch) else (program,)
        parts = [part for each in programs if isinstance(each, Join) for part in each.parts]
        self.has_dates = any(isinstance(p, DatePart | DurationText | LaterPart) for p in parts)
        self.known = {len(number) for text in outputs for number in _ONE_DIGIT.findall(text)}

    def are_known(self, text: str) -> bool:
        """Whether a text has such numbers only as the examples have them."""
        if not self.has_dates:
            return True
        return all(len(number) in self.known for number in _ONE_DIGIT.findall(text))


class Thresholds:
    """The numbers that the examples leave open: a threshold may be anywhere between two of them.

    Args:
        program: what fills the column.
        rows, outputs: of the examples.
    """

    def __init__(self, program: Expression, rows: Sequence[Row], outputs: Sequence[str]):
        self.conditions = program.conditions if isinstance(program, Switch) else ()
        named = {first_number(output) for output in outputs}
        self.gaps: dict[Condition, tuple[float, float]] = {}
        for condition in map(without_not, self.conditions):
            if isinstance(condition, AtLeast) and condition.threshold not in named:
                known = [n for row in rows if (n := condition.number(row)) is not None]
                below = max(n for n in known if n < condition.threshold)
                self.gaps[condition] = below, min(n for n in known if n >= condition.threshold)

    def are_clear(self, row: Row) -> bool:
        """Whether each condition that a row meets has something to compare, outside the gap."""
        for condition in self.conditions:
            if not self._is_clear(without_not(condition), row):
                return False
            if condition.holds(row):
                break
        return True

    def _is_clear(self, condition: Condition, row: Row) -> bool:
        if isinstance(condition, Larger):
            return condition.can_compare(row)
        if not isinstance(condition, AtLeast):
            return True
        number, gap = condition.number(row), self.gaps.get(condition)
        return number is not None and (gap is None or not gap[0] < number < gap[1])
