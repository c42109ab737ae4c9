"""A table of any length through a function: read, filled and written block by block."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from io import BufferedIOBase, RawIOBase
from itertools import islice
from operator import itemgetter
from typing import Any

from aloex.apps.fill.tables.output import FORMULA_STARTS, is_formula
from aloex.apps.fill.tables.records import Record, is_blank, quote, unquote
from aloex.apps.fill.tables.source import Source
from aloex.apps.fill.tables.table import quotes_all, replaced

BLOCK = 5_000  # records that are written at once
MAX_KNOWN = 100_000  # outputs that are remembered, since cells repeat

RawRecord = tuple[int, list[str], str]  # see `Record`
Function = Callable[[tuple[str, ...]], str | None]


@dataclass
class Applied:
    """What was done to a table."""

    num_filled: int = 0
    num_kept: int = 0  # rows that had a text already
    num_empty: int = 0  # rows without an output
    first_empty: int | None = None  # the line of the first of them
    first_formula: tuple[int, str] | None = None  # the first output like a formula, and its line


def apply_to_table(
    source: Source,
    out: BufferedIOBase | RawIOBase,
    function: Function,
    columns: Sequence[int],
    target: int,
    heading: str,
    *,
    progress: Callable[[int], None] = lambda num_bytes: None,
) -> Applied:
    """Write a table with a function's outputs in the empty cells of a column.

    Args:
        source: the table.
        out: where it is written.
        function: makes a text of some cells of a row, or None.
        columns: the cells that it reads, at least one.
        target: the column that is filled; one that is not there yet goes to the end of each row.
        heading: of a new column.
        progress: is told now and then how many bytes have been read.
    """
    encode = source.encoding.encode
    filler = _Filler(source, function, columns, target)
    records = source.raw_records()
    out.write(source.encoding.mark)
    if source.has_header:
        out.write(encode(_header(records, source.delimiter, target, heading)))
    while block := list(islice(records, BLOCK)):
        out.write(encode(filler.filled(block)))
        progress(source.file.tell())
    return filler.applied


def _header(records: Iterator[RawRecord], delimiter: str, target: int, heading: str) -> str:
    """The text of the file up to its header, with the name of a new column."""
    text = ""
    for record in map(Record._make, records):
        if record.is_blank:
            text += f"{delimiter.join(record.fields)}{record.end}"
            continue
        fields = record.fields
        if target >= len(fields):
            fields = replaced(fields, target, quote(heading, delimiter, quotes_all([record], None)))
        return f"{text}{delimiter.join(fields)}{record.end}"
    return text


class _Filler:
    """Fills records, and counts."""

    def __init__(self, source: Source, function: Function, columns: Sequence[int], target: int):
        self.function, self.target, self.delimiter = function, target, source.delimiter
        self.is_new = target >= len(source.names)
        self.num_fields = max(*columns, target) + 1
        self.fields_read = itemgetter(*columns)  # one field, or a tuple of several
        first = list(islice(source.records(), BLOCK))
        self.in_quotes = quotes_all(first[source.has_header :], target)
        self.known: dict[Any, str | None] = {}
        self.applied = Applied()

    def filled(self, block: list[RawRecord]) -> str:
        """The text of some records, filled."""
        known, applied, target, join = self.known, self.applied, self.target, self.delimiter.join
        num_fields, fields_read, lines = self.num_fields, self.fields_read, []
        for line, raw, end in block:
            fields = raw
            if len(raw) < num_fields:
                fields = [*raw, *[""] * (num_fields - len(raw))]
            if fields[target] and unquote(fields[target]).strip():
                applied.num_kept += 1
            else:
                read = fields_read(fields)
                output = known[read] if read in known else self._run(read, line, raw)
                if output is not None:
                    applied.num_filled += 1
                    fields[target] = output
                    raw = fields
                elif not is_blank(raw):
                    applied.num_empty += 1
                    applied.first_empty = applied.first_empty or line
                    raw = fields if self.is_new else raw
            lines.append(join(raw) + end)
        return "".join(lines)

    def _run(self, read: str | tuple[str, ...], line: int, record: list[str]) -> str | None:
        """The raw field for the fields that are read, kept in `known`; a blank record has none."""
        if len(self.known) >= MAX_KNOWN:
            self.known.clear()
        fields = (read,) if isinstance(read, str) else read
        cells = tuple(map(unquote, fields))
        nothing_read = not "".join(cells).strip()
        if nothing_read and is_blank(record):
            return None
        output = self.function(cells)
        raw = None
        if output is not None:
            raw = quote(output, self.delimiter, self.in_quotes)
            if output[:1] in FORMULA_STARTS and is_formula(output):
                self.applied.first_formula = self.applied.first_formula or (line, output)
        if not nothing_read:  # the next record with these cells may be blank
            self.known[read] = raw
        return raw
