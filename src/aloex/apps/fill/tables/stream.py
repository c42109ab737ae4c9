"""A table of any length through a function: read, filled and written block by block."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import BufferedIOBase, RawIOBase
from itertools import chain, islice, repeat

from aloex.apps.fill.expressions.base import Row
from aloex.apps.fill.expressions.many_rows import OnRows
from aloex.apps.fill.tables.blocks import Block
from aloex.apps.fill.tables.output import FORMULA_STARTS, is_formula
from aloex.apps.fill.tables.records import Record, is_blank, quote, unquote
from aloex.apps.fill.tables.source import Source
from aloex.apps.fill.tables.table import quotes_all, replaced

HEAD = 1_000  # records that show what is usual in a table
MAX_HEAD_BLOCKS = 8

Function = Callable[[Row], str | None]


@dataclass
class Applied:
    """What was done to a table."""

    num_filled: int = 0
    num_kept: int = 0  # rows that had a text already
    num_empty: int = 0  # rows without an output
    first_empty: int | None = None  # the line of the first of them
    first_formula: tuple[int, str] | None = None  # the first output like a formula, and its line

    @property
    def num_rows(self) -> int:
        """All rows that are not blank."""
        return self.num_filled + self.num_kept + self.num_empty


def apply_to_table(
    source: Source,
    out: BufferedIOBase | RawIOBase,
    function: Function,
    columns: Sequence[int | None],
    target: int,
    heading: str,
    *,
    progress: Callable[[int, int], None] = lambda num_bytes, num_rows: None,
) -> Applied:
    """Write a table with a function's outputs in the empty cells of a column.

    Args:
        source: the table.
        out: where it is written.
        function: makes a text of some cells of a row, or None.
        columns: the cells that it gets; None for one that it does not look at.
        target: the column that is filled; one that is not there yet goes to the end of each row.
        heading: of a new column.
        progress: is told now and then how many bytes have been read, and how many rows done.
    """
    encode = source.encoding.encode
    blocks = source.blocks()
    out.write(source.encoding.mark)
    if source.has_header:
        is_new = target >= len(source.names)
        text, first = _header(blocks, source.delimiter, target, heading if is_new else None)
        out.write(encode(text))
        blocks = chain([first], blocks)
    head = _head(blocks)
    filler = _Filler(source, function, columns, target, [r for b in head for r in b.records()])
    for block in chain(head, blocks):
        out.write(encode(filler.filled(block)))
        progress(source.file.tell(), filler.applied.num_rows)
    return filler.applied


def _head(blocks: Iterator[Block]) -> list[Block]:
    """The first blocks, which show what is usual in a table."""
    head: list[Block] = []
    while sum(len(block.fields) for block in head) < HEAD and len(head) < MAX_HEAD_BLOCKS:
        block = next(blocks, None)
        if block is None:
            break
        head.append(block)
    return head


def _header(
    blocks: Iterator[Block], delimiter: str, target: int, heading: str | None
) -> tuple[str, Block]:
    """The text of the file up to its header, with the name of a new column; what comes after."""
    text = ""
    for block in blocks:
        for i, record in enumerate(block.records()):
            fields = record.fields
            if heading is not None and not record.is_blank:
                raw = quote(heading, delimiter, quotes_all([record], None))
                fields = replaced(fields, target, raw)
            text += f"{delimiter.join(fields)}{record.end}"
            if not record.is_blank:
                return text, block.after(i)
    return text, Block((), [], [], False)


class _Filler:
    """Fills records, and counts.

    Args:
        source, function, columns, target: as above.
        records: the first ones, which show whether new fields are to be in quotes.
    """

    def __init__(
        self,
        source: Source,
        function: Function,
        columns: Sequence[int | None],
        target: int,
        records: Sequence[Record],
    ):
        self.outputs, self.columns, self.target = OnRows(function), columns, target
        self.delimiter, self.is_new = source.delimiter, target >= len(source.names)
        self.num_fields = max(target, *(column or 0 for column in (*columns, 0))) + 1
        self.in_quotes = quotes_all(records, target)
        self.applied = Applied()

    def filled(self, block: Block) -> str:
        """The text of some records, filled."""
        fields, num_fields = block.fields, self.num_fields
        if any(len(each) < num_fields for each in fields):
            fields = [each + [""] * (num_fields - len(each)) for each in fields]
        rows = self._rows(fields, block.has_quotes)
        todo = self._to_fill(block, fields, rows)
        outputs = self.outputs(rows if len(todo) == len(rows) else [rows[i] for i in todo])
        records = list(block.fields)
        if self.is_new:  # a row without a text is as wide as the others; a blank line is none
            pairs = zip(block.fields, fields, strict=True)
            records = [padded if len(own) > 1 else own for own, padded in pairs]
        if None in outputs:
            pairs = list(zip(todo, outputs, strict=True))
            self._leave([i for i, output in pairs if output is None], block, fields, records)
            todo = [i for i, output in pairs if output is not None]
        texts = [output for output in outputs if output is not None]
        for i, raw in zip(todo, self._raw(texts, todo, block), strict=True):
            records[i] = fields[i]
            records[i][self.target] = raw
        self.applied.num_filled += len(texts)
        return "".join(block._replace(fields=records).texts(self.delimiter))

    def _rows(self, fields: list[list[str]], has_quotes: bool) -> list[Row]:
        """What the function gets for each record."""
        cells: list[Iterable[str]] = []
        for column in self.columns:
            if column is None:
                cells.append(repeat("", len(fields)))
            elif has_quotes:
                cells.append([unquote(each[column]) for each in fields])
            else:
                cells.append([each[column] for each in fields])
        return list(zip(*cells, strict=True)) if cells else [()] * len(fields)

    def _to_fill(self, block: Block, fields: list[list[str]], rows: list[Row]) -> Sequence[int]:
        """The records that are neither blank nor have a text in the column already."""
        todo: Sequence[int] = range(len(fields))
        old = [each[self.target] for each in fields]
        if any(old):
            todo = [i for i, field in enumerate(old) if not field or not unquote(field).strip()]
            self.applied.num_kept += len(old) - len(todo)
        if not all("".join(row).strip() for row in rows):  # else none of them is blank
            todo = [i for i in todo if not is_blank(block.fields[i])]
        return todo

    def _leave(
        self, empty: list[int], block: Block, fields: list[list[str]], records: list[list[str]]
    ) -> None:
        """Count rows without an output; even they get an empty field in a new column."""
        self.applied.num_empty += len(empty)
        self.applied.first_empty = self.applied.first_empty or block.lines[empty[0]]
        if self.is_new:
            for i in empty:
                records[i] = fields[i]

    def _raw(self, texts: list[str], records: Sequence[int], block: Block) -> list[str]:
        """The raw fields of outputs, of these records; the first like a formula is noted."""
        if self.applied.first_formula is None and {text[:1] for text in texts} & FORMULA_STARTS:
            found = (pair for pair in zip(records, texts, strict=True) if is_formula(pair[1]))
            for i, text in islice(found, 1):
                self.applied.first_formula = block.lines[i], text
        together = "".join(texts)  # what none of them has need not be looked for in each
        if self.in_quotes or any(mark in together for mark in (self.delimiter, *'"\r\n')):
            return [quote(text, self.delimiter, self.in_quotes) for text in texts]
        return texts
