"""Records of a table, many at once: most blocks of a file have no quotes, and are cut in one go."""

import io
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from aloex.apps.fill.tables.records import Record, num_lines, raw_records, whole_lines


class Block(NamedTuple):
    """Some records, one after the other: see `Record`."""

    lines: Sequence[int]  # where each begins
    fields: list[list[str]]
    ends: list[str]
    has_quotes: bool

    def records(self) -> Iterator[Record]:
        """One after the other."""
        return map(Record._make, zip(self.lines, self.fields, self.ends, strict=True))

    def after(self, i: int) -> "Block":
        """Those behind the i-th, from 0."""
        rest = slice(i + 1, None)
        return Block(self.lines[rest], self.fields[rest], self.ends[rest], self.has_quotes)

    def texts(self, delimiter: str) -> list[str]:
        """What the file has for each."""
        join = delimiter.join
        return [join(fields) + end for fields, end in zip(self.fields, self.ends, strict=True)]


def record_blocks(texts: Iterable[str], delimiter: str) -> Iterator[Block]:
    """The records of a text that comes in blocks, in blocks of about the same size."""
    reader = _Reader(whole_lines(texts))
    for text in reader.texts:
        start, end = reader.number, _only_end(text)
        if end:
            reader.number += num_lines(text)
            bodies = text.split(end)
            bodies.pop()  # behind the last line end
            fields = [body.split(delimiter) for body in bodies]
            yield Block(range(start, reader.number), fields, [end] * len(fields), False)
        else:
            reader.take(text)
            yield from _careful_blocks(reader, delimiter, start)


def _only_end(text: str) -> str:
    """The line end of a text without quotes, if all its lines have the same; else nothing."""
    if '"' in text or not text.endswith("\n"):
        return ""
    if "\r" not in text:
        return "\n"
    pairs = text.count("\r\n")
    return "\r\n" if pairs == text.count("\r") == text.count("\n") else ""


def _careful_blocks(reader: "_Reader", delimiter: str, start: int) -> Iterator[Block]:
    """The records of the text at hand, line by line; the last may go on in the texts after it."""
    lines, fields, ends = [], [], []
    number_before = reader.number
    for line, cells, end in raw_records(reader.rest(), delimiter, reader, start):
        lines.append(line)
        fields.append(cells)
        ends.append(end)
        if reader.number != number_before:  # a record went on: blocks do not grow without end
            yield Block(lines, fields, ends, True)
            lines, fields, ends = [], [], []
            number_before = reader.number
    if fields:
        yield Block(lines, fields, ends, True)


class _Reader:
    """Lines of texts: those of the text at hand, or one after the other through all of them."""

    def __init__(self, texts: Iterator[str]):
        self.texts, self.number = texts, 1  # of the first line behind the text at hand
        self.lines: Iterator[str] = iter(())

    def take(self, text: str) -> None:
        self.lines = io.StringIO(text, newline="")
        self.number += num_lines(text)

    def rest(self) -> Iterator[str]:
        """What is left of the text at hand."""
        while line := next(self.lines, ""):
            yield line

    def __iter__(self) -> "_Reader":
        return self

    def __next__(self) -> str:
        while not (line := next(self.lines, "")):
            self.take(next(self.texts))
        return line
