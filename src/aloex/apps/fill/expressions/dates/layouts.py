"""Dates and times in a text: which layouts are read, and what they say.

Every layout is a piece of one regular expression, compiled once, so that a cell is read in a single
scan. Names of months and weekdays become one private character each before the scan. A date whose
parts are numbers ("5/3/2019") means different days in different countries: it is read in an
`order`. "DMY", "MDY" and "YMD" say which number is which; "ANY" reads only dates that need no
order, such as 2019-03-05 and 5 March 2019. The other three read those as well.

What is missing stays missing: nothing comes from today's date. Two-digit years: 00-68 are
2000-2068, 69-99 are 1969-1999. Offsets from UTC are skipped: times are the clock's, as written.
"""

import re
from calendar import isleap
from functools import lru_cache
from typing import NamedTuple

from aloex.apps.fill.expressions.dates.names import MONTHS, WEAK_MONTHS, WEEKDAYS

ORDERS = ("DMY", "MDY", "YMD")
FIRST_OF_1900S = 69  # two-digit years from here on are in the 1900s
MAX_CHARS = 500  # of a cell; what comes after is not looked at
MAX_MOMENTS = 8  # dates and times of a cell


class Moment(NamedTuple):
    """A date, a time or both; a part that the text does not give is None."""

    year: int | None = None
    month: int | None = None
    day: int | None = None
    weekday: int | None = None  # ISO, Monday is 1; only if the text names it
    hour: int | None = None
    minute: int | None = None
    second: int | None = None
    fraction: str | None = None  # digits after the second


def find_moments(text: str, order: str) -> tuple[Moment | None, ...]:
    """The dates and times of a text, from left to right.

    A date that does not exist, or not in this order, is None and keeps its number.

    >>> find_moments("due 5/3/2019", "DMY") == (Moment(year=2019, month=3, day=5),)
    True
    >>> find_moments("31 February 2019", "DMY")
    (None,)
    """
    return _moments(text if len(text) <= MAX_CHARS else text[:MAX_CHARS], order)


_ISO = re.compile(r"([12]\d{3})-(\d\d)-(\d\d)(?: ([01]\d|2[0-3]):([0-5]\d):([0-5]\d))?", re.ASCII)


@lru_cache(maxsize=4096)
def _moments(text: str, order: str) -> tuple[Moment | None, ...]:
    known = _ISO.fullmatch(text)
    if known is not None:  # the usual layout of long tables, which has one reading: a short way
        year, month, day, hour, minute, second = map(_int, known.groups())
        if _exists(year, month, day):
            return (Moment(year, month, day, None, hour, minute, second),)
    return tuple([_moment(found, order) for found in _find(text)])


def needs_order(text: str) -> bool:
    """Whether a date of the text is read differently, or only, in an order."""
    return any("a" in found for found in _find(text[:MAX_CHARS]))


def digits_of_moments(text: str) -> tuple[bool, list[tuple[int, int]]]:
    """Whether a text holds a day, and where its dates and times stand; only times, if it does not.

    Digits are counted and not characters, since names of months are one character in the scan.

    >>> digits_of_moments("no. 12 of 3 Mar 2021: 84.20")
    (True, [(2, 7)])
    """
    plain = _plain(text[:MAX_CHARS])
    found: list[tuple[str, int, int]] = []
    for match in _PATTERN.finditer(plain):
        start = sum(map(str.isdecimal, plain[: match.start()]))
        end = start + sum(map(str.isdecimal, match.group()))
        found.append(("".join(_read_fields(match)), start, end))
    dated = any(set(f) >= {"a", "b"} or ("d" in f and set(f) & {"m", "M"}) for f, _, _ in found)
    shown = set("HmMab") if dated else {"H"}
    return dated, [(start, end) for fields, start, end in found if set(fields) & shown]


