"""Where a table is written: a file, whole or not at all, or standard output."""

import os
import re
import sys
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from io import BufferedIOBase
from pathlib import Path
from typing import cast

from aloex.apps.fill.tables.source import STANDARD
from aloex.base.errors import require
from aloex.base.files import State, behind_links, make_folder, naming, whole_file

STANDARD_OUTPUT = ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")
SPREADSHEETS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods", ".numbers")
FORMULA_STARTS = frozenset("=+-@")
NUMBER = re.compile(r"[-+]?[\d.,' ]*\d[\d.,' ]*%?")


def output_path(told: str) -> str:
    """The path that a user means: `-` for all names of standard output."""
    return STANDARD if told in STANDARD_OUTPUT else told


def check_output(path: str, source: str, in_place: bool) -> None:
    """An `InputError` if a table cannot be written there, or would replace the one that is read.

    Before anything is computed, so that nobody waits for a result that is lost in the end.
    """
    if path == STANDARD:
        require(sys.stdout is not None, "standard output is closed; give --out a file")
        return
    require(path != "", "--out is empty; give the path of a file, or - for standard output")
    require(
        in_place or not is_same_file(path, source),
        f"{path} is the table itself; give --in-place to change it, or another --out",
    )
    ending = Path(path).suffix.lower()
    require(
        in_place or ending not in SPREADSHEETS,
        f"{path} would be no spreadsheet: tables are written as text; give --out a name that ends "
        f"in .csv rather than {ending}",
    )
    if Path(path).exists():
        require(
            not in_place or Path(path).is_file(),
            f"--in-place needs a file, and {path} is none; give --out",
        )
        require(
            os.access(path, os.W_OK),
            f"{path} is read-only; change its permissions, or write elsewhere with --out",
        )


def is_in_new_folder(path: str) -> bool:
    """Whether a file is to be written into a folder that is not there yet."""
    return path != STANDARD and not Path(os.path.realpath(path)).parent.exists()


def is_same_file(one: str | os.PathLike[str], other: str | os.PathLike[str]) -> bool:
    """Whether two paths lead to one file, which need not be there yet."""
    if STANDARD in (os.fspath(one), os.fspath(other)):
        return False
    if Path(one).exists() and Path(other).exists():
        return os.path.samefile(one, other)
    return os.path.realpath(one) == os.path.realpath(other)


def write_output(path: str, parts: Iterable[bytes], state: State | None = None) -> None:
    """Write a table, part by part, to a file or to standard output: see `open_output`."""
    with open_output(path, state) as file:
        for part in parts:
            file.write(part)


@contextmanager
def open_output(path: str, state: State | None = None) -> Generator[BufferedIOBase]:
    """A file to write block by block. It gets its name when it is whole; else nothing is left.

    With the `state` that a table had when it was read, it is replaced only if it still has it.
    """
    if path == STANDARD:
        with naming("standard output"):
            yield cast(BufferedIOBase, sys.stdout.buffer)
            sys.stdout.buffer.flush()
        return
    if not Path(path).exists():
        with naming(path):
            folder = behind_links(path).parent
        make_folder(folder)
    with whole_file(Path(path), state=state) as file:
        yield file


def is_formula(text: str) -> bool:
    """Whether a spreadsheet would compute a text: it begins with = + - or @ and is no number."""
    return text[:1] in FORMULA_STARTS and len(text) > 1 and NUMBER.fullmatch(text) is None


def formulas(texts: Iterable[tuple[int, str]]) -> list[tuple[int, str]]:
    """Those of some lines and their texts that look like formulas."""
    return [(line, text) for line, text in texts if is_formula(text)]
