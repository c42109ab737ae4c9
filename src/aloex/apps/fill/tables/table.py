"""A table in memory: cells to read, one column to fill, and all else written as it was read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aloex.apps.fill.tables.encoding import Encoding
from aloex.apps.fill.tables.records import Record, quote, unquote
from aloex.apps.fill.tables.source import Source
from aloex.base.errors import InputError, require

NUM_HABITS = 100  # records that show whether a file has its fields in quotes


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
        records: all of them, with the header and blank ones.
        rows: the records that are neither.
    """

    name: str
    encoding: Encoding
    delimiter: str
    header: Record | None
    header_guessed: bool
    names: list[str]
    records: list[Record]
    rows: list[Record]

    @property
    def lines(self) -> list[int]:
        """The line of the file where each row begins."""
        return [row.line for row in self.rows]

    def column(self, index: int) -> list[str]:
        """The cells of a column; "" where a row is too short to have one."""
        return [unquote(r.fields[index]) if index < len(r.fields) else "" for r in self.rows]


def read_table(source: Source) -> Table:
    """All of a table."""
    records = list(source.records())
    full = [record for record in records if not record.is_blank]
    header, rows = (full[0], full[1:]) if source.has_header else (None, full)
    require(len(rows) > 0, f"{source.name} has a header and no rows below it")
    _check_encoding(source, records)
    number = max(len(record.fields) for record in full)
    names = [*source.names, *(f"column {i}" for i in range(len(source.names) + 1, number + 1))]
    return Table(
        name=source.name,
        encoding=source.encoding,
        delimiter=source.delimiter,
        header=header,
        header_guessed=source.header_guessed,
        names=names,
        records=records,
        rows=rows,
    )


def _check_encoding(source: Source, records: Sequence[Record]) -> None:
    """Some old encodings have two ways to write a character: then bytes would change unasked."""
    if source.encoding.name.startswith("utf"):
        return
    source.file.seek(0)
    if table_bytes(records, source.delimiter, source.encoding) != source.file.read():
        raise InputError(
            f"{source.name} cannot be written in {source.encoding.name} as it was read; "
            "give another --encoding, or save it as UTF-8 first"
        )


def table_bytes(records: Sequence[Record], delimiter: str, encoding: Encoding) -> bytes:
    """The content of the file."""
    text = "".join(f"{delimiter.join(record.fields)}{record.end}" for record in records)
    return encoding.mark + encoding.encode(text)


def filled_bytes(table: Table, columns: Sequence[tuple[int, Mapping[int, str], str]]) -> bytes:
    """The content of the file with other cells in some columns.

    Args:
        table: the table.
        columns: for each its index, the texts of the rows (from 0) that change, and its name, if it
            is new; a column that is not there yet goes to the end of each row.
    """
    changed: dict[int, list[str]] = {}  # by line
    for index, texts, heading in columns:
        always = quotes_all(table.rows, index)
        raw = {
            table.rows[i].line: quote(text, table.delimiter, always) for i, text in texts.items()
        }
        if table.header is not None and index >= len(table.header.fields):
            quoted = quotes_all([table.header], None)
            raw[table.header.line] = quote(heading, table.delimiter, quoted)
        for record in (table.header, *table.rows):
            if record is not None and record.line in raw:
                fields = changed.get(record.line, record.fields)
                changed[record.line] = replaced(fields, index, raw[record.line])
    records = [r._replace(fields=changed.get(r.line, r.fields)) for r in table.records]
    return table_bytes(records, table.delimiter, table.encoding)


def replaced(fields: Sequence[str], index: int, field: str) -> list[str]:
    """The fields with one more or another one; a short row gets empty ones before it."""
    padded = [*fields, *[""] * (index + 1 - len(fields))]
    padded[index] = field
    return padded


def quotes_all(rows: Sequence[Record], index: int | None) -> bool:
    """Whether every field of a column that is not empty is in quotes; of all, if it has none."""
    fields = [r.fields[index] for r in rows if index is not None and index < len(r.fields)]
    fields = [field for field in fields if unquote(field).strip()]
    fields = fields or [field for r in rows[:NUM_HABITS] for field in r.fields if field]
    return bool(fields) and all(field.startswith('"') for field in fields)
