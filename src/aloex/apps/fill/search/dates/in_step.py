"""Parts of one date belong together: programs that write a single date, or both ends of a range.

The graph of all atoms keeps one atom of those that write the same, so it may take the hour from a
text and the minute from a rounded time. Here the parts of each date, read and rounded in one way,
make a graph of their own; a range has two ends, such as an hour and the end of that hour.
"""

from collections.abc import Hashable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from aloex.apps.fill.expressions.dates.date_part import DatePart
from aloex.apps.fill.expressions.dates.later import LaterPart
from aloex.apps.fill.expressions.dates.parts import ENDS as ENDS_OF_DAYS
from aloex.apps.fill.expressions.dates.parts import TIMES
from aloex.apps.fill.expressions.programs import Join
from aloex.apps.fill.expressions.text import Cell
from aloex.apps.fill.search.atoms import Atom
from aloex.apps.fill.search.costs import Features

AnyPart = DatePart | LaterPart
Source = tuple[int, int, str, tuple[Any, ...]]
ENDS = ("next", "last_second", "last_minute", "last_day")
MAX_POOLS = 24
MONTHS = {"m", "mm", "month_name", "month_abbr", "month_abbr_dot"}
TOGETHER = (({"M", "MM"}, {"H", "HH", "h", "hh"}), ({"d", "dd", "day_ordinal"}, MONTHS))
HOURS = {"H", "HH", "H24", "HH24"}
HALVES = {"AM", "am", "A.M.", "a.m.", "A", "a"}
PADDED, PLAIN = {"dd", "mm"}, {"d", "m"}


def dates_in_step(atoms: Sequence[Atom]) -> Iterator[list[Atom]]:
    """Atoms of one date each, or of the two ends of one interval."""
    by_source: dict[Source, list[Atom]] = {}
    for each in atoms:
        by_source.setdefault(_part(each).source, []).append(each)
    pools = [own for own in by_source.values() if len(own) > 1]
    for (column, number, order, (change, step, unit)), own in by_source.items():
        if change in ENDS:
            start = by_source.get((column, number, order, ("floor", step, unit)), [])
            pools += [[*start, *own]] if start else []
    plain = [each for each in atoms if _is_plain(_part(each))]
    if len({_part(each).source[1] for each in plain}) > 1:
        pools.insert(0, plain)  # several dates of a cell
    later = [each for each in atoms if isinstance(each.expression, LaterPart)]
    if later:
        pools.insert(0, [*plain, *later])  # a date and a later one
    yield from pools[:MAX_POOLS]


def _part(each: Atom) -> AnyPart:
    assert isinstance(each.expression, DatePart | LaterPart)
    return each.expression


def _is_plain(part: AnyPart) -> bool:
    return isinstance(part, DatePart) and part.change == "none"


def of_dates(program: Join) -> Features:
    """How well the parts of dates in a program go together."""
    parts = [part for part in program.parts if isinstance(part, DatePart | LaterPart)]
    if not parts:
        return {}
    sources = [_interval(part) for part in parts]
    changed = [source for source in sources if source[3][0] != "none"]
    kinds = {part.part if isinstance(part, DatePart) else part.part.part for part in parts}
    halves, hours12, hours24 = kinds & HALVES, kinds & {"h", "hh"}, kinds & HOURS
    return {
        "date_shared": float(len(sources) - len(set(sources))),
        "date_shared_change": float(len(changed) - len(set(changed))),
        "date_clock": float(bool((halves and hours24) or (hours12 and not halves))),
        "date_padding": float(bool(kinds & PADDED and kinds & PLAIN)),
        "date_back": float(_returns([part.source for part in parts])),
        "date_torn": float(_torn(parts) + _half_copied(program)),
        "date_disorder": float(sum(map(_is_disorder, parts, parts[1:]))),
        "date_0_hour": float(_ends_at_0(parts) and not kinds & {"M", "MM"}),
        "date_24_with_minutes": float(bool(kinds & ENDS_OF_DAYS and kinds & {"M", "MM"})),
    }


def _half_copied(program: Join) -> int:
    """How often a later date has a part of the date as it was: the year, which may change."""
    moved = {part.part.column for part in program.parts if isinstance(part, LaterPart)}
    if not moved:
        return 0
    cut = [p for p in program.parts if not isinstance(p, DatePart | LaterPart | Cell)]
    later = {_size(p.part.part) for p in program.parts if isinstance(p, LaterPart)}
    plain = {_size(p.part) for p in program.parts if isinstance(p, DatePart) and p.column in moved}
    return sum(getattr(part, "column", None) in moved for part in cut) + bool(
        plain and not plain & later
    )


def _size(part: str) -> str:
    """Whether a part is a year, a month, a day or a time: two dates have one of these in common."""
    if part in TIMES:
        return "time"
    return "year" if part in ("yyyy", "yy") else "month" if part in MONTHS else "day"


def _is_disorder(one: AnyPart, other: AnyPart) -> bool:
    """Whether a second stands before the minute of the same time."""
    kinds = [part.part for part in (one, other) if isinstance(part, DatePart)]
    seconds_first = len(kinds) == 2 and kinds[0] in ("S", "SS") and kinds[1] in ("M", "MM")
    return seconds_first and one.source == other.source


def _ends_at_0(parts: Sequence[AnyPart]) -> bool:
    """Whether an interval before midnight would end at 0: 23-0."""
    return any(
        isinstance(part, DatePart) and part.change == "next" and part.part in ("H", "HH")
        for part in parts
    )


def _torn(parts: Sequence[AnyPart]) -> int:
    """How many later dates are torn: the minute is the later one's, but not the hour."""
    written: dict[Hashable, set[str]] = {}
    for part in parts:
        if isinstance(part, LaterPart):
            written.setdefault(part.source, set()).add(part.part.part)
        elif part.change in ("nearest", "ceiling"):
            written.setdefault(part.source, set()).add(part.part)
    return sum(
        bool(kinds & small) and not kinds & large
        for kinds in written.values()
        for small, large in TOGETHER
    )


def _returns(sources: Sequence[Hashable]) -> int:
    """How often a date is come back to after another one was written."""
    changes = sum(a != b for a, b in pairwise(sources))
    return changes - (len(set(sources)) - 1)


def _interval(part: AnyPart) -> Source:
    """The source of a part; that of the start of an interval for its end."""
    column, number, order, (change, step, unit) = part.source
    return column, number, order, ("floor" if change in ENDS else change, step, unit)
