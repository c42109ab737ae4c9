"""A table in memory: cells to read, one column to fill, and all else written as it was read.

A record is kept as the text that it is in the file, and cut into fields when it is asked for: a
million short records take about as much memory as two copies of their file.
"""

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import overload

from aloex.apps.fill.tables.encoding import Encoding
from aloex.apps.fill.tables.reading import Reading
from aloex.apps.fill.tables.records import Record, cut, quote, unquote
from aloex.apps.fill.tables.source import Source
from aloex.base.errors import InputError, require

NUM_HABITS = 100  # records that show whether a file has its fields in quotes
AT_ONCE = 1_000  # records that are cut or encoded at once


@dataclass(frozen=True)
class Table:
    """The records of a file.

    Args:
        name: of the file.
        encoding: of the file.
        delimiter: between its fields.
        header: the record that names the columns, if there is one.
        header_guessed: whether nobody said so.
        names: of the columns; `column 3` where there is none.
        texts: of all records, with their ends; with the header and blank ones.
        starts: the line where each of them begins.
        places: which of them are rows: neither header nor blank.
        has_text: for each column, whether there is a row with a text in it.
        has_blank: and whether there is one without.
    """

    name: str
    encoding: Encoding
    delimiter: str
    header: Record | None
    header_guessed: bool
    names: list[str]
    texts: list[str]
    starts: Sequence[int]
    places: Sequence[int]
    has_text: list[bool]
    has_blank: list[bool]

    @cached_property
    def lines(self) -> Sequence[int]:
        """The line of the file where each row begins."""
        return array("q", (self.starts[place] for place in self.places))

    @property
    def rows(self) -> "Rows":
        """The records that are neither header nor blank."""
        return Rows(self)

    def column(self, index: int) -> list[str]:
        """The cells of a column; "" where a row is too short to have one."""
        return self.columns([index])[0]

    def columns(self, indices: Sequence[int]) -> list[list[str]]:
        """The cells of several columns."""
        cells: list[list[str]] = [[] for _ in indices]
        least = max(indices, default=-1) + 1
        for start in range(0, len(self.places), AT_ONCE):
            texts = [self.texts[place] for place in self.places[start : start + AT_ONCE]]
            fields = [cut(text, self.delimiter)[0] for text in texts]
            if any(len(each) < least for each in fields):
                fields = [each + [""] * (least - len(each)) for each in fields]
            has_quotes = any('"' in text for text in texts)
            for index, column in zip(indices, cells, strict=True):
                own = [each[index] for each in fields]
                column += map(unquote, own) if has_quotes else own
        return cells


class Rows(Sequence[Record]):
    """The rows of a table, each made when it is asked for."""

    def __init__(self, table: Table, chosen: range | None = None):
        self.table = table
        self.chosen = range(len(table.places)) if chosen is None else chosen

    def __len__(self) -> int:
        return len(self.chosen)

    @overload
    def __getitem__(self, i: int) -> Record: ...
    @overload
    def __getitem__(self, i: slice) -> "Rows": ...
    def __getitem__(self, i: int | slice) -> "Record | Rows":
        if isinstance(i, slice):
            return Rows(self.table, self.chosen[i])
        table, place = self.table, self.table.places[self.chosen[i]]
        return Record(table.starts[place], *cut(table.texts[place], table.delimiter))


def read_table(source: Source, progress: Callable[[int, int], None] | None = None) -> Table:
    """All of a table; `progress` is told how many bytes have been read, and how many rows."""
    reading = Reading(source.delimiter, source.has_header)
    for block in source.blocks():
        reading.add(block)
        if progress is not None:
            progress(source.file.tell(), len(reading.places))
    require(
        len(reading.places) > 0,
        f"{source.name} has a header and no rows below it; write some, two or three of them with "
        "the text to learn from",
    )
    header_fields = 0 if reading.header is None else len(reading.header.fields)
    number = max(header_fields, len(reading.has_text))
    names = [*source.names, *(f"column {i}" for i in range(len(source.names) + 1, number + 1))]
    missing = len(names) - len(reading.has_text)
    table = Table(
        name=source.name,
        encoding=source.encoding,
        delimiter=source.delimiter,
        header=reading.header,
        header_guessed=source.header_guessed,
        names=names,
        texts=reading.texts,
        starts=reading.starts,
        places=reading.places,
        has_text=[*reading.has_text, *[False] * missing],
        has_blank=[*reading.has_blank, *[True] * missing],
    )
    _check_encoding(source, table)
    return table


