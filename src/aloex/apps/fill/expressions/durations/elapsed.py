"""The time between two dates or times."""

from datetime import datetime, timedelta
from decimal import Decimal

from aloex.apps.fill.expressions.dates.layouts import Moment
from aloex.apps.fill.expressions.durations.text import UNIT_NAMES
from aloex.apps.fill.expressions.numbers.arithmetic import EXACT


def time_between(start: Moment, end: Moment, unit: str) -> Decimal | None:
    """The time from one moment to another, or None if they lack the parts for it.

    >>> int(time_between(Moment(hour=22, minute=0), Moment(hour=6, minute=30), "minute"))
    510
    """
    if unit in ("month", "year"):
        return _full(start, end, unit)
    dated = all(None not in (moment.year, moment.month, moment.day) for moment in (start, end))
    timed = start.hour is not None and end.hour is not None
    if unit == "day":  # days of the calendar, whatever the time
        return Decimal((_datetime(end, False) - _datetime(start, False)).days) if dated else None
    if not timed or (not dated and (start.day, end.day) != (None, None)):
        return None
    if dated:
        seconds = round((_datetime(end, True) - _datetime(start, True)).total_seconds())
    else:
        seconds = (_seconds(end) - _seconds(start)) % UNIT_NAMES["day"]
    return EXACT.divide(Decimal(seconds), Decimal(UNIT_NAMES[unit]))


def _full(start: Moment, end: Moment, unit: str) -> Decimal | None:
    """Full years or months; years alone are subtracted, where a month or day is not known."""
    if start.year is None or end.year is None:
        return None
    if start.month is None or end.month is None:
        return Decimal(end.year - start.year) if unit == "year" else None
    months = (end.year - start.year) * 12 + end.month - start.month
    if start.day is not None and end.day is not None and end.day < start.day:
        months -= 1
    return Decimal(months if unit == "month" else months // 12)


def _datetime(moment: Moment, timed: bool) -> datetime:
    day = datetime(moment.year or 1, moment.month or 1, moment.day or 1)
    return day + timedelta(seconds=_seconds(moment)) if timed else day


def _seconds(moment: Moment) -> int:
    return (moment.hour or 0) * 3600 + (moment.minute or 0) * 60 + (moment.second or 0)