_DAY, _YEAR4 = r"(\d\d?)", r"([12]\d{3})"
_YEAR = r"(?:'?(\d\d)|([12]\d{3}))(?!\d|:\d|[.,]\d|\s?[ap]\.?m|h\d|\s[\ue001-\ue01c])"
_MONTH = "([\ue001-\ue00c\ue011-\ue01c])"
_HOUR, _SIXTY = r"([01]?\d|2[0-3])", r"([0-5]\d)"
_CLOCK2 = r"([01]\d|2[0-3])([0-5]\d)([0-5]\d)?"
_GAP = r"[\s\-/.,]*(?:de[l]?\s|of\s|d')?\s*"
_ORDINAL = r"(?:st|nd|rd|th|er|[.ºª°])?"
_AMPM = r"([ap])(?:\.\s?|\s)?m(?![^\W\d_])\.?"
_NOT_AFTER = r"(?<!\d)(?<!\d[./])"
_NOT_BEFORE = r"(?!\d|[./\-]\d)"

# (fields, pattern): one group for each field. Fields: Y year, y two-digit year, M named month,
# m month, d day, H hour, N minute, S second, F fraction, P a or p, W weekday,
# a b numbers whose meaning depends on the order, c the third such with two digits, s separator.
_LAYOUTS = (
    ("YmdHNSF", r"((?:19|20)\d\d)(0[1-9]|1[0-2])([0-2]\d|3[01])[T_ \-]?" + _CLOCK2
        + r"(?:\.(\d{1,9}))?(?!\d)"),
    ("Ymd", r"((?:19|20)\d\d)(0[1-9]|1[0-2])([0-2]\d|3[01])(?!\d)"),
    ("abY", r"(\d\d)(\d\d)((?:19|20)\d\d)(?!\d)"),
    ("Ysmd", _YEAR4 + r"(?P<s>[\-/. ])" + _DAY + r"(?P=s)" + _DAY + _NOT_BEFORE),
    ("Ymd", _YEAR4 + "年" + _DAY + "月" + _DAY + "日"),
    ("asbY", _NOT_AFTER + _DAY + r"(?P<s>[\-/. ]|\. )" + _DAY + r"(?P=s)" + _YEAR4 + r"(?!\d)"),
    ("asbc", _NOT_AFTER + r"(?<!\d-)(?<!\bv)" + _DAY + r"(?P<s>[\-/.])" + _DAY + r"(?P=s)'?(\d\d)"
        + _NOT_BEFORE),
    ("dMYHNS", _DAY + "/" + _MONTH + "/" + _YEAR4 + ":" + _HOUR + ":" + _SIXTY + ":" + _SIXTY),
    ("YMd", _YEAR4 + _GAP + _MONTH + r"\.?" + _GAP + _DAY + r"(?!\d|:\d)"),
    ("dMyY", _DAY + _ORDINAL + _GAP + _MONTH + r"\.?(?:" + _GAP + _YEAR + ")?"),
    ("MyY", _MONTH + r"(?:\.?\s?'|-)" + _YEAR + r"(?![\-/])"),
    ("MdyY", _MONTH + r"\.?[\s\-/.,]*" + _DAY + r"(?:st|nd|rd|th)?(?!\d|:\d|\s?[\ue001-\ue01c])"
        + r"(?:[\s\-/.,]+" + _YEAR + ")?"),
    ("MY", _MONTH + r"\.?" + _GAP + _YEAR4 + r"(?!\d)"),
    ("YM", _YEAR4 + r"[\s\-/.,]*" + _MONTH),
    ("mY", _NOT_AFTER + r"(?<!\d-)(0?[1-9]|1[0-2])[/.\-]" + _YEAR4 + _NOT_BEFORE),
    ("Ym", _YEAR4 + r"[/\-](0[1-9]|1[0-2])" + _NOT_BEFORE),
    ("HNSFP", r"(?<!\d[:.])" + _HOUR + ":" + _SIXTY
        + r"(?::" + _SIXTY + r"(?:[.,](\d{1,9}))?(?:\s?[+\-]\d\d:?\d\d(?=\Z|[\s)\]]))?)?(?!\d|:\d)"
        + r"(?:\s?([ap])(?:(?:\.\s?|\s)?m)?(?![^\W\d_])\.?)?"),
    ("HNP", _HOUR + r"[.h]" + _SIXTY + r"\s?" + _AMPM),
    ("HP", _HOUR + r"\s?" + _AMPM),
    ("HNP", r"([01]\d|2[0-3])" + _SIXTY + r"\s?" + _AMPM),
    ("HNS", r"(?<=\dT)" + _CLOCK2 + r"(?!\d)"),
    ("HN", r"([01]\d|2[0-3])" + _SIXTY + r"\s?(?:hrs?|hours|h|uhr)\b"),
    ("HN", _HOUR + r"\s?h\s?" + _SIXTY + r"?(?!\w)"),
    ("HN", _HOUR + r"(?:[.:]" + _SIXTY + r")?\s?(?:uhr|o'clock)\b"),
    ("ab", r"(?<!/)(?<!\d[.,])" + _DAY + "/" + _DAY + r"(?![\d/]|[.,]\d)"),
    ("ab", _NOT_AFTER + r"(\d\d)\.(\d\d)\.(?!\d)"),
    ("Y", r"(?<![\w.,])(1[5-9]\d\d|20\d\d)(?!\d|[.,]\d)"),
    ("M", "([\ue001-\ue00c])"),
    ("W", "([\ue021-\ue027])"),
)  # fmt: skip


