"""Which parts of a date stand in an output, as a person would see them there.

The "01" inside of 2019 is no month and the "Mar" inside of Market no name. Numbers without leading
zeros and letters stand alone; digits of a fixed width may stand beside other digits, in pairs from
either end of the run, as in 20190305. The 19 of 2019 is no two-digit year.
"""

import re
from collections.abc import Iterable

from aloex.apps.fill.expressions.dates.layouts import Moment
from aloex.apps.fill.expressions.dates.names import LISTS_WITH_NAME
from aloex.apps.fill.expressions.dates.parts import (
    CASES,
    ENDS,
    FIXED_WIDTH,
    PARTS,
    RARE,
    write_part,
)

Style = tuple[str, str, str]  # part, language, case

# A rounded date does not show itself in these.
DERIVED = RARE | {"quarter", "half", "decade"}

_WORD = re.compile(r"[^\W\d_]+(?:-feira)?", re.IGNORECASE)
_DIGITS = re.compile(r"[0-9]+")


class DateFits:
    """The parts of dates that stand in one output, each text looked for once.

    Names are looked for in the languages and cases of the words of all outputs.
    """

    def __init__(self, output: str, outputs: Iterable[str]):
        self.output = output
        styles = [(part, "", "") for part in PARTS] + sorted(_named_styles(outputs))
        self._styles = {
            "all": [style for style in styles if style[0] not in ENDS],
            "direct": [style for style in styles if style[0] not in DERIVED | ENDS],
            "end": [style for style in styles if style[0] not in DERIVED],
        }
        self._texts: dict[tuple[Moment, str], dict[Style, str]] = {}
        self._stands: dict[tuple[str, bool, bool], bool] = {}

    def texts(self, moment: Moment, which: str = "all") -> dict[Style, str]:
        """Every style in which a part of the moment stands in the output, with its text.

        Args:
            moment: a date or time.
            which: "direct" leaves out parts that follow from others, such as the quarter; "end"
                as well, but has the hour 24.
        """
        key = (moment, which)
        if key not in self._texts:
            self._texts[key] = {
                style: text
                for style in self._styles[which]
                if (text := write_part(moment, *style)) and self._has(text, style[0])
            }
        return self._texts[key]

    def _has(self, text: str, part: str) -> bool:
        key = (text, part in FIXED_WIDTH, part == "yy")
        if key not in self._stands:
            self._stands[key] = any(
                _is_whole(text, self.output, start, part) for start in _starts(text, self.output)
            )
        return self._stands[key]


def _starts(text: str, output: str) -> Iterable[int]:
    start = output.find(text)
    while start >= 0:
        yield start
        start = output.find(text, start + 1)


def _is_whole(text: str, output: str, start: int, part: str) -> bool:
    end = start + len(text)
    before, after = output[:start][-1:], output[end : end + 1]
    if (text[0].isalpha() and before.isalpha()) or (text[-1].isalpha() and after.isalpha()):
        return False
    if part not in FIXED_WIDTH:
        return not (text[0].isdigit() and before.isdigit()) and not (
            text[-1].isdigit() and after.isdigit()
        )
    run = next(match for match in _DIGITS.finditer(output) if match.end() > start)
    if part == "yy" and run.end() - run.start() == 4:
        return False
    return (start - run.start()) % 2 == 0 or (run.end() - end) % 2 == 0


def _named_styles(outputs: Iterable[str]) -> set[Style]:
    """Styles of the names of months and weekdays among the outputs' words."""
    found = set()
    for output in outputs:
        for match in _WORD.finditer(output):
            word = match.group()
            name = word.lower()
            cases = [case for case, write in CASES.items() if write(name) == word]
            for kind, language in LISTS_WITH_NAME.get(name, ()) if cases else ():
                found.add((kind, language, cases[0]))
                if kind.endswith("abbr") and output[match.end() : match.end() + 1] == ".":
                    found.add((f"{kind}_dot", language, cases[0]))
    return found
