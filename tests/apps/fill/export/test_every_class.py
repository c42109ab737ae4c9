"""Every class of the table language is exported, and does what it did.

A new class needs examples here. It is exported without further work, by its own source; a function
in `aloex.apps.fill.export` makes its code read better.
"""

import ast
from dataclasses import fields
from typing import Any

import pytest

from aloex.apps.fill import Program
from aloex.apps.fill.export import python_of
from aloex.apps.fill.export.body import Body
from aloex.apps.fill.export.bundle import Bundle
from aloex.apps.fill.export.module import whole_module
from aloex.apps.fill.expressions.affixes import WithAffix, WithoutAffix
from aloex.apps.fill.expressions.base import Constant, Expression
from aloex.apps.fill.expressions.between import Between
from aloex.apps.fill.expressions.cases import CASES, Case
from aloex.apps.fill.expressions.conditions import (
    AtLeast,
    Condition,
    Contains,
    Equals,
    Has,
    HasNoCapitals,
    IsAll,
    IsEmpty,
    Larger,
    Not,
    Same,
)
from aloex.apps.fill.expressions.counting import Chunks, Count, Repeat
from aloex.apps.fill.expressions.dates.bare_numbers import BARE_NUMBERS
from aloex.apps.fill.expressions.dates.changes import CHANGES
from aloex.apps.fill.expressions.dates.date_part import DatePart
from aloex.apps.fill.expressions.dates.later import LaterPart
from aloex.apps.fill.expressions.dates.parts import PARTS, TIMES
from aloex.apps.fill.expressions.durations.values import CellDuration, DurationText, Elapsed
from aloex.apps.fill.expressions.from_json import CLASSES
from aloex.apps.fill.expressions.numbers.arithmetic import ROUNDINGS
from aloex.apps.fill.expressions.numbers.quantities import FAMILIES, CellQuantity
from aloex.apps.fill.expressions.numbers.short import OrdinalNumber, ShortNumber
from aloex.apps.fill.expressions.numbers.values import (
    AbsoluteValue,
    CellNumber,
    Combined,
    Linear,
    NumberText,
    RangeEnd,
    Rounded,
)
from aloex.apps.fill.expressions.patterns import PATTERNS
from aloex.apps.fill.expressions.programs import Join, Lookup, Switch
from aloex.apps.fill.expressions.rewrite import (
    ORDERS,
    CamelCase,
    Collapse,
    EveryMatch,
    EverySplit,
    Pad,
    ReplaceAll,
    Strip,
    Truncate,
)
from aloex.apps.fill.expressions.several_cells import (
    TWO_CELLS,
    JoinColumns,
    ReplaceByColumn,
    TwoCells,
)
from aloex.apps.fill.expressions.slices import Position, Slice
from aloex.apps.fill.expressions.text import Cell, Digits, Match, MatchNear, Split
from exported_programs import assert_same, hostile_rows, names_of

COLUMNS = ("Full name", "class", "amount")
ROWS = [
    *hostile_rows(len(COLUMNS)),
    ("Ada Lovelace", "a", "7"),
    ("a (b) c", "b", "1,234.50"),
    ("12.5 kg, 3 pcs", "12.5", "0"),
    ("(030) 12-34", "030", "-0.125"),
    ("2021-03-05 14:05:09.25", "Friday", "003"),
    ("2h 15m", "1:30", "2021-04-02 09:30"),
    ("17:45", "0815", "44260"),
    ("1.2K", "3 GB", "1614953000"),
    ("9:15", "1e9 m", "90"),
    ("9" * 40, "9" * 39 + ".5 h", "9" * 40 + ":30"),
]
LOOSE = [*PATTERNS, "=", "=a", "= (", "=\\", "=aa", "=\n"]
FIRST, SECOND = CellNumber(0, 0, "."), CellNumber(2, -1, ", ")
EDGES = [Position("", k) for k in (0, 2, -1, -4)]
EDGES += [Position("=a", 1), Position("=a", -1, True), Position("=aa", -1, offset=-1)]
EDGES += [Position("word", 2), Position("number", -1, True, 2), Position("number", 1, False, -3)]
DATE_AND_TIME = [[p for p in PARTS if p not in TIMES], [p for p in PARTS if p in TIMES]]

