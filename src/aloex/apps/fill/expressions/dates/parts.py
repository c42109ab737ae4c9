"""The parts of a date or time, and how each is written."""

from collections.abc import Callable
from datetime import date
from operator import attrgetter

from aloex.apps.fill.expressions.dates.layouts import Moment
from aloex.apps.fill.expressions.dates.names import NAMES
from aloex.apps.fill.expressions.numbers.ordinals import ordinal

Writer = Callable[[Moment], str | None]


def _number(value: Callable[[Moment], int | None], width: int = 1) -> Writer:
    layout = f"%0{width}d"

    def write(moment: Moment) -> str | None:
        number = value(moment)
        return None if number is None else layout % number

    return write


def _year2(moment: Moment) -> int | None:
    return None if moment.year is None else moment.year % 100


def _decade(moment: Moment) -> int | None:
    return None if moment.year is None else moment.year // 10 * 10


def _quarter(moment: Moment) -> int | None:
    return None if moment.month is None else (moment.month + 2) // 3


def _half_year(moment: Moment) -> int | None:
    return None if moment.month is None else (moment.month + 5) // 6


def _end_hour(moment: Moment) -> int | None:
    return moment.hour if moment.hour != 0 else 24


def _hour12(moment: Moment) -> int | None:
    return None if moment.hour is None else (moment.hour + 11) % 12 + 1


def _date(moment: Moment) -> date | None:
    if moment.year is None or moment.month is None or moment.day is None:
        return None
    return date(moment.year, moment.month, moment.day)


def _weekday(moment: Moment) -> int | None:
    day = _date(moment)
    return moment.weekday if day is None else day.isoweekday()


def _iso_week(moment: Moment) -> int | None:
    day = _date(moment)
    return None if day is None else day.isocalendar().week


def _iso_year(moment: Moment) -> int | None:
    day = _date(moment)
    return None if day is None else day.isocalendar().year


def _day_of_year(moment: Moment) -> int | None:
    day = _date(moment)
    return None if day is None else day.timetuple().tm_yday


def _ordinal(moment: Moment) -> str | None:
    return None if moment.day is None else ordinal(moment.day)


def _half(am: str, pm: str) -> Writer:
    return lambda moment: None if moment.hour is None else am if moment.hour < 12 else pm


# part -> (in words, writer); the width of a number is in its name: d 5, dd 05
PARTS: dict[str, tuple[str, Writer]] = {
    "d": ("day", _number(attrgetter("day"))),
    "dd": ("two-digit day", _number(attrgetter("day"), 2)),
    "day_ordinal": ("day as an ordinal number", _ordinal),
    "m": ("month's number", _number(attrgetter("month"))),
    "mm": ("two-digit month", _number(attrgetter("month"), 2)),
    "yyyy": ("year", _number(attrgetter("year"), 4)),
    "yy": ("two-digit year", _number(_year2, 2)),
    "decade": ("decade", _number(_decade)),
    "quarter": ("quarter", _number(_quarter)),
    "half": ("half of the year", _number(_half_year)),
    "weekday": ("number of the weekday", _number(_weekday)),
    "week": ("ISO week", _number(_iso_week)),
    "week_2": ("two-digit ISO week", _number(_iso_week, 2)),
    "week_year": ("year of the ISO week", _number(_iso_year, 4)),
    "day_of_year": ("day of the year", _number(_day_of_year)),
    "day_of_year_3": ("three-digit day of the year", _number(_day_of_year, 3)),
    "H": ("hour", _number(attrgetter("hour"))),
    "HH": ("two-digit hour", _number(attrgetter("hour"), 2)),
    "H24": ("hour from 1 to 24", _number(_end_hour)),
    "HH24": ("two-digit hour from 01 to 24", _number(_end_hour, 2)),
    "h": ("12-hour clock's hour", _number(_hour12)),
    "hh": ("two-digit hour of the 12-hour clock", _number(_hour12, 2)),
    "M": ("minute without a leading zero", _number(attrgetter("minute"))),
    "MM": ("minute", _number(attrgetter("minute"), 2)),
    "S": ("second without a leading zero", _number(attrgetter("second"))),
    "SS": ("second", _number(attrgetter("second"), 2)),
    "fraction": ("fraction of the second", lambda moment: moment.fraction),
    "AM": ("AM or PM", _half("AM", "PM")),
    "am": ("am or pm", _half("am", "pm")),
    "A.M.": ("A.M. or P.M.", _half("A.M.", "P.M.")),
    "a.m.": ("a.m. or p.m.", _half("a.m.", "p.m.")),
    "A": ("A or P for the half of the day", _half("A", "P")),
    "a": ("a or p for the half of the day", _half("a", "p")),
}
RARE = frozenset(
    {"weekday", "week", "week_2", "week_year", "day_of_year", "day_of_year_3", "M", "S"}
)
ENDS = frozenset({"H24", "HH24"})  # hours at which something ends
TIMES = frozenset({"H", "HH", "H24", "HH24", "h", "hh", "M", "MM", "S", "SS", "fraction", "AM",
                   "am", "A.M.", "a.m.", "A", "a"})  # fmt: skip
# Digits that fill their width: in 20190305 they may stand beside other digits.
FIXED_WIDTH = frozenset({"dd", "mm", "yyyy", "yy", "week_2", "week_year", "day_of_year_3", "HH",
                         "HH24", "hh", "MM", "SS", "fraction", "decade"})  # fmt: skip

# part -> in words; these have a language and a case as well
NAMED_PARTS = {
    "month_name": "name of the month",
    "month_abbr": "abbreviated month",
    "month_abbr_dot": "abbreviated month with a full stop",
    "weekday_name": "name of the weekday",
    "weekday_abbr": "abbreviated weekday",
    "weekday_abbr_dot": "abbreviated weekday with a full stop",
}
CASES: dict[str, Callable[[str], str]] = {
    "title": lambda name: name[:1].upper() + name[1:],
    "upper": str.upper,
    "lower": str.lower,
}


def write_part(moment: Moment, part: str, language: str = "", case: str = "") -> str | None:
    """The text of a part, or None where the moment does not have it.

    >>> write_part(Moment(month=3), "month_abbr", "en", "upper")
    'MAR'
    """
    known = PARTS.get(part)
    if known is not None:
        return known[1](moment)
    number = moment.month if part.startswith("month") else _weekday(moment)
    if number is None:
        return None
    name = NAMES[part.removesuffix("_dot"), language][number - 1]
    text = CASES[case](name)
    if not part.endswith("_dot"):
        return text
    # A name that is not shortened takes no full stop: mai, juin.
    full = NAMES[part.split("_")[0] + "_name", language][number - 1]
    return text if name == full else text + "."
