"""Columns by name or by number."""

import csv
import difflib
import re
from collections import Counter
from collections.abc import Sequence

from aloex.apps.fill.tables.header import COLUMN_NAME
from aloex.base.errors import InputError, require

MAX_LISTED = 30  # names in a message
MAX_NAME = 40  # characters of each
BY_NUMBER = "{} (column {})"  # a column whose name others have, too


def column_names(header: Sequence[str] | None, number: int) -> list[str]:
    """The names of so many columns; those without one are called `column 3`."""
    cells = [*(header or ()), *[""] * number][:number]
    return [cell.strip() or COLUMN_NAME.format(i) for i, cell in enumerate(cells, 1)]


def unique_names(names: Sequence[str]) -> list[str]:
    """Names for a program: what several columns are called is told apart by their numbers."""
    counts = Counter(names)
    return [
        name if counts[name] == 1 else BY_NUMBER.format(name, i) for i, name in enumerate(names, 1)
    ]


def find_column(told: str, names: Sequence[str]) -> int:
    """The column with a name, or a number from 1; case and spaces matter only if they must.

    What is both a name and a number is the name; `column 2` is always the number. Of several with
    one name, `name (column 2)` is one.

    Raises:
        InputError: there is none, or more than one; the message lists them.
    """
    wanted = told.strip()
    for same in (str, str.casefold, _plain):
        found = [i for i, name in enumerate(names) if same(name) == same(wanted)]
        if len(found) == 1:
            return found[0]
        require(
            not found,
            f"{len(found)} columns are called {wanted!r}; say which by its number, "
            f"{' or '.join(str(i + 1) for i in found)}",
        )
    number = re.fullmatch(r"(?:column )?(\d{1,9})", wanted)
    if number and 1 <= int(number[1]) <= len(names):
        return int(number[1]) - 1
    numbered = [BY_NUMBER.format(name, i) for i, name in enumerate(names, 1)]
    if wanted in numbered:
        return numbered.index(wanted)
    raise no_such_column(wanted, names)


def no_such_column(told: str, names: Sequence[str]) -> InputError:
    """The error for a name that there is not, with the nearest that there is."""
    folded = {name.casefold(): name for name in names}
    close = difflib.get_close_matches(told.casefold(), folded, n=1)
    nearest = f" (did you mean {_cut(folded[close[0]])!r}?)" if close else ""
    return InputError(f"there is no column {_cut(told)!r}{nearest}; {listed(names)}")


def listed(names: Sequence[str]) -> str:
    """The columns that there are."""
    shown = ", ".join(f"{i} {_cut(name)}" for i, name in enumerate(names[:MAX_LISTED], 1))
    more = len(names) - MAX_LISTED
    return f"the columns are: {shown}{f' and {more} more' if more > 0 else ''}"


def split_names(told: str, names: Sequence[str] = ()) -> list[str]:
    """Names with commas between them; a name with a comma of its own is alone or in quotes.

    Args:
        told: the names.
        names: of all columns.
    """
    if _plain(told) in map(_plain, names):
        return [told]
    return [name for name in next(csv.reader([told], skipinitialspace=True), []) if name.strip()]


def _plain(name: str) -> str:
    """A name as one types it: headers have line breaks, which nobody can type on a command line."""
    return " ".join(name.split()).casefold()


def _cut(name: str) -> str:
    """A name for one line of a message."""
    line = " ".join(name.split())
    return line if len(line) <= MAX_NAME else f"{line[: MAX_NAME - 1]}…"