EXAMPLES: dict[str, list[Any]] = {
    "Constant": [Constant(text) for text in ("", "x", "\"'\\\n{}\u202e\ud800")],
    "Cell": [Cell(0), Cell(2)],
    "Match": [
        Match(0, pattern, k, keep)
        for pattern in LOOSE
        for k, keep in ((1, 0), (2, 1), (-1, -2), (-2, 3))
    ],
    "MatchNear": [
        MatchNear(0, pattern, text, after, last)
        for pattern in ("word", "number", "code")
        for text in (" ", "a", "(", ", ")
        for after in (True, False)
        for last in (True, False)
    ],
    "Digits": [Digits(0, *cut) for cut in ((0, None), (0, 3), (-4, None), (-4, -1), (1, -1))],
    "Split": [Split(0, cut, k) for cut in (" ", ",", ", ", "\t") for k in (1, 2, -1, -3, 0)],
    "Slice": [Slice(0, start, end) for start in EDGES for end in EDGES],
    "Case": [Case(form, part) for form in CASES for part in (Cell(0), Split(0, " ", 2))],
    "ReplaceAll": [
        ReplaceAll(Cell(0), pattern, new, each)
        for pattern in LOOSE
        for new, each in (("", False), ("\\1", False), ("XY", True))
    ],
    "Collapse": [Collapse(Cell(0)), Collapse(Match(0, "name", 2))],
    "CamelCase": [CamelCase(Cell(0)), CamelCase(Split(0, " ", 2))],
    "Strip": [
        Strip(Cell(0), chars, side) for chars in ("", "n\"'") for side in ("left", "right", "both")
    ],
    "Pad": [Pad(Cell(0), 8, "0"), Pad(Match(0, "number", 1), 5, '"', False)],
    "Truncate": [Truncate(Cell(0), 3, "…"), Truncate(Split(0, " ", 1), 2, "")],
    "EveryMatch": [
        EveryMatch(Cell(0), pattern, keep, form, separator, order, after)
        for pattern in ("word", "number", "camel", "=a")
        for keep, form, separator, order, after in (
            ("all", "", "-", "", ""),
            ("first", "upper", "", "", "."),
            ("all", "title", ", ", "sorted", ""),
            ("first", "sentence", " ", "unique", ""),
            ("all", "sentence", " ", "reversed", "'"),
        )
    ],
    "EverySplit": [
        EverySplit(Cell(0), cut, "; ", order, form)
        for cut in (" ", ",")
        for order in ORDERS
        for form in ("", *CASES)
    ],
    "Count": [Count(0, pattern, plus) for pattern in ("", *LOOSE) for plus in (0, 1, -2)],
    "Repeat": [Repeat("*", 2), Repeat('"', 0)],
    "Chunks": [Chunks(Cell(0), size, " ", right) for size in (1, 3) for right in (False, True)],
    "WithAffix": [WithAffix(Cell(0), "a", at_end) for at_end in (False, True)],
    "WithoutAffix": [WithoutAffix(Cell(0), "a", at_end) for at_end in (False, True)],
    "Between": [
        Between(0, left, right, last, to_end)
        for left, right in ((" ", "a"), ("(", ")"), ("a", '"'))
        for last in (False, True)
        for to_end in (False, True)
    ],
    "ReplaceByColumn": [ReplaceByColumn(0, "a", 1), ReplaceByColumn(2, '"', 0)],
    "JoinColumns": [JoinColumns((2, 0), ", ", order) for order in ORDERS] + [JoinColumns((1,), "")],
    "TwoCells": [TwoCells(a, b, how) for how in TWO_CELLS for a, b in ((0, 1), (1, 2), (2, 0))],
    "Join": [
        Join(()),
        Join((Constant("a"), Constant("{b}"))),
        Join((Cell(0), Constant(" {x} "), Cell(2))),
        Join((Split(0, " ", 2), Constant(": "), Join((Match(0, "number", 1), Cell(1))))),
        Join((Switch((IsEmpty(0),), (Constant("none"), Match(0, "word", 1))), Constant("!"))),
        Join(tuple(Split(0, " ", k) for k in (1, 2, 3, -1, -2, -3))),
    ],
    "Switch": [
        Switch(
            (IsEmpty(1), Has(0, "word", 2)), (Cell(0), Match(0, "word", 2), Match(2, "word", 1))
        ),
        Switch((), (Cell(1),)),
        Case("lower", Switch((AtLeast(2, 3.0),), (Match(0, "word", 1), Match(0, "word", 2)))),
        Switch(
            (Same(0, 1),), (Switch((Same(1, 2),), (Cell(0), Cell(1))), Lookup(0, (("a", "b"),)))
        ),
    ],
    "Lookup": [
        Lookup(0, (("Ada Lovelace", "A"), ("", "nothing"), ("Ada Lovelace", "B"))),
        Lookup(2, tuple((str(i), '"' * i) for i in range(30))),
    ],
    "DatePart": [
        *(Join(tuple(DatePart(0, 1, p, "DMY") for p in group)) for group in DATE_AND_TIME),
        *(DatePart(0, 1, "dd", "ANY", change, 1, "month") for change in CHANGES[::3]),
        DatePart(0, 1, "month_abbr_dot", "MDY", language="fr", case="title"),
        DatePart(0, 2, "weekday_name", "YMD", "add", -3, "day", "de", "upper"),
        Join((DatePart(0, 1, "yyyy"), Constant("-"), DatePart(0, 1, "mm"))),
        *(DatePart(2, 1, "dd", order) for order in BARE_NUMBERS),
        DatePart(1, 1, "HH24", "HHMM", "next", 8, "hour_from_6"),
    ],
    "LaterPart": [
        LaterPart(DatePart(0, 1, part, "DMY"), by, unit, sign)
        for part, unit in (("dd", "day"), ("MM", "minute"), ("yyyy", "month"))
        for by, sign in ((SECOND, 1), (CellDuration(1, 0, "h", "minute"), -1))
    ],
    "CellDuration": [
        CellDuration(column, k, clock, unit)
        for column in (0, 2)
        for k, clock in ((0, "h"), (1, "m"))
        for unit in ("second", "minute", "hour", "day")
    ],
    "Elapsed": [
        Elapsed(*places, unit)
        for places in ((0, 1, "DMY", 2, 1, "ANY"), (0, 1, "ANY", 1, 1, "MDY"))
        for unit in ("minute", "hour", "day", "month", "year")
    ],
    "DurationText": [
        DurationText(number, unit, layout, short, rounding)
        for number, unit in (
            (SECOND, "minute"),
            (Elapsed(0, 1, "ANY", 2, 1, "ANY", "hour"), "hour"),
        )
        for layout in ("{h}:{mm}", "PT{h}H{m}M", "{d} d {hh} h {m} min")
        for short, rounding in ((False, ""), (True, "half_up"), (True, "floor"))
    ],
    "CellQuantity": [
        CellQuantity(column, k, ".", family)
        for column, k in ((0, 0), (1, -1))
        for family in FAMILIES
    ],
    "OrdinalNumber": [OrdinalNumber(FIRST), OrdinalNumber(SECOND)],
    "ShortNumber": [
        ShortNumber(number, ("K", " M"), decimals, ",", keep_zeros)
        for number in (FIRST, SECOND)
        for decimals, keep_zeros in ((0, False), (1, True), (2, False))
    ],
    "CellNumber": [CellNumber(0, k, marks) for k in (0, 1, -1, -2) for marks in (".", ",", ", ")],
    "Linear": [
        Linear(FIRST, "100"),
        Linear(FIRST, "-1", "0.5", "3"),
        Linear(SECOND, "1", "2", "0"),
        Linear(FIRST, "1e3", "-0", "00"),
        Linear(FIRST, "no number"),
    ],
    "AbsoluteValue": [AbsoluteValue(FIRST), AbsoluteValue(Rounded(SECOND, "1", "floor"))],
    "Combined": [
        Combined(FIRST, SECOND, operation)
        for operation in ("sum", "difference", "product", "quotient", "change", "less_percent")
    ],
    "Rounded": [Rounded(FIRST, step, mode) for step in ("0.01", "25", "0") for mode in ROUNDINGS],
    "RangeEnd": [
        RangeEnd(FIRST, step, end, "1", "0.5", closed)
        for step in ("10", "0.25", "0")
        for end in ("lower", "upper")
        for closed in ("lower", "upper")
    ],
    "NumberText": [
        NumberText(FIRST),
        NumberText(FIRST, 2, ",", ".", plus=True),
        NumberText(Rounded(SECOND, "1", "half_even"), 0, width=6, negative="()"),
        NumberText(FIRST, None, ".", ",", lakhs=True, negative="5-"),
    ],
    "IsEmpty": [IsEmpty(0)],
    "Equals": [Equals(0, "ADA lovelace"), Equals(1, "a"), Equals(1, "ß")],
    "Contains": [Contains(0, "a", where) for where in ("anywhere", "start", "end")],
    "Has": [Has(0, pattern, least) for pattern in LOOSE for least in (0, 1, 2)],
    "IsAll": [IsAll(0, pattern) for pattern in LOOSE],
    "HasNoCapitals": [HasNoCapitals(0), HasNoCapitals(0, True)],
    "AtLeast": [
        AtLeast(0, 12.5),
        AtLeast(0, 7.0, True),
        AtLeast(2, float("inf")),
        AtLeast(2, 1.0, False, True),
    ],
    "Same": [Same(0, 1, how, fold) for how in ("equal", "contains") for fold in (False, True)],
    "Larger": [Larger(0, 2), Larger(0, 1, True)],
    "Not": [Not(IsEmpty(0)), Not(Not(Contains(0, "a"))), Not(Larger(0, 2)), Not(Has(0, "word"))],
    "Position": [Slice(0, Position("word", 1), Position("", -1))],
}


