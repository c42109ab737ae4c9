"""A table in a file or from standard input: how its bytes are records, found out before reading."""

import codecs
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import BufferedIOBase
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar, cast

from aloex.apps.fill.tables.blocks import Block, record_blocks
from aloex.apps.fill.tables.columns import column_names
from aloex.apps.fill.tables.delimiter import find_delimiter, told_delimiter
from aloex.apps.fill.tables.encoding import Encoding, find_encoding
from aloex.apps.fill.tables.header import looks_like_header
from aloex.apps.fill.tables.records import MAX_RECORD, lines_of, read_records
from aloex.base.errors import InputError, require
from aloex.base.files import State, naming

STANDARD = "-"  # standard input or output
BLOCK = 2**14  # bytes read at once; what it becomes should fit into a processor's cache
SEPARATOR_LINE = re.compile(r'"?sep=(.|\\t)"?\s*', re.IGNORECASE)  # it says what the delimiter is
KEPT_BLOCK = 2**20  # bytes read at once from a pipe
NUM_LINES = 100  # that delimiter and header are guessed from
NUM_CHARS = 2**22  # if these lines have more, fewer are looked at

Item = TypeVar("Item")


@dataclass(frozen=True)
class Source:
    """An open table.

    Args:
        name: what messages call it.
        file: its bytes, from which it can be read again and again.
        encoding: of its text.
        delimiter: between its fields.
        has_header: whether its first record that is not blank names the columns.
        header_guessed: whether nobody said so.
        names: of the columns.
        state: of the file before it was read; None if it is no file.
    """

    name: str
    file: BufferedIOBase
    encoding: Encoding
    delimiter: str
    has_header: bool
    header_guessed: bool
    names: list[str]
    state: State | None

    @property
    def size(self) -> int:
        """Bytes."""
        return os.fstat(self.file.fileno()).st_size

    def blocks(self) -> Iterator[Block]:
        """All records from the first on, read as they are asked for, many at once."""
        texts = _texts(self.file, self.encoding)
        return _naming_the_file(record_blocks(texts, self.delimiter), self.name)


def open_source(
    path: str,
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    named: tuple[str, ...] = (),
) -> Source:
    """Open a table.

    Args:
        path: of a file, or `-`.
        delimiter: between fields; None to find it out.
        encoding: of the text; None to find it out.
        header: whether the first row names the columns; None to guess.
        named: columns that the user names, the target first, or "": a first row that has one of
            them is a header.

    Raises:
        InputError: there is no such file, or it is no table.
    """
    name = "standard input" if path == STANDARD else path
    state = State.of(Path(path)) if Path(path).is_file() else None
    file = _open(path)
    try:
        return _look_at(file, name, delimiter, encoding, header, named, state)
    except BaseException:
        file.close()
        raise


def _look_at(
    file: BufferedIOBase,
    name: str,
    delimiter: str | None,
    encoding: str | None,
    header: bool | None,
    named: tuple[str, ...],
    state: State | None,
) -> Source:
    how = find_encoding(file, name, encoding)
    lines = _first(_naming_the_file(lines_of(_texts(file, how)), name), len)
    require(
        not SEPARATOR_LINE.fullmatch(lines[0] if lines else ""),
        f"{name} begins with a line for Excel, {''.join(lines[:1]).strip()!r}; remove that line",
    )
    mark = find_delimiter(lines) if delimiter is None else told_delimiter(delimiter)
    records = _naming_the_file(read_records(lines_of(_texts(file, how)), mark), name)
    full = (record for record in records if not record.is_blank)
    rows = [r.cells for r in _first(full, lambda record: sum(map(len, record.fields)))]
    require(len(rows) > 0, f"{name} is empty; it should have rows, some with a text to learn from")
    guessed = header is None and not _has_names(rows[0], named)
    if header is None:
        header = looks_like_header(rows, _number(named, rows[0])) if guessed else True
    names = column_names(rows[0] if header else None, max(map(len, rows)))
    return Source(name, file, how, mark, header, guessed, names, state)


def _has_names(row: list[str], named: tuple[str, ...]) -> bool:
    """Whether a row has a cell that the user gives as the name of a column."""
    cells = {cell.strip().casefold() for cell in row}
    told = [name.strip().casefold() for name in named if not name.isdecimal()]
    return any(name in cells for name in told if name)


def _number(named: tuple[str, ...], row: list[str]) -> int | None:
    """The target, the first column that is named, if it is given as a number."""
    number = int(named[0]) if named and named[0].isdecimal() else 0
    return number - 1 if 1 <= number <= len(row) else None


def _open(path: str) -> BufferedIOBase:
    if path == STANDARD:
        require(sys.stdin is not None, "standard input is closed; give a file with a table")
        return _kept(sys.stdin.buffer, "standard input")
    require(path != "", "the path of the table is empty; give a file, or - for standard input")
    require(Path(path).exists(), f"there is no file {path}; check the path")
    require(not Path(path).is_dir(), f"{path} is a folder; give a file with a table")
    with naming(path, "read"):
        file = open(path, "rb")  # noqa: SIM115
        return file if Path(path).is_file() else _kept(file, path)


def _kept(pipe: Any, name: str) -> BufferedIOBase:
    """What comes through a pipe, in a file, since it is read more than once."""
    file = tempfile.TemporaryFile()  # noqa: SIM115
    has_line = False
    while block := pipe.read(KEPT_BLOCK):
        file.write(block)
        has_line = has_line or b"\n" in block or b"\r" in block
        require(  # else what never ends, such as /dev/zero, would fill the disk
            has_line or file.tell() <= MAX_RECORD,
            f"{name}, line 1 is longer than {MAX_RECORD:,} bytes: this is no table",
        )
    return cast(BufferedIOBase, file)


def _first(items: Iterator[Item], size: Callable[[Item], int]) -> list[Item]:
    """The first lines or records: `NUM_LINES`, or as many as have `NUM_CHARS` characters."""
    found, left = [], NUM_CHARS
    for item in islice(items, NUM_LINES):
        found.append(item)
        left -= size(item)
        if left < 0:
            break
    return found


def _texts(file: BufferedIOBase, encoding: Encoding) -> Iterator[str]:
    """The text of a file, block by block."""
    decoder = codecs.getincrementaldecoder(encoding.name)()
    start = file.seek(len(encoding.mark))
    data = b"."
    while data:
        data = file.read(BLOCK)
        pending = len(decoder.getstate()[0])
        try:
            yield decoder.decode(data, final=not data)
        except UnicodeDecodeError as error:
            byte = error.object[error.start]
            raise InputError(
                f"byte {start - pending + error.start + 1} (0x{byte:02X}) is no {encoding.name}; "
                "give the encoding of the file, for instance --encoding cp1252"
            ) from None
        start += len(data)


def _naming_the_file(items: Iterator[Item], name: str) -> Iterator[Item]:
    """The same, with the name of the file before the messages of errors."""
    try:
        with naming(name, "read"):
            yield from items
    except InputError as error:
        raise InputError(f"{name}, {error}") from None
