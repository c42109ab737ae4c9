"""Is the first row of a table a header? A guess, apart from reading the file."""

from dataclasses import replace

from aloex.apps.fill.space import VersionSpace, table_space
from aloex.apps.fill.tables.csv_file import Table

NUM_TRIED = 5  # rows after the first that are compared with it
HEADINGS = {
    *("input", "output", "in", "out", "from", "to", "x", "y", "before", "after", "source"),
    *("target", "example", "examples", "result", "results", "old", "new", "given", "wanted"),
    "text",
}


def split_header(table: Table, header: bool | None = None) -> Table:
    """The table with its first row as its heading, if that is a header; None means to guess."""
    if header is None:
        header = looks_like_header(table.rows)
    if not header:
        return table
    return replace(table, rows=table.rows[1:], heading=table.rows[0])


def looks_like_header(rows: list[tuple[str, str]]) -> bool:
    """Whether the cells of the first row are words like input and output, or no program fits it.

    No program fits it if the next examples have a program without letters of its own, and there is
    none for them together with the first row.
    """
    x, y = rows[0]
    if x.strip().casefold() in HEADINGS and y.strip().casefold() in {*HEADINGS, ""}:
        return True
    examples = [(a, b) for a, b in rows[1 : 1 + NUM_TRIED] if b]
    if not y or not examples or x in dict(examples):
        return False
    return not table_space([(x, y), *examples]) and bool(VersionSpace(examples))
