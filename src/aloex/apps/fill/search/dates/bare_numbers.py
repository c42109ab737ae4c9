"""Columns of numbers that may be dates or times."""

import re
from collections.abc import Sequence

from aloex.apps.fill.expressions.dates.bare_numbers import BARE_NUMBERS, read_bare_number

LEAST_READ = 0.8  # share of the cells that are not empty
_YEAR = re.compile(r"\s*(?:19|20)[0-9]{2}\s*")


def bare_orders(texts: Sequence[str], num_examples: int) -> list[str]:
    """The orders in which all examples and most other cells of a column are numbers alone."""
    if not all(text.strip()[:1].isdecimal() for text in texts[:num_examples]):
        return []
    cells = [text for text in texts if text.strip()]
    if all(map(_YEAR.fullmatch, cells)):
        return []  # not the clock's: 2019 is a year
    found = []
    for order in BARE_NUMBERS:
        if all(read_bare_number(text, order) for text in texts[:num_examples]):
            read = sum(read_bare_number(cell, order) is not None for cell in cells)
            found += [order] if read >= LEAST_READ * len(cells) else []
    return found
