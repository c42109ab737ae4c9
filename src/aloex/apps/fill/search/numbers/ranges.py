"""Both ends of a range of numbers belong together: 20 and 30, not 20 and 31."""

from dataclasses import replace

from aloex.apps.fill.expressions.numbers.values import NumberText, RangeEnd
from aloex.apps.fill.expressions.programs import Join
from aloex.apps.fill.search.costs import Features


def of_ranges(program: Join) -> Features:
    """Whether the ends of ranges in a program are those of one range."""
    ends = [
        part.number
        for part in program.parts
        if isinstance(part, NumberText) and isinstance(part.number, RangeEnd)
    ]
    if not ends:
        return {}
    ranges = {replace(end, end="lower", gap="0") for end in ends}
    both = {end.end for end in ends} == {"lower", "upper"}
    return {
        "number_range_pair": float(both and len(ranges) == 1),
        "number_range_alone": float(len(ends) == 1 or len(ranges) > 1),
    }
