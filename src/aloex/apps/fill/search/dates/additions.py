"""A fixed time from the dates of the cells to those of the outputs, solved from the examples."""

from collections.abc import Iterable, Sequence
from datetime import date

from aloex.apps.fill.expressions.dates.changes import change_moment
from aloex.apps.fill.expressions.dates.layouts import ORDERS, Moment, find_moments

Addition = tuple[int, str]  # step, unit

MAX_ADDITIONS = 6
_LARGEST = {"minute": 1439, "hour": 72, "day": 400, "month": 60, "year": 100}


def common_additions(moments: Sequence[Moment], outputs: Sequence[str]) -> list[Addition]:
    """Steps that lead from each moment to a date or time of its output, the smallest first."""
    common: set[Addition] | None = None
    for moment, output in zip(moments, outputs, strict=True):
        targets = {
            each for order in ("ANY", *ORDERS) for each in find_moments(output, order) if each
        }
        steps = {step for target in targets for step in _between(moment, target)}
        common = steps if common is None else common & steps
        if not common:
            return []
    return sorted(common or (), key=lambda step: (abs(step[0]), step))[:MAX_ADDITIONS]


def _between(moment: Moment, target: Moment) -> Iterable[Addition]:
    """The steps from one moment to another, in each unit in which it is a whole number."""
    for step, unit in _differences(moment, target):
        if step and abs(step) <= _LARGEST[unit]:
            changed = change_moment(moment, "add", step, unit)
            if changed and all(
                b in (None, a) for a, b in zip(changed[:3], target[:3], strict=True)
            ):
                yield step, unit


def _differences(moment: Moment, target: Moment) -> Iterable[Addition]:
    days = _days(moment, target)
    if days is not None:
        yield days, "day"
    if moment.year is not None and target.year is not None:
        if moment.month is not None and target.month is not None:
            months = (target.year - moment.year) * 12 + target.month - moment.month
            yield (months // 12, "year") if months % 12 == 0 else (months, "month")
        else:
            yield target.year - moment.year, "year"
    if moment.hour is not None and target.hour is not None:
        minutes = _minutes(target) - _minutes(moment) + 1440 * (days or 0)
        if days is None:  # around midnight, the shorter way
            minutes = (minutes + 719) % 1440 - 719
        yield (minutes // 60, "hour") if minutes % 60 == 0 else (minutes, "minute")


def _days(moment: Moment, target: Moment) -> int | None:
    if None in moment[:3] or None in target[:3]:
        return None
    return date(*target[:3]).toordinal() - date(*moment[:3]).toordinal()  # pyright: ignore


def _minutes(moment: Moment) -> int:
    return (moment.hour or 0) * 60 + (moment.minute or 0)