def _one_pattern() -> tuple[re.Pattern[str], dict[int, str]]:
    """All layouts as one pattern, and the fields by the number of a layout's own group."""
    pieces, fields, group = [], {}, 1
    for index, (names, pattern) in enumerate(_LAYOUTS):
        piece = pattern.replace("(?P<s>", f"(?P<s{index}>").replace("(?P=s)", f"(?P=s{index})")
        pieces.append(rf"({piece})")
        fields[group] = names
        group += 1 + re.compile(piece).groups
    # Digits are not cut in the middle, and months are one character: few positions are tried.
    start = "(?=[0-9\ue001-\ue027])(?<![0-9])"
    return re.compile(f"{start}(?:{'|'.join(pieces)})", re.IGNORECASE), fields


_PATTERN, _FIELDS = _one_pattern()
_WORD = re.compile(r"[^\W\d_]{3,}(?:-feira)?")
_CHARACTERS = (
    {name: chr(0xE020 + number) for name, number in WEEKDAYS.items()}
    | {name: chr(0xE010 + number) for name, number in WEAK_MONTHS.items()}
    | {name: chr(0xE000 + number) for name, number in MONTHS.items()}
)
_SPACES = str.maketrans(dict.fromkeys("\xa0\u2009\u202f", " "))
_JOINED = re.compile(
    r"[\s,;|_@()\-–]*(?:(?:at|on|um|am|à|a las|alle|om|às|t)\b)?[\s,]*", re.IGNORECASE
)

Found = dict[str, str]


# What most columns of dates have, and nothing else: read without a search.
_USUAL_TIME = r"(?:[ T]([01][0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9]))?)?"
_USUAL = (
    ("YmdHNS", re.compile(r"([12][0-9]{3})-([0-9]{2})-([0-9]{2})" + _USUAL_TIME)),
    ("asbYHNS", re.compile(r"([0-9]{1,2})([-/.])([0-9]{1,2})\2([12][0-9]{3})" + _USUAL_TIME)),
)


def _find(text: str) -> tuple[Found, ...]:
    """Fields of every date and time of a text of at most `MAX_CHARS` characters."""
    for fields, pattern in _USUAL:
        if match := pattern.fullmatch(text):
            pairs = zip(fields, match.groups(), strict=True)
            return ({field: value for field, value in pairs if value and field != "s"},)
    return _search(text)


