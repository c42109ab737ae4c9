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
    rest, length, number = [], 0, 0  # what may go on in the next block, as "\r" may with "\n"
    for text in texts:
        rest.append(text)
        length += len(text)
        if "\n" in text or "\r" in text:
            lines = list(io.StringIO("".join(rest), newline=""))
            rest, length = [lines[-1]], len(lines.pop())
            yield from lines
            number += len(lines)
        require(
            length < MAX_RECORD,
            f"line {number + 1} is longer than {MAX_RECORD:,} characters: this is no table",
        )
    yield from io.StringIO("".join(rest), newline="")


def read_records(lines: Iterable[str], delimiter: str) -> Iterator[Record]:
    """The records of a table."""
    return map(Record._make, raw_records(lines, delimiter))


def raw_records(lines: Iterable[str], delimiter: str) -> Iterator[tuple[int, list[str], str]]:
    """The same as plain tuples, for those who have millions of them."""
    split, number, lines = splitter(delimiter), 1, iter(lines)
    for line in lines:
        start = number
        number += 1
        if '"' in line:
            line, number = _whole_record(line, lines, split, number)
        body = line.rstrip("\r\n")
        yield start, split(body), line[len(body) :]


def _whole_record(
    line: str, lines: Iterator[str], split: Callable[[str], list[str]], number: int
) -> tuple[str, int]:
    """A line, and those after it up to the one that closes its last quote; the next number."""
    first = number - 1
    while _is_open(split(line)):
        parts, length, closes = [line], len(line), False
        while not closes:
            more = next(lines, "")
            length, number = length + len(more), number + 1
            if not more or length > MAX_RECORD:
                raise InputError(
                    f"line {first}: a field begins with a quote that is never closed; close it, "
                    'or write """" for one quote'
                )
            parts.append(more)
            closes = '"' in more.replace('""', "")
        line = "".join(parts)
    return line, number


def _is_open(fields: list[str]) -> bool:
    return fields[-1].startswith('"') and CLOSED.match(fields[-1]) is None


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
