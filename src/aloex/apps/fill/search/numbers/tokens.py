"""Numbers in the outputs of examples, under every habit of writing them.

"[20,30)" holds 20 and 30, but also 20.30 with a decimal comma: only the examples together tell.
"""

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple

from aloex.apps.fill.expressions.numbers.ordinals import ordinal
from aloex.apps.fill.expressions.numbers.text import (
    APOSTROPHES,
    GROUP_SPACES,
    MAX_DIGITS,
    MINUS_SIGNS,
)

MAX_TOKENS = 24  # an output with more is no text made of numbers
MAX_OUTPUT = 200

_INTEGER = re.compile(r"[0-9]+")
_BROKEN = {
    mark: re.compile(rf"(?<![0-9.,])[0-9]+\{mark}[0-9]+(?![0-9]|[.,][0-9])") for mark in ".,"
}
_GROUPED = re.compile(
    rf"(?<![0-9.,:])(?!0)[0-9]{{1,3}}([.,{APOSTROPHES}{GROUP_SPACES} ])[0-9]{{3}}(?:\1[0-9]{{3}})*"
    r"(?:(?!\1)[.,][0-9]+)?(?![0-9]|[.,][0-9])"
)
_LAKHS = re.compile(
    r"(?<![0-9.,])[0-9]{1,2}(?:(,)[0-9]{2})(?:,[0-9]{2})*,[0-9]{3}(?:\.[0-9]+)?(?![0-9]|[.,][0-9])"
)


class Token(NamedTuple):
    """A number in an output and how it is written there; "" for marks that it does not show."""

    start: int
    text: str
    value: Decimal
    decimals: int
    mark: str
    group: str
    lakhs: bool
    width: int  # digits of an integer part that begins with zeros, else 0
    whole_digits: int
    plus: bool
    negative: str  # how a number below 0 is written, "" for others
    ordinal: bool = False  # as in 21st
    inner: bool = False  # a part of what may also be read as one number: the 20 of 20,30


def number_tokens(output: str) -> list[Token]:
    """All numbers of an output, a part of it once for each way to read it."""
    if len(output) > MAX_OUTPUT:
        return []
    found: list[Token] = []
    for mark, pattern in _BROKEN.items():
        for match in pattern.finditer(output):
            found += _tokens(output, match, mark, "")
    for lakhs, pattern in ((False, _GROUPED), (True, _LAKHS)):
        for match in pattern.finditer(output):
            tail = match[0][-_tail_length(match[0]) - 1]
            mark = tail if tail in ".," and tail != match[1] else ""
            found += _tokens(output, match, mark, match[1], lakhs)
    for match in _INTEGER.finditer(output):
        around = [token for token in found if _covers(token, match)]
        if not any(_is_one_number(token) for token in around):
            found += [
                token._replace(inner=bool(around)) for token in _tokens(output, match, "", "")
            ]
    return found if len(found) <= MAX_TOKENS else []


def by_value(tokens: Sequence[Token]) -> dict[Decimal, list[Token]]:
    """The tokens of each value."""
    found: dict[Decimal, list[Token]] = {}
    for token in tokens:
        found.setdefault(token.value, []).append(token)
    return found


def _covers(token: Token, match: re.Match[str]) -> bool:
    return token.start <= match.start() and match.end() <= token.start + len(token.text)


def _is_one_number(token: Token) -> bool:
    """Whether a number with marks cannot be a list: 1.5 and 1,234.50, not 20,30 or 100 200."""
    return token.mark == "." or bool(token.mark and token.group) or token.group in tuple(".'’")


def _tail_length(text: str) -> int:
    return len(text) - len(text.rstrip("0123456789"))


def _tokens(
    output: str, match: re.Match[str], mark: str, group: str, lakhs: bool = False
) -> list[Token]:
    """The number that was matched, alone and with the sign or the parentheses around it."""
    text, start = match[0], match.start()
    whole, _, fraction = text.rpartition(mark) if mark else (text, "", "")
    digits = re.sub("[^0-9]", "", whole)
    if len(digits) + len(fraction) > MAX_DIGITS:
        return []
    value = Decimal(f"{digits}.{fraction}" if fraction else digits)
    width = len(digits) if digits[0] == "0" and len(digits) > 1 else 0
    is_ordinal = text == digits and output.startswith(ordinal(int(digits)), start)
    plain = Token(
        start,
        text,
        value,
        len(fraction),
        mark,
        group,
        lakhs,
        width,
        len(digits),
        plus=False,
        negative="",
        ordinal=is_ordinal,
    )
    if not value:
        return [plain]
    before, after = output[start - 1 : start], output[match.end() : match.end() + 1]
    found = [plain]
    stands_free = start < 2 or not (output[start - 2].isalnum() or output[start - 2] in ").,%")
    if before and before in MINUS_SIGNS and stands_free:
        signed = plain._replace(start=start - 1, text=before + text, value=-value, negative=before)
        return [signed]
    if before == "+" and stands_free:
        found.append(plain._replace(start=start - 1, text=before + text, plus=True))
    if before == "(" and after == ")":
        negative = plain._replace(start=start - 1, text=f"({text})", value=-value, negative="()")
        found.append(negative)
    if after == "-" and not output[match.end() + 1 : match.end() + 2].strip():
        found.append(plain._replace(text=text + after, value=-value, negative="5-"))
    return found
