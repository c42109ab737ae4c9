"""Numbers in texts: how cells of many countries write them, and how to write them.

The decimal mark is the column's, not the cell's, so a reader is told the `marks`: the decimal mark,
"." or ",", and then a space if spaces separate thousands. The other of "." and "," separates
thousands too, and so do apostrophes and the spaces that do not break a line. Values are decimals,
never floats.
"""

import re
import unicodedata
from decimal import Decimal
from functools import cache, lru_cache
from typing import NamedTuple

MAX_DIGITS = 40  # a longer run of digits is no quantity: it has no value, but it is counted
CACHED_LENGTH = 200  # longer cells are read anew each time, so that the cache stays small
GROUP_SPACES = "\u00a0\u202f\u2009"  # no-break space, narrow no-break space, thin space
APOSTROPHES = "'’"
MINUS_SIGNS = "−–-"  # the plain one last: inside [] it must not make a range
CURRENCY_SIGNS = "$¢£¤¥֏؋৳฿៛₠-⃀﷼"

_CURRENCY = rf"(?:[A-Z]{{0,3}}[{CURRENCY_SIGNS}]|[A-Z]{{3}})[ {GROUP_SPACES}]?"
_BEFORE_PARENTHESES = re.compile(rf"\s*(?:{_CURRENCY})?\(\s*(?:{_CURRENCY})?")
_AFTER_PARENTHESES = re.compile(rf"\s*(?:%|{_CURRENCY})?\)\s*(?:%|{_CURRENCY})?\s*")
_WIDE_FORMS = {
    ord(wide): narrow for wide, narrow in zip("．，－＋％（）＄￥￡", ".,-+%()$¥£", strict=True)
}


class ReadNumber(NamedTuple):
    """A number found in a text: its value (None if too long), digits and sign as given."""

    value: Decimal | None
    digits: str
    sign: str


def read_numbers(text: str, marks: str) -> tuple[ReadNumber, ...]:
    """All numbers of a text from left to right, under the column's marks.

    >>> [str(number.value) for number in read_numbers("-$1,234.50 (3 items)", ".")]
    ['-1234.50', '3']
    >>> [str(number.value) for number in read_numbers("1 234,5 kg", ", ")]
    ['1234.5']
    """
    whole, mark, fraction = text.partition(marks[0])
    if _is_plain(text, whole, mark, fraction):
        value = Decimal(f"{whole}.{fraction}" if mark else whole)
        return (ReadNumber(value, text, ""),)
    return (_read_cached if len(text) <= CACHED_LENGTH else _read)(text, marks)


def _is_plain(text: str, whole: str, mark: str, fraction: str) -> bool:
    """Whether a text is digits, perhaps a mark, and digits: most are, and need no search."""
    return (
        whole.isdigit()
        and (fraction.isdigit() if mark else True)
        and len(text) <= MAX_DIGITS
        and text.isascii()
    )


def read_number(text: str, k: int, marks: str) -> Decimal | None:
    """The k-th number of a text, from the left (0, 1, ...) or from the right (-1, -2, ...)."""
    numbers = read_numbers(text, marks)
    return numbers[k].value if -len(numbers) <= k < len(numbers) else None


def write_number(
    value: Decimal,
    *,
    decimals: int | None = None,
    mark: str = ".",
    group: str = "",
    lakhs: bool = False,
    width: int = 0,
    plus: bool = False,
    negative: str = "-",
) -> str | None:
    """A number as text, or None if it has more decimals than are to be written.

    Args:
        value: the number, finite.
        decimals: how many, or None for as many as the value needs.
        mark: the decimal mark.
        group: what separates thousands, if anything.
        lakhs: groups of two digits beyond the thousands, as in 12,34,567.
        width: zeros are put before the integer part until it has so many digits.
        plus: write + before numbers above 0.
        negative: "()" writes (5) for -5, "5-" writes 5-, any other text is the sign before.
    """
    whole, _, fraction = format(value.copy_abs(), "f").partition(".")
    fraction = fraction.rstrip("0")
    if decimals is not None:
        if len(fraction) > decimals:
            return None
        fraction = fraction.ljust(decimals, "0")
    whole = _grouped(whole.zfill(width), group, 2 if lakhs else 3)
    text = f"{whole}{mark}{fraction}" if fraction else whole
    if value > 0:
        return f"+{text}" if plus else text
    if value == 0:  # also -0, what rounding -0.4 gives
        return text
    return {"()": f"({text})", "5-": f"{text}-"}.get(negative, negative + text)


