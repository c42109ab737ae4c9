"""Layouts of the durations that stand in outputs."""

import re
from collections.abc import Sequence

from aloex.apps.fill.expressions.durations.text import PATTERN, UNITS

MAX_LAYOUTS = 12
_CLOCKS = {2: (("h", "m"), ("m", "s")), 3: (("h", "m", "s"),)}


def duration_layouts(outputs: Sequence[str]) -> list[tuple[str, bool]]:
    """Layouts of any output that has one, and whether fields that are 0 are left out."""
    found: dict[tuple[str, bool], None] = {}
    for output in outputs:
        for match in PATTERN.finditer(output):
            if match["first"]:
                found |= {(layout, False): None for layout in _of_clock(match)}
            else:
                for layout in _of_words(output, match):
                    found |= {(layout, False): None, (layout, True): None}
    return list(found)[:MAX_LAYOUTS]


def _of_clock(match: re.Match[str]) -> list[str]:
    numbers = [number for number in match.group("first", "second", "third") if number]
    return [
        ":".join([first, *(f"{{{unit * 2}}}" for unit in units[1:])])
        for units in _CLOCKS[len(numbers)]
        for first in _fields(numbers[0], units[0])
    ]


def _of_words(output: str, match: re.Match[str]) -> list[str]:
    """Layouts of two units or more: one alone is a number and a text."""
    given = [unit for unit in UNITS if match[unit]]
    groups = {unit: unit for unit in given}
    if match["hours"]:
        given, groups = ["h", "m"], {"h": "hours", "m": "minutes"}
    if len(given) < 2 or not all(match[group].isdigit() for group in groups.values()):
        return []
    layouts = [""]
    at = match.start()
    for unit in given:
        start, end = match.span(groups[unit])
        fields = _fields(match[groups[unit]], unit)
        layouts = [each + output[at:start] + field for each in layouts for field in fields]
        at = end
    return [each + output[at : match.end()].rstrip(" ,;") for each in layouts]


def _fields(number: str, unit: str) -> list[str]:
    """How a number may be written: with two digits always, or as many as it has."""
    plain, padded = f"{{{unit}}}", f"{{{unit * 2}}}"
    if number.startswith("0") and len(number) == 2:
        return [padded]
    return [plain] if len(number) == 1 else [plain, padded]
