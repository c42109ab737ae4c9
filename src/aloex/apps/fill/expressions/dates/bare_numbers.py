"""Numbers that are dates or times though nothing in the cell says so: the column tells.

They are read like the orders of day and month: `MONTH` reads 3 as March, `HHMM` reads 0815 as a
quarter past eight, `SERIAL` reads the days by which spreadsheets count, `UNIX` and `UNIX_MS` the
seconds and milliseconds by which computers do, in UTC.
"""

import re
from datetime import datetime, timedelta

from aloex.apps.fill.expressions.dates.layouts import Moment

_DAY_0 = datetime(1899, 12, 30)  # of spreadsheets; right from March 1900 on
_SECOND_0 = datetime(1970, 1, 1)
_PATTERNS = {
    "MONTH": re.compile(r"\s*0?([1-9]|1[0-2])\s*"),
    "HHMM": re.compile(r"\s*([01][0-9]|2[0-3]):?([0-5][0-9])\s*"),
    "SERIAL": re.compile(r"\s*([2-7][0-9]{4})(\.[0-9]{1,12})?\s*"),
    "UNIX": re.compile(r"\s*([3-9][0-9]{8}|[12][0-9]{9})\s*"),  # 1979 to 2065
    "UNIX_MS": re.compile(r"\s*([3-9][0-9]{11}|[12][0-9]{12})\s*"),
}
BARE_NUMBERS = {  # order -> in words
    "MONTH": "number of a month",
    "HHMM": "four digits of a clock",
    "SERIAL": "days as spreadsheets count them",
    "UNIX": "Unix time in seconds",
    "UNIX_MS": "Unix time in milliseconds",
}


def read_bare_number(text: str, order: str) -> Moment | None:
    """What a cell with nothing but a number means.

    >>> read_bare_number("44260", "SERIAL") == Moment(year=2021, month=3, day=5)
    True
    """
    match = _PATTERNS[order].fullmatch(text)
    if match is None:
        return None
    number = int(match[1])
    if order == "MONTH":
        return Moment(month=number)
    if order == "HHMM":
        return Moment(hour=number, minute=int(match[2]))
    if order == "SERIAL":
        seconds = round(float(match[2] or 0) * 86400)
        time = _DAY_0 + timedelta(days=number, seconds=seconds)
        if match[2] is None:
            return Moment(time.year, time.month, time.day)
    else:
        time = _SECOND_0 + timedelta(seconds=number // (1000 if order == "UNIX_MS" else 1))
    return Moment(time.year, time.month, time.day, None, time.hour, time.minute, time.second)
