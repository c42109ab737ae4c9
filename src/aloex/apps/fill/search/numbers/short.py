"""Numbers that the outputs write with a K or M behind."""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal

from aloex.apps.fill.expressions.base import Expression
from aloex.apps.fill.expressions.numbers.arithmetic import linear
from aloex.apps.fill.expressions.numbers.short import ShortNumber, write_short
from aloex.apps.fill.expressions.numbers.values import CellNumber, Linear
from aloex.apps.fill.search.numbers.columns import Source
from aloex.apps.fill.search.numbers.targets import apply

MAX_SOURCES = 6
_SHORT = re.compile(
    r"[0-9](?:([.,])([0-9]{1,3}))?(\s?)(k|mn?|mio|bn?|mrd)(?![^\W_])", re.IGNORECASE
)
_POWERS = {"k": 0, "m": 1, "mn": 1, "mio": 1, "b": 2, "bn": 2, "mrd": 2}
_THOUSANDS = re.compile(r"[0-9]\s?k(?![^\W_])", re.IGNORECASE)


def short_numbers(sources: Sequence[Source], outputs: Sequence[str]) -> list[Expression]:
    """Numbers shortened as in the outputs, at least one of which has a letter for it."""
    found = [match for output in outputs for match in _SHORT.finditer(output)]
    letters = {_POWERS[match[4].lower()] for match in found}
    if not letters or (len(letters) == 1 and letters != {0}):
        return []  # all in millions: then less than a million is 0.8M, which scaling says
    suffixes = _suffixes(found)
    decimals = max(len(match[2] or "") for match in found)
    mark = next((match[1] for match in found if match[1]), ".")
    written: list[Expression] = []
    for source in sources[:MAX_SOURCES]:
        examples = source.examples(len(outputs))
        for keep_zeros in (False, True) if decimals else (False,):
            texts = [write_short(x, suffixes, decimals, mark, keep_zeros) for x in examples]
            if all(text and text in out for text, out in zip(texts, outputs, strict=True)):
                short = ShortNumber(source.expression, suffixes, decimals, mark, keep_zeros)
                written.append(short)
    return written


def in_thousands(sources: Sequence[Source], outputs: Sequence[str]) -> Iterator[Source]:
    """Sources by a thousand, if all outputs count in thousands: 25k-50k."""
    if all(map(_THOUSANDS.search, outputs)):
        for source in sources:
            if isinstance(source.expression, CellNumber):
                expression = Linear(source.expression, divide="1000")
                by_1000 = (Decimal(1), Decimal(0), Decimal(1000))
                yield apply(source, lambda x, c=by_1000: linear(x, *c), expression)


def _suffixes(found: Sequence[re.Match[str]]) -> tuple[str, ...]:
    """A suffix for each power of a thousand: as seen, or of the usual ones."""
    gap = found[0][3]
    lower = any(match[4] in ("m", "b", "bn") for match in found)
    suffixes = ["K", "m" if lower else "M", "bn" if lower else "B"]
    for match in found:
        suffixes[_POWERS[match[4].lower()]] = match[4]
    return tuple(gap + suffix for suffix in suffixes)
