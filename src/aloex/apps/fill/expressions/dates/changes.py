"""What can be done with a date or time before a part of it is written.

Rounding goes to a grid, `step` units apart: intervals of 15 minutes begin at 9:00, 9:15, 9:30. The
changes are named in `CHANGES`. A time without a date wraps around at midnight; times are naive, so
a day has 24 hours.
"""

from calendar import monthrange
from datetime import datetime, timedelta
from functools import lru_cache

from aloex.apps.fill.expressions.dates.layouts import Moment

CHANGES = (
    "none",
    "floor",  # the start of its interval
    "ceiling",  # the next point of the grid, or itself
    "nearest",  # the nearest point of the grid; half way goes up
    "next",  # the start of the next interval
    "last_second",  # the last second of its interval
    "last_minute",
    "last_day",
    "add",  # `step` units later
)
# Weeks by the day on which they begin, shifts by the hour: unit -> days from Monday, first hour.
WEEKS = {
    "week": 0,
    "sunday_week": 6,
    "saturday_week": 5,
    "friday_week": 4,
    "thursday_week": 3,
    "wednesday_week": 2,
    "tuesday_week": 1,
}
SHIFTS = {"hour_from_6": 6, "hour_from_7": 7, "hour_from_8": 8}
# (unit, steps); a quarter is 3 months, a half-year 6, a decade 10 years
GRIDS = (
    ("minute", (1, 5, 10, 15, 20, 30)),
    ("hour", (1, 2, 3, 4, 6, 8, 12)),
    *((unit, (8, 12)) for unit in SHIFTS),
    ("day", (1,)),
    *((unit, (1,)) for unit in WEEKS),
    ("half_month", (1,)),  # from the 1st and from the 16th
    ("month", (1, 3, 6)),
    ("year", (1, 10)),
)
# Units that only intervals have, and what is written of these.
RARE_UNITS = {
    **dict.fromkeys(SHIFTS, ("floor", "next", "last_minute")),
    **dict.fromkeys(list(WEEKS)[2:], ("floor", "last_day")),
    "half_month": ("floor", "next", "last_day"),
}
_SIZES = {
    "last_second": timedelta(seconds=1),
    "last_minute": timedelta(minutes=1),
    "last_day": timedelta(days=1),
}
# The parts that a moment must have to be changed in steps of a unit.
_NEEDS = {
    **dict.fromkeys(("minute", "hour", *SHIFTS), ("hour",)),
    **dict.fromkeys(("day", *WEEKS, "half_month"), ("year", "month", "day")),
    "month": ("year", "month"),
    "year": ("year",),
}


def possible_changes(moment: Moment) -> list[tuple[str, int, str]]:
    """All roundings (change, step, unit) that mean something for a moment with these parts."""
    found = []
    for unit, steps in GRIDS:
        if not can_change(moment, unit) or (unit == "day" and moment.hour is None):
            continue
        if unit in RARE_UNITS:
            found += [(change, step, unit) for step in steps for change in RARE_UNITS[unit]]
            continue
        ends = ["next"]
        if unit in ("minute", "hour") or moment.hour is not None:
            ends += ["last_minute", "last_second"]
        if unit not in ("minute", "hour", "day"):
            ends.append("last_day")
        found += [
            (change, step, unit)
            for step in steps
            for change in ("floor", "ceiling", "nearest", *ends)
        ]
    return found


def is_of_the_clock(unit: str) -> bool:
    """Whether a unit is smaller than a day."""
    return unit in ("minute", "hour", *SHIFTS)


def can_change(moment: Moment, unit: str) -> bool:
    """Whether the moment has the parts that steps of a unit need."""
    return all(getattr(moment, part) is not None for part in _NEEDS[unit])


@lru_cache(maxsize=8192)
def change_moment(moment: Moment, change: str, step: int, unit: str) -> Moment | None:
    """The moment after a change, or None where it lacks the parts or leaves the calendar.

    >>> change_moment(Moment(hour=9, minute=53), "nearest", 15, "minute")[4:6]
    (10, 0)
    """
    if change == "none":
        return moment
    if not can_change(moment, unit):
        return None
    try:
        changed = _change(_to_datetime(moment), change, step, unit)
    except (OverflowError, ValueError):
        return None
    return _from_datetime(changed, moment, change, unit)


def _change(time: datetime, change: str, step: int, unit: str) -> datetime:
    if change == "add":
        return _add(time, step, unit)
    start = _floor(time, step, unit)
    if change == "floor":
        return start
    end = _add(start, step, unit)
    if change == "ceiling":
        return start if start == time else end
    if change == "nearest":
        return start if time - start < end - time else end
    return end - _SIZES.get(change, timedelta())


def _floor(time: datetime, step: int, unit: str) -> datetime:
    midnight = time.replace(hour=0, minute=0, second=0, microsecond=0)
    if unit in ("minute", "hour"):
        size = step * (60 if unit == "hour" else 1)
        minutes = time.hour * 60 + time.minute
        return midnight + timedelta(minutes=minutes - minutes % size)
    if unit == "day":
        return midnight
    if unit in SHIFTS:
        hours = (time.hour - SHIFTS[unit]) % step
        return midnight + timedelta(hours=time.hour - hours)
    if unit in WEEKS:
        return midnight - timedelta(days=(time.weekday() - WEEKS[unit]) % 7)
    if unit == "half_month":
        return midnight.replace(day=16 if time.day > 15 else 1)
    if unit == "month":
        return midnight.replace(month=time.month - (time.month - 1) % step, day=1)
    return midnight.replace(year=time.year - time.year % step, month=1, day=1)


def _add(time: datetime, step: int, unit: str) -> datetime:
    if unit in ("month", "year"):
        months = time.year * 12 + time.month - 1 + step * (12 if unit == "year" else 1)
        year, month = months // 12, months % 12 + 1
        return time.replace(year=year, month=month, day=min(time.day, monthrange(year, month)[1]))
    if unit == "half_month":
        return time.replace(day=16) if time.day == 1 else _add(time.replace(day=1), 1, "month")
    minutes = {"minute": 1, "hour": 60, "day": 1440, **dict.fromkeys(SHIFTS, 60)}
    return time + timedelta(minutes=step * minutes.get(unit, 7 * 1440))


def _to_datetime(moment: Moment) -> datetime:
    """Missing parts get values that are never written: 2000 is a leap year."""
    return datetime(
        2000 if moment.year is None else moment.year,
        moment.month or 1,
        moment.day or 1,
        moment.hour or 0,
        moment.minute or 0,
        moment.second or 0,
        int((moment.fraction or "0").ljust(6, "0")[:6]),
    )


def _from_datetime(time: datetime, before: Moment, change: str, unit: str) -> Moment:
    """The parts that the moment had, and those that the change made known."""
    rounded = change != "add"
    dated = not is_of_the_clock(unit)
    timed = before.hour is not None
    month_known = before.month is not None or (rounded and unit == "year")
    day_known = before.day is not None or (rounded and dated)
    return Moment(
        year=time.year if before.year is not None else None,
        month=time.month if month_known else None,
        day=time.day if day_known else None,
        weekday=before.weekday if before.day is None else None,
        hour=time.hour if timed else None,
        minute=time.minute if timed else None,
        second=time.second if before.second is not None or change == "last_second" else None,
        fraction=None if rounded or not before.fraction else before.fraction,
    )
