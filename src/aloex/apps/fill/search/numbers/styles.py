"""Ways to write numbers that give exactly the texts found in the outputs of the examples."""

from collections.abc import Sequence
from decimal import Decimal
from itertools import product
from typing import Any

from aloex.apps.fill.expressions.numbers.text import write_number
from aloex.apps.fill.search.numbers.tokens import Token

MAX_STYLES = 8

Style = dict[str, Any]  # the arguments of `write_number` that are not at their default


def styles(
    values: Sequence[Decimal | None], tokens: Sequence[Sequence[Token]], marks: str
) -> list[Style]:
    """Styles under which every example's value is a number of its output.

    Args:
        values: of the examples, then of other rows.
        tokens: for each example those of its output that have its value.
        marks: of the column the number comes from, for what no example shows.
    """
    found = []
    for inner in (False, True):  # a part of 20,30 in one example must be such a part in all
        alike = [[token for token in each if token.inner == inner] for each in tokens]
        if all(alike):
            found += _styles(values, alike, marks)
    return found[:MAX_STYLES]


def _styles(
    values: Sequence[Decimal | None], tokens: Sequence[Sequence[Token]], marks: str
) -> list[Style]:
    texts = [{token.text for token in each} for each in tokens]
    seen = [token for each in tokens for token in each]
    is_whole = all(value is None or not value % 1 for value in values)
    options = product(
        _decimals(tokens),
        _marks(seen, marks),
        _groups(seen, values, marks),
        sorted({token.width for token in seen} | {0}),
        sorted({token.plus for token in seen}),
        sorted({token.negative for token in seen} - {""}) or ["-"],
    )
    found: list[Style] = []
    for decimals, mark, (group, lakhs), width, plus, negative in options:
        if mark == group:
            continue
        if is_whole and not decimals:
            mark = "."  # never written
        style = {
            "decimals": decimals,
            "mark": mark,
            "group": group,
            "lakhs": lakhs,
            "width": width,
            "plus": plus,
            "negative": negative,
        }
        if all(write_number(v, **style) in t for v, t in zip(values, texts, strict=False)):  # pyright: ignore
            found.append(style)
    return found


def _decimals(tokens: Sequence[Sequence[Token]]) -> list[int | None]:
    """The numbers of decimals that all examples have, and None: as many as needed, also none."""
    shared = set.intersection(*({token.decimals for token in each} for each in tokens))
    return [*sorted(shared - {0}), None]


def _marks(seen: Sequence[Token], marks: str) -> list[str]:
    return sorted({token.mark for token in seen} - {""}) or [marks[0]]


def _groups(
    seen: Sequence[Token], values: Sequence[Decimal | None], marks: str
) -> list[tuple[str, bool]]:
    """What separates thousands: as seen; if no example is large but another row is, both ways."""
    found = {(token.group, token.lakhs) for token in seen} | {("", False)}
    shown = any(token.whole_digits > 3 for token in seen)
    if not shown and any(value is not None and abs(value) >= 1000 for value in values):
        found.add(("," if _marks(seen, marks) == ["."] else ".", False))
    return sorted(found)