@lru_cache(maxsize=4096)
def _search(text: str) -> tuple[Found, ...]:
    """Fields of every date and time of a text, in which a date and its time are one."""
    text = _plain(text)
    found: list[Found] = []
    end = 0
    for match in _PATTERN.finditer(text):
        fields = _read_fields(match)
        if found and _JOINED.fullmatch(text, end, match.start()):
            if _belong_together(found[-1], fields):
                fields = found.pop() | fields
            elif set(found[-1]) == {"M"} and "d" in fields:
                found.pop()  # "mar 5 marzo": not March but a Tuesday
        found.append(fields)
        end = match.end()
        if len(found) > MAX_MOMENTS:
            break
    return tuple(found[:MAX_MOMENTS])


def _plain(text: str) -> str:
    """A text as it is scanned: names are one character each, spaces are plain."""
    return _WORD.sub(_name_character, text.translate(_SPACES))


def _name_character(match: re.Match[str]) -> str:
    word = match.group()
    return _CHARACTERS.get(word.lower(), word)


def _read_fields(match: re.Match[str]) -> Found:
    outer = match.lastindex or 0
    fields = _FIELDS[outer]
    values = match.groups()[outer : outer + len(fields)]
    return {
        field: value for field, value in zip(fields, values, strict=True) if value and field != "s"
    }


_DATE, _TIME = set("YyMmdabc"), set("HNSFP")


def _belong_together(one: Found, other: Found) -> bool:
    """Whether two neighbours are a day and its time, or a weekday and its date or time."""
    if set(one) & set(other):
        return False
    if "W" in one or "W" in other:
        return True
    names_day = set("dab")
    return bool(
        (set(one) & names_day and set(other) <= _TIME)
        or (set(one) <= _TIME and set(other) & names_day and not set(other) & _TIME)
    )


def _moment(found: Found, order: str) -> Moment | None:
    """What the fields say in an order of day, month and year."""
    if "a" in found:
        if "Y" in found or "c" not in found:
            names = {"DMY": "dmY", "MDY": "mdY"}.get(order)
        else:
            names = {"DMY": "dmy", "MDY": "mdy", "YMD": "ymd"}.get(order)
        if names is None or (names[0] == "y" and len(found["a"]) != 2):
            return None
        found = found | {name: found[k] for name, k in zip(names, "abc", strict=True) if k in found}
    month = ord(found["M"]) & 0xF if "M" in found else _int(found.get("m"))
    day = _int(found.get("d"))
    year = _full_year(found)
    if not _exists(year, month, day):
        return None
    hour = _hour(found)
    if hour is None and "H" in found:
        return None
    minute = _int(found.get("N"), 0) if "H" in found else None  # 9AM is 9:00
    weekday = ord(found["W"]) & 0xF if "W" in found else None
    return Moment(year, month, day, weekday, hour, minute, _int(found.get("S")), found.get("F"))


def _int(digits: str | None, default: int | None = None) -> int | None:
    return int(digits) if digits else default


def _full_year(found: Found) -> int | None:
    if "y" in found:
        return int(found["y"]) + (1900 if int(found["y"]) >= FIRST_OF_1900S else 2000)
    return _int(found.get("Y"))


def _exists(year: int | None, month: int | None, day: int | None) -> bool:
    if month is not None and not 1 <= month <= 12:
        return False
    if day is None:
        return True
    return 1 <= day <= (31 if month is None else _days_of_month(year or 2000, month))


_DAYS_OF_MONTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def _days_of_month(year: int, month: int) -> int:
    return _DAYS_OF_MONTHS[month - 1] + (month == 2 and isleap(year))


def _hour(found: Found) -> int | None:
    """The hour from 0 to 23; None where there is none, and for 13 a.m."""
    hour, half = _int(found.get("H")), found.get("P", "").lower()
    if hour is None or not half:
        return hour
    if hour > 12:
        return hour if half == "p" else None
    return hour % 12 + (12 if half == "p" else 0)
