"""Features of a whole program: how well its parts go together."""

import re
from collections.abc import Sequence
from itertools import pairwise

from aloex.apps.fill.expressions.base import Constant, Expression, added
from aloex.apps.fill.expressions.cases import Case
from aloex.apps.fill.expressions.dates.date_part import DatePart
from aloex.apps.fill.expressions.dates.later import LaterPart
from aloex.apps.fill.expressions.numbers.text import CURRENCY_SIGNS
from aloex.apps.fill.expressions.numbers.values import NumberText
from aloex.apps.fill.expressions.programs import Join
from aloex.apps.fill.expressions.rewrite import EveryMatch, EverySplit, ReplaceAll, Strip
from aloex.apps.fill.expressions.slices import Slice
from aloex.apps.fill.expressions.text import Digits
from aloex.apps.fill.search.costs import Features
from aloex.apps.fill.search.dates.in_step import of_dates
from aloex.apps.fill.search.numbers.ranges import of_ranges

_CURRENCY = re.compile(f"[{CURRENCY_SIGNS}]")
NAMES_OF_MONTHS = {"month_name", "month_abbr", "month_abbr_dot"}


def whole_features(program: Join) -> Features:
    """What joining its parts adds to their own features."""
    return added(
        [
            _of_parts(program.parts),
            _of_money(program.parts),
            _of_days(program.parts),
            of_dates(program),
            of_ranges(program),
        ]
    )


def _of_parts(parts: Sequence[Expression]) -> Features:
    """Whether a rewritten cell is one part among several, and whether a part comes again."""
    copied = [part for part in parts if not isinstance(part, Constant)]
    rewritten = [p for p in copied if isinstance(p, ReplaceAll | Strip | EveryMatch | EverySplit)]
    return {
        "rewritten_among_parts": float(len(rewritten) if len(copied) > 1 else 0),
        "part_again": float(len(copied) - len(set(copied))),
        "inside_word": float(sum(map(_is_inside_word, parts, parts[1:], parts[2:]))),
        "digits_shared": float(max(sum(isinstance(p, Digits) for p in copied) - 1, 0)),
        "cut_shared": float(sum(map(_is_one_cut, copied, copied[1:]))),
    }


def _is_one_cut(one: Expression, other: Expression) -> bool:
    """Whether a cell is cut in two, and both parts are kept: before and after the last space."""
    a, b = (each.part if isinstance(each, Case) else each for each in (one, other))
    if not (isinstance(a, Slice) and isinstance(b, Slice)) or a.column != b.column:
        return False
    ends = (a.end, b.start), (b.end, a.start)
    return any(p.pattern and (p.pattern, p.k) == (q.pattern, q.k) for p, q in ends)


def _is_inside_word(before: Expression, part: Expression, after: Expression) -> bool:
    """Whether a part is to be a letter or two of a constant word: s, a copied a, me."""
    if not (isinstance(before, Constant) and isinstance(after, Constant)):
        return False
    return before.text[-1:].isalpha() and after.text[:1].isalpha()


def _of_money(parts: Sequence[Expression]) -> Features:
    """Whether thousands are marked in an amount of money: most people do."""
    found = [
        number
        for one, other in pairwise(parts)
        for sign, number in ((one, other), (other, one))
        if isinstance(sign, Constant) and _CURRENCY.search(sign.text)
        if isinstance(number, NumberText)
    ]
    return {"money_group": float(sum(bool(number.group) for number in found))} if found else {}


def _is_year_first(parts: Sequence[Expression]) -> bool:
    """Whether a date begins with its year and a dash: 2021-03-05, in which numbers have zeros."""
    return any(
        isinstance(one, DatePart) and one.part == "yyyy" and other == Constant("-")
        for one, other in pairwise(parts)
    )


def _of_days(parts: Sequence[Expression]) -> Features:
    """Whether a day of two digits stands by the name of a month, and a week by its own year."""
    kinds = {part.part for part in parts if isinstance(part, DatePart)}
    named = [
        other.part == "quarter"
        for one, other in pairwise(parts)
        if isinstance(one, Constant) and one.text.endswith("Q") and isinstance(other, DatePart)
    ]
    kinds |= {part.part.part for part in parts if isinstance(part, LaterPart)}
    return {
        "date_quarter_named": float(sum(named)),
        "date_iso_plain": float(_is_year_first(parts) and bool(kinds & {"d", "m"})),
        "date_padded_by_name": float("dd" in kinds and bool(kinds & NAMES_OF_MONTHS)),
        "date_week_of_other_year": float(bool(kinds & {"week", "week_2"}) and "yyyy" in kinds),
    }
