"""Parts of one date belong together: programs that write a single date, or both ends of a range.

The graph of all atoms keeps one atom of those that write the same, so it may take the hour from a
text and the minute from a rounded time. Here the parts of each date, read and rounded in one way,
make a graph of their own; a range has two ends, such as an hour and the end of that hour.
"""

from collections.abc import Hashable, Iterator, Sequence
from itertools import pairwise

from aloex.apps.fill.expressions.dates.date_part import DatePart
from aloex.apps.fill.expressions.programs import Join
from aloex.apps.fill.search.atoms import Atom
from aloex.apps.fill.search.costs import Features

Source = tuple[int, int, str, tuple[str, int, str]]
ENDS = ("next", "last_second", "last_minute", "last_day")
MAX_POOLS = 24
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
    plain = [each for each in atoms if _part(each).change == "none"]
    if len({_part(each).number for each in plain}) > 1:
        pools.insert(0, plain)  # several dates of a cell
    yield from pools[:MAX_POOLS]


def _part(each: Atom) -> DatePart:
    assert isinstance(each.expression, DatePart)
    return each.expression


def of_dates(program: Join) -> Features:
    """How well the parts of dates in a program go together."""
    parts = [part for part in program.parts if isinstance(part, DatePart)]
    if not parts:
        return {}
    sources = [_interval(part) for part in parts]
    changed = [source for source in sources if source[3][0] != "none"]
    kinds = {part.part for part in parts}
    halves, hours12, hours24 = kinds & HALVES, kinds & {"h", "hh"}, kinds & {"H", "HH"}
    return {
        "date_shared": float(len(sources) - len(set(sources))),
        "date_shared_change": float(len(changed) - len(set(changed))),
        "date_clock": float(bool((halves and hours24) or (hours12 and not halves))),
        "date_padding": float(bool(kinds & PADDED and kinds & PLAIN)),
        "date_back": float(_returns([part.source for part in parts])),
    }


def _returns(sources: Sequence[Hashable]) -> int:
    """How often a date is come back to after another one was written."""
    changes = sum(a != b for a, b in pairwise(sources))
    return changes - (len(set(sources)) - 1)


def _interval(part: DatePart) -> Source:
    """The source of a part; that of the start of an interval for its end."""
    column, number, order, (change, step, unit) = part.source
    return column, number, order, ("floor" if change in ENDS else change, step, unit)