def _grouped(whole: str, group: str, size: int) -> str:
    if not group or len(whole) <= 3:
        return whole
    head, parts = whole[:-3], [whole[-3:]]
    while head:
        head, part = head[:-size], head[-size:]
        parts.append(part)
    return group.join(reversed(parts))


def _read(text: str, marks: str) -> tuple[ReadNumber, ...]:
    plain = text if text.isascii() else to_ascii_digits(text, marks[0])
    found = list(_pattern(marks).finditer(plain))
    if len(found) == 1 and not found[0]["sign"] and _in_parentheses(plain, found[0]):
        return (_number(text, found[0], marks[0], negative=True),)
    return tuple(_number(text, match, marks[0], negative=False) for match in found)


_read_cached = lru_cache(maxsize=1 << 14)(_read)


def to_ascii_digits(text: str, mark: str) -> str:
    """Digits of any script as 0 to 9, wide and Arabic marks as ours; the length stays."""
    text = text.translate(_WIDE_FORMS).replace("٫", mark).replace("٬", "," if mark == "." else ".")
    return "".join(
        str(unicodedata.decimal(char)) if char.isdecimal() and not char.isascii() else char
        for char in text
    )


def _number(text: str, match: re.Match[str], mark: str, *, negative: bool) -> ReadNumber:
    whole, _, fraction = match["digits"].partition(mark)
    whole = re.sub(r"\D", "", whole)
    negative |= (match["sign"] or "+")[0] in MINUS_SIGNS or bool(match["after"])
    value = Decimal(f"{'-' if negative else ''}{whole or '0'}{'.' if fraction else ''}{fraction}")
    too_long = len(whole) + len(fraction) > MAX_DIGITS
    as_given = text[match.start("digits") : match.end("digits")]
    return ReadNumber(None if too_long else value, as_given, match["sign"] or "")


def _in_parentheses(text: str, match: re.Match[str]) -> bool:
    """Whether the whole cell is one number in parentheses: a negative, no phone number."""
    before, after = text[: match.start()], text[match.end() :]
    return bool(_BEFORE_PARENTHESES.fullmatch(before) and _AFTER_PARENTHESES.fullmatch(after))


@cache
def _pattern(marks: str) -> re.Pattern[str]:
    """Numbers under the marks. Repetitions are bounded or possessive, so time is linear."""
    mark, group = re.escape(marks[0]), re.escape("," if marks[0] == "." else ".")
    groups = f"[{group}{APOSTROPHES}{GROUP_SPACES}{' ' if ' ' in marks else ''}]"
    # Part of a list of more numbers, such as 12.05.2019 or 1,2,345, is no grouped or broken number.
    alone = rf"(?<!\d{groups})(?<!\d{mark})"
    three = "[0-9]{3}"
    thousands = (
        rf"{alone}[0-9]{{1,3}}(?P<g>{groups}){three}(?:(?P=g){three}){{0,15}}+(?!(?P=g)?[0-9])"
    )
    lakhs = rf"{alone}[0-9]{{1,2}}(?:{group}[0-9]{{2}}){{1,9}}{group}{three}(?!{group}?[0-9])"
    fraction = rf"{mark}[0-9]++(?!{mark}[0-9])"
    bare_fraction = rf"(?<![\w.,)]){mark}[0-9]++(?!{mark}[0-9])"
    sign = rf"(?<![\w.,)\]%+{MINUS_SIGNS}])[+{MINUS_SIGNS}](?:{_CURRENCY})?(?={mark}?[0-9])"
    return re.compile(
        rf"(?P<sign>{sign})?+"
        rf"(?P<digits>(?:{thousands}|{lakhs}|(?<!\d{mark})[0-9]++)(?:{fraction})?"
        rf"|[0-9]++|(?:{bare_fraction}))"
        rf"(?P<after>[{MINUS_SIGNS}](?=\s*$))?"
    )
