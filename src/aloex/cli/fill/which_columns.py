"""Which column of a table is filled, and which are read, if the user does not say."""

from collections.abc import Sequence

from aloex.apps.fill.tables import Table, columns_to_read, find_column, listed, split_names
from aloex.base.errors import InputError, require
from aloex.cli.fill.marks import find_marks
from aloex.cli.fill.screen import shown

NOTHING_TO_FILL = "no column has some cells with a text to learn from and some empty ones to fill"


def find_target(table: Table) -> int:
    """The column to fill: one with marks, or the only one with some cells empty and others not.

    Beside a column without any text nobody knows which of the two is meant, unless it is the last.
    """
    columns = range(len(table.names))
    marked = [i for i in columns if table.header is not None and find_marks(table, i) is not None]
    if len(marked) == 1:
        return marked[0]
    partly = [i for i in columns if table.has_text[i] and table.has_blank[i]]
    if len(partly) == 1 and (partly[0] == columns[-1] or all(table.has_text)):
        return partly[0]
    names = ", ".join(shown(table.names[i], 40) for i in partly)
    why = f"partly empty: {names}" if partly else NOTHING_TO_FILL
    if not partly and table.header_guessed and table.header is not None:
        why += " (if the first row is no header: --no-header)"
    raise InputError(
        f"which column is to be filled? Name it with --target; {why}; {listed(table.names)}"
    )


def find_sources(
    table: Table,
    target: int,
    marks: int | None,
    source: str | None,
    outputs: Sequence[str | None],
) -> tuple[list[int], list[int]]:
    """The columns to read, and those that are not, though nobody named any."""
    if source is not None:
        told = split_names(source, table.names)
        chosen = [find_column(name, table.names) for name in told]
        require(len(chosen) > 0, f"--source must name columns such as name,city; got {source!r}")
        name = table.names[target]
        require(target not in chosen, f"--source has the target {name!r} itself; name others")
        return list(dict.fromkeys(chosen)), []
    has_text = [any_text and i != marks for i, any_text in enumerate(table.has_text)]
    found = columns_to_read(target, has_text, outputs, lambda i: table.rows[i].cells)
    require(len(found) > 0, f"{table.name} has no other column to read; {listed(table.names)}")
    unread = [i for i, text in enumerate(has_text) if text and i != target and i not in found]
    return found, unread
