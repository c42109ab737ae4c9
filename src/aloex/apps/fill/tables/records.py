"""Records of a table in a file, with every character kept: raw fields and line ends.

Joining the fields of a record with the delimiter, and its line end, gives the text of the file
again. So a cell can be replaced, and all the rest stays as it was.
"""

import io
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import NamedTuple

from aloex.base.errors import InputError, require

MAX_RECORD = 2**26  # characters; what is longer is no row of a table
CLOSED = re.compile(r'"(?:[^"]++|"")*+"')  # a field in quotes that are closed


class Record(NamedTuple):
    """A line of a table; several, if a field in quotes has line ends."""

    line: int  # of the file, from 1: where it begins
    fields: list[str]  # raw, with their quotes
    end: str  # "\\n", "\\r\\n", "\\r", or "" at the end of the file

    @property
    def cells(self) -> list[str]:
        """The texts of the fields."""
        return [unquote(field) for field in self.fields]

    @property
    def is_blank(self) -> bool:
        """Whether there is nothing in it."""
        return is_blank(self.fields)


def lines_of(texts: Iterable[str]) -> Iterator[str]:
    """The lines of a text that comes in blocks, with their ends; an error at an endless one."""
    for text in whole_lines(texts):
        yield from io.StringIO(text, newline="")


def whole_lines(texts: Iterable[str]) -> Iterator[str]:
    """A text that comes in blocks, cut at ends of lines; an error at an endless line."""
    rest, length, number = [], 0, 0  # what may go on in the next block, as "\r" may with "\n"
    for text in texts:
        cut = max(text.rfind("\n"), text.rfind("\r", 0, max(len(text) - 1, 0))) + 1
        if cut:
            whole = "".join([*rest, text[:cut]])
            yield whole
            rest, length, text = [], 0, text[cut:]
            number += num_lines(whole)
        rest.append(text)
        length += len(text)
        require(
            length < MAX_RECORD,
            f"line {number + 1} is longer than {MAX_RECORD:,} characters: this is no table",
        )
    if length:
        yield "".join(rest)


def num_lines(text: str) -> int:
    """How many lines end in a text."""
    number = text.count("\n")
    return number + text.count("\r") - text.count("\r\n") if "\r" in text else number


def read_records(lines: Iterable[str], delimiter: str) -> Iterator[Record]:
    """The records of a table."""
    return map(Record._make, raw_records(iter(lines), delimiter))


def raw_records(
    lines: Iterator[str], delimiter: str, more: Iterator[str] | None = None, number: int = 1
) -> Iterator[tuple[int, list[str], str]]:
    """The same as plain tuples, for those who have millions of them.

    Args:
        lines: of the table.
        delimiter: between fields.
        more: where a record goes on, if not in `lines`.
        number: of the first line.
    """
    split, more = splitter(delimiter), lines if more is None else more
    for line in lines:
        start = number
        number += 1
        fields = split(line)
        if '"' in line and _is_open(fields[-1]):
            fields = _long_record(fields, more, split, start)
            end = take_end(fields)
            number += num_lines(delimiter.join(fields))
        else:
            end = take_end(fields)
        yield start, fields, end


def _long_record(
    fields: list[str], more: Iterator[str], split: Callable[[str], list[str]], start: int
) -> list[str]:
    """The fields of a record that goes on in the lines after its first."""
    length = sum(map(len, fields))
    while _is_open(fields[-1]):  # each time round it is a field farther on: none is read twice
        text, closes = io.StringIO(newline=""), False
        text.write(fields.pop())
        while not closes:
            line = next(more, "")
            length += len(line)
            if not line or length > MAX_RECORD:
                raise InputError(
                    f"line {start}: a field begins with a quote that is never closed; close it, "
                    'or write a quote of the text twice, in a field in quotes: "a ""b"""'
                )
            text.write(line)
            closes = '"' in line.replace('""', "")
        fields += split(text.getvalue())
    return fields


def cut(text: str, delimiter: str) -> tuple[list[str], str]:
    """The raw fields of a record that is whole, and its line end."""
    fields = splitter(delimiter)(text)
    end = take_end(fields)
    return fields, end


def take_end(fields: list[str]) -> str:
    """The line end of a record, which is taken away from its last field."""
    last = fields[-1]
    fields[-1] = last.rstrip("\r\n")
    return last[len(fields[-1]) :]


def _is_open(field: str) -> bool:
    """Whether the last field of a line goes on in the next."""
    return field.startswith('"') and CLOSED.match(field) is None


@cache
def splitter(delimiter: str) -> Callable[[str], list[str]]:
    """A function that cuts a line into raw fields; a quote that is not closed runs to its end."""
    mark = re.escape(delimiter)
    quoted = re.compile(rf'(?:^|{mark})("(?:[^"]++|"")*+(?:"[^{mark}]*+)?|[^{mark}]*+)')

    def split(line: str) -> list[str]:
        return quoted.findall(line) if '"' in line else line.split(delimiter)

    return split


def is_blank(fields: list[str]) -> bool:
    """Whether there is nothing in any of the raw fields."""
    return not any(unquote(field).strip() for field in fields)


def unquote(field: str) -> str:
    """The text of a raw field."""
    if not field.startswith('"'):
        return field
    closed = CLOSED.match(field)
    if closed is None:
        return field
    return field[1 : closed.end() - 1].replace('""', '"') + field[closed.end() :]


def quote(text: str, delimiter: str, always: bool = False) -> str:
    """A raw field for a text, in quotes if it must be, or `always`."""
    if always or delimiter in text or '"' in text or "\n" in text or "\r" in text:
        return '"' + text.replace('"', '""') + '"'
    return text
