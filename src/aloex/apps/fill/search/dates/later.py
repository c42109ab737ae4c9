"""Dates and times that are as much later as a number of the row says."""

from collections.abc import Iterator, Sequence
from decimal import Decimal

from aloex.apps.fill.expressions.dates.changes import can_change
from aloex.apps.fill.expressions.dates.later import later_moment
from aloex.apps.fill.expressions.dates.layouts import ORDERS, Moment, find_moments
from aloex.apps.fill.search.numbers.columns import Source

UNITS = ("minute", "hour", "day", "week", "month", "year")
MAX_NUMBERS = 6  # numbers of the row that are added

Later = tuple[Source, str, int]  # by, unit, sign


def later(
    moments: Sequence[Moment], column: int, numbers: Sequence[Source], outputs: Sequence[str]
) -> Iterator[Later]:
    """What leads from each moment to a date or time of its output.

    Args:
        moments: of the examples.
        column: where they stand; numbers of that column are not added.
        numbers: of the rows.
        outputs: of the examples.
    """
    targets = [
        [each for order in ("ANY", *ORDERS) for each in find_moments(output, order) if each]
        for output in outputs
    ]
    own = [each for each in numbers if getattr(each.expression, "column", None) != column]
    for by in own[:MAX_NUMBERS] if all(targets) else ():
        for unit in UNITS:
            for sign in (1, -1):
                if can_change(moments[0], unit) and all(
                    _leads_to(moment, value, unit, sign, target)
                    for moment, value, target in zip(moments, by.values, targets, strict=False)
                ):
                    yield by, unit, sign


def _leads_to(
    moment: Moment, value: Decimal | None, unit: str, sign: int, targets: Sequence[Moment]
) -> bool:
    changed = None if value is None else later_moment(moment, value, unit, sign)
    if changed is None:
        return False
    shown = 4 if unit in ("minute", "hour") else 1 if unit in ("month", "year") else 2
    return any(
        target[shown] is not None and all(target[i] in (None, changed[i]) for i in (0, 1, 2, 4, 5))
        for target in targets
    )