def _check_encoding(source: Source, table: Table) -> None:
    """Some old encodings have two ways to write a character: then bytes would change unasked."""
    if source.encoding.name.startswith("utf"):
        return
    source.file.seek(0)
    same = all(source.file.read(len(part)) == part for part in filled_parts(table, []))
    if not same or source.file.read(1):
        raise InputError(
            f"{source.name} cannot be written in {source.encoding.name} as it was read; "
            "give another --encoding, or save it as UTF-8 first"
        )


Change = tuple[int, Mapping[int, str], str]


def filled_bytes(table: Table, columns: Sequence[Change]) -> bytes:
    """The content of the file with other cells in some columns: see `filled_parts`."""
    return b"".join(filled_parts(table, columns))


def filled_parts(table: Table, columns: Sequence[Change]) -> Iterator[bytes]:
    """The content of the file with other cells in some columns, part by part.

    Args:
        table: the table.
        columns: for each its index, the texts of the rows (from 0) that change, and its name, if it
            is new; a column that is not there yet goes to the end of each row.
    """
    is_there = [index if index < len(table.names) else None for index, _, _ in columns]
    always = [quotes_all(table.rows, index) for index in is_there]
    yield table.encoding.mark
    records = _filled_records(table, columns, always)
    while part := list(islice(records, AT_ONCE)):
        yield table.encoding.encode("".join(part))


def _filled_records(
    table: Table, columns: Sequence[Change], always: Sequence[bool]
) -> Iterator[str]:
    """The text of every record; `always` says which columns have all their fields in quotes."""
    delimiter, row = table.delimiter, 0
    changes = [
        (index, texts, in_q) for (index, texts, _), in_q in zip(columns, always, strict=True)
    ]
    added = [(index, "", False) for index, _, _ in columns if index >= len(table.names)]
    for place, text in enumerate(table.texts):
        if row < len(table.places) and place == table.places[row]:
            new = [(i, texts[row], in_q) for i, texts, in_q in changes if row in texts]
            row += 1
        elif table.header is not None and table.header.line == table.starts[place]:
            new = _headings(table.header, columns)
        else:
            new = added if delimiter in text else []  # a row without a text is as wide as others
        if new:
            fields, end = cut(text, delimiter)
            for index, cell, in_quotes in new:
                fields = replaced(fields, index, quote(cell, delimiter, in_quotes))
            text = delimiter.join(fields) + end
        yield text


def _headings(header: Record, columns: Sequence[Change]) -> list[tuple[int, str, bool]]:
    """The names of new columns, and whether they are in quotes; others have no name to write."""
    quoted = quotes_all([header], None)
    return [(i, name, quoted) for i, _, name in columns if name and i >= len(header.fields)]


def replaced(fields: list[str], index: int, field: str) -> list[str]:
    """The fields with one more or another one; a short row gets empty ones before it."""
    padded = fields + [""] * (index + 1 - len(fields))
    padded[index] = field
    return padded


def quotes_all(rows: Sequence[Record], index: int | None) -> bool:
    """Whether every field of a column that is not empty is in quotes; of all, if it has none."""
    if index is not None:
        fields = (row.fields[index] for row in rows if index < len(row.fields))
        quoted = (field.startswith('"') for field in fields if unquote(field).strip())
        first = next(quoted, None)
        if first is not None:
            return first and all(quoted)
    fields = [field for row in rows[:NUM_HABITS] for field in row.fields if field]
    return bool(fields) and all(field.startswith('"') for field in fields)