def is_concrete(kind: type) -> bool:
    return len(fields(kind)) > 0


def as_expression(example: Expression | Condition) -> Expression:
    """A condition as the case of a program, alone and negated."""
    if isinstance(example, Expression):
        return example
    words = Constant("yes"), Constant("no"), Constant("never")
    return Switch((example, Not(example)), words)


def test_every_class_has_examples():
    expected = {name for name, kind in CLASSES.items() if is_concrete(kind)}
    assert set(EXAMPLES) == expected, "add examples of the new class"


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_class_is_exported(name):
    for example in EXAMPLES[name]:
        assert_same(Program(as_expression(example), COLUMNS), ROWS)


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_class_is_exported_by_its_own_source(name):
    """As classes are that have no function for their code."""
    for example in EXAMPLES[name][::7]:
        expression = as_expression(example)
        names = dict(enumerate(["one", "two", "three"]))
        body = Body(Bundle(["made"]), names, len(COLUMNS))
        body.finish(python_of.call(expression, "run", body))
        source = whole_module("made", [], body)
        function = names_of(source)["made"]
        assert not any(
            isinstance(node, ast.ImportFrom) and (node.module or "").startswith("aloex")
            for node in ast.walk(ast.parse(source))
        )
        for row in ROWS:
            assert function(*row) == expression.run(row), (expression, row)
