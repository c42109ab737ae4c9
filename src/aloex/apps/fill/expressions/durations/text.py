"""Durations in texts: `1:30`, `2h 15m`, `PT1H30M`, `95 min`, as seconds, and back.

A clock of two numbers is hours and minutes or minutes and seconds: the column says which, not the
cell. A layout is a text with fields in braces: `{h}:{mm}`, `{h} h {m} min`. Its first field counts
on, so 25 hours are 25:00; `{mm}` has two digits.
"""

import re
from decimal import Decimal

from aloex.apps.fill.expressions.numbers.arithmetic import EXACT, ROUNDINGS

MAX_CHARS = 200  # of a cell; what comes after is not looked at
UNITS = {"d": 86400, "h": 3600, "m": 60, "s": 1}  # in seconds
UNIT_NAMES = {"day": 86400, "hour": 3600, "minute": 60, "second": 1}

_NUMBER = r"[0-9]{1,9}(?:[.,][0-9]{1,9})?"
_WORDS = {
    "d": r"d|days?|tage?|jours?|d[ií]as?",
    "h": r"h|hrs?\.?|hours?|std\.?|stunden?|heures?|horas?|ore|uur",
    "m": r"m|mins?\.?|minutes?|minuten?|minutos?|minuti|'",
    "s": r"s|secs?\.?|seconds?|sek\.?|sekunden?|secondes?|segundos?|\"",
}
_GAP = r"[\s,;]*(?:(?:and|und|et|y|e|en)\s)?T?"
_PHRASE = _GAP.join(
    rf"(?:(?P<{unit}>{_NUMBER})\s?(?:{words})(?![^\W\d_T]))?" for unit, words in _WORDS.items()
)
_CLOCK = (
    r"(?P<first>[0-9]{1,4}):(?P<second>[0-5][0-9])(?::(?P<third>[0-5][0-9]))?(?![0-9:]|\s?[ap]\.?m)"
)
_FRENCH = r"(?P<hours>[0-9]{1,4})\s?h\s?(?P<minutes>[0-5][0-9])(?!\w|\s?m|')"  # 1h30
PATTERN = re.compile(
    rf"(?<![\w.,:])(?:{_CLOCK}|{_FRENCH}|(?:PT?)?(?=[0-9]){_PHRASE})", re.IGNORECASE
)
_FIELD = re.compile(r"\{([dhms])(\1?)\}([^{]*)")


def read_durations(text: str, clock: str) -> tuple[Decimal, ...]:
    """The durations of a text in seconds; `clock` is the first unit of 1:30, "h" or "m".

    >>> [int(seconds) for seconds in read_durations("1:30 or 2h 15m", "h")]
    [5400, 8100]
    """
    found = []
    for match in PATTERN.finditer(text[:MAX_CHARS]):
        if match["first"]:
            of_hours = clock == "h" or match["third"] is not None
            names = "hms" if of_hours else "ms"
            given = dict(zip(names, match.group("first", "second", "third"), strict=False))
        elif match["hours"]:
            given = {"h": match["hours"], "m": match["minutes"]}
        else:
            given = {unit: match[unit] for unit in UNITS}
        parts = [Decimal(n.replace(",", ".")) * UNITS[unit] for unit, n in given.items() if n]
        if parts:
            found.append(sum(parts, Decimal(0)))
    return tuple(found)


def read_duration(text: str, k: int, clock: str) -> Decimal | None:
    """The k-th duration of a text in seconds, from 0."""
    found = read_durations(text, clock)
    return found[k] if k < len(found) else None


def write_duration(
    seconds: Decimal, layout: str, short: bool = False, rounding: str = ""
) -> str | None:
    """A duration in a layout, or None if it is no whole number of the layout's smallest unit.

    Args:
        seconds: the duration.
        layout: fields in braces and what stands between them.
        short: leave out fields that are 0, with what stands behind them.
        rounding: one of `ROUNDINGS`, by which it is made whole; "" for none.

    >>> write_duration(Decimal(7500), "{h}h {mm}m")
    '2h 05m'
    """
    fields = _FIELD.findall(layout)
    smallest = UNITS[fields[-1][0]]
    whole = EXACT.divide(seconds.copy_abs(), Decimal(smallest))
    if rounding:
        whole = whole.to_integral_value(ROUNDINGS[rounding], EXACT)
    if not whole.is_finite() or EXACT.remainder(whole, Decimal(1)):
        return None
    left = int(whole) * smallest
    text = ""
    for unit, padded, behind in fields:
        number, left = divmod(left, UNITS[unit])
        if number or not short:
            text += f"{number:02d}{behind}" if padded else f"{number}{behind}"
    if not text:  # all fields are 0
        unit, padded, behind = fields[-1]
        text = f"0{behind}"
    sign = "-" if seconds < 0 and whole else ""
    return sign + layout[: layout.index("{")] + (text.rstrip(" ,;") if short else text)


def in_unit(seconds: Decimal, unit: str) -> Decimal:
    """Seconds as a number of a unit."""
    return EXACT.divide(seconds, Decimal(UNIT_NAMES[unit]))


def in_seconds(value: Decimal, unit: str) -> Decimal:
    """A number of a unit as seconds; thirds of an hour and the like come back whole."""
    seconds = EXACT.multiply(value, Decimal(UNIT_NAMES[unit]))
    return seconds.quantize(Decimal("1e-20"), context=EXACT)
