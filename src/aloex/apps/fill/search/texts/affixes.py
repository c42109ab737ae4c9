"""Texts at the start or end of a cell that are taken off, or put there if they are missing."""

from collections.abc import Iterator, Sequence

from aloex.apps.fill.expressions.affixes import WithAffix, WithoutAffix
from aloex.apps.fill.expressions.base import Expression

MAX_AFFIX = 20  # characters


def affixes(base: Expression, pairs: Sequence[tuple[str, str]]) -> Iterator[Expression]:
    """Expressions that turn each text of the pairs into the other one."""
    found = dict.fromkeys(each for x, y in pairs for each in _taken_off(x, y))
    for text, at_end in found:
        strip = str.removesuffix if at_end else str.removeprefix
        if all(strip(x, text) == y for x, y in pairs):
            yield WithoutAffix(base, text, at_end)
    if all(x != y for x, y in pairs):
        return  # a text that is added everywhere is a constant
    found = dict.fromkeys(each for x, y in pairs for each in _taken_off(y, x))
    for text, at_end in found:
        has = str.endswith if at_end else str.startswith
        if all(has(y, text) and (x == y or not has(x, text)) for x, y in pairs):
            yield WithAffix(base, text, at_end)


def _taken_off(long: str, short: str) -> Iterator[tuple[str, bool]]:
    """The text that one has before or behind the other, and whether behind it."""
    number = len(long) - len(short)
    if not short or not 0 < number <= MAX_AFFIX:
        return
    if long.endswith(short):
        yield long[:number], False
    if long.startswith(short):
        yield long[len(short) :], True
