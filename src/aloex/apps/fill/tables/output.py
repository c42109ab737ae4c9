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
from aloex.base.files import make_folder, naming

FORMULA_STARTS = ("=", "+", "-", "@")
NUMBER = re.compile(r"[-+]?[\d.,' ]*\d[\d.,' ]*%?")


def check_output(path: str, source: str, in_place: bool) -> None:
    """An `InputError` if writing there would touch the table that is read, unasked."""
    if path != STANDARD and source != STANDARD and Path(path).exists():
        require(
            in_place or not os.path.samefile(path, source),
            f"{path} is the table itself; give --in-place to change it, or another --out",
        )


def write_output(path: str, content: bytes) -> None:
    """Write a table to a file or to standard output."""
    with open_output(path) as file:
        file.write(content)


@contextmanager
def open_output(path: str) -> Generator[BufferedIOBase]:
    """A file to write block by block. It gets its name when it is whole; else nothing is left."""
    if path == STANDARD:
        yield cast(BufferedIOBase, sys.stdout.buffer)
        sys.stdout.buffer.flush()
        return
    target = Path(path).resolve()  # the file behind a link, not the link
    make_folder(target.parent)
    if target.exists() and not target.is_file():  # a pipe or a device is not to be replaced
        with naming(path), target.open("wb") as file:
            yield file
        return
    writing = target.with_name(f".{target.name}.writing")
    try:
        with naming(path):
            with writing.open("wb") as file:
                yield file
            if target.exists():
                writing.chmod(target.stat().st_mode)
            os.replace(writing, target)
    except BaseException:
        writing.unlink(missing_ok=True)
        raise


def is_formula(text: str) -> bool:
    """Whether a spreadsheet would compute a text: it begins with = + - or @ and is no number."""
    return text[:1] in FORMULA_STARTS and len(text) > 1 and NUMBER.fullmatch(text) is None


def formulas(texts: Iterable[tuple[int, str]]) -> list[tuple[int, str]]:
    """Those of some lines and their texts that look like formulas."""
    return [(line, text) for line, text in texts if is_formula(text)]
