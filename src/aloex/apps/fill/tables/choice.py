"""Which columns are read if the user names none and there are many."""

import re
from collections.abc import Callable, Sequence
from itertools import islice

MAX_READ = 8  # columns
MAX_EXAMPLES = 100  # that the columns are compared with
MAX_ROWS = 300  # that show how many different cells a column has
PARTS = re.compile(r"[^\W\d_]+|\d+")


def columns_to_read(
    target: int,
    has_text: Sequence[bool],
    outputs: Sequence[str | None],
    cells_of: Callable[[int], Sequence[str]],
) -> list[int]:
    """The columns with a text; of more than `MAX_READ`, those that the outputs are likeliest from.

    First those with most words and numbers of the examples' outputs. Then those with few different
    cells: a condition may ask for them. Then the nearest, those left of the target first.

    Args:
        target: the column that is filled.
        has_text: for each column, whether there is a text in it.
        outputs: of all rows; None where there is none.
        cells_of: all cells of a row, which may be too few.
    """
    others = [i for i, any_text in enumerate(has_text) if any_text and i != target]
    if len(others) <= MAX_READ:
        return others
    examples = ((i, output) for i, output in enumerate(outputs) if output is not None)
    pairs = [(cells_of(i), _parts(output)) for i, output in islice(examples, MAX_EXAMPLES)]
    rows = [cells_of(i) for i in range(min(len(outputs), MAX_ROWS))]

    def rank(column: int) -> tuple[int, bool, bool, int]:
        common = sum(_num_common(parts, _cell(cells, column)) for cells, parts in pairs)
        is_few = _has_few([_cell(cells, column) for cells in rows])
        return -common, not is_few, column > target, abs(column - target)

    return sorted(sorted(others, key=rank)[:MAX_READ])


def _cell(cells: Sequence[str], column: int) -> str:
    return cells[column] if column < len(cells) else ""


def _parts(text: str) -> set[str]:
    """Words in small letters, numbers without zeros around them: 05 is 5.

    All digits together are a number, too, so that 1234.5 and 1,234.50 have one in common.
    """
    parts = PARTS.findall(text.casefold())
    digits = "".join(part for part in parts if part[0].isdecimal())
    return {part.strip("0") or "0" for part in (*parts, *([digits] if digits else []))}


def _num_common(parts: set[str], cell: str) -> int:
    """How many parts of an output a cell has; of words, the first letters will do."""
    own = _parts(cell)
    found = parts & own
    starts = [word for word in own if word.isalpha()]
    short = [part for part in parts - found if part.isalpha()]
    return len(found) + sum(any(word.startswith(part) for word in starts) for part in short)


def _has_few(cells: Sequence[str]) -> bool:
    """Whether most cells are found again in other rows, and not all are the same."""
    return 1 < len(set(cells)) <= len(cells) / 2
