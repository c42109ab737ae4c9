"""`aloex fill apply`: a saved program on a table of any length."""

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from aloex.base.errors import InputError, require
from aloex.cli.fill.options import (
    DelimiterOption,
    EncodingOption,
    HeaderOption,
    InPlaceOption,
    tell_encoding,
    warn_of_formula,
)
from aloex.cli.fill.screen import count, make_printable

if TYPE_CHECKING:
    from aloex.apps.fill.tables import Applied, Source


def apply(
    program: Annotated[Path, typer.Argument(help="A program from `aloex fill --save-program`.")],
    table: Annotated[str, typer.Argument(help="A file of delimited text; - reads standard input.")],
    target: Annotated[
        str | None,
        typer.Option(
            help="The column to fill, by name or number; a new name adds it at the end. Default: "
            "the one that the program was made for."
        ),
    ] = None,
    out: Annotated[str, typer.Option(help="Where to write the filled table.")] = "-",
    in_place: InPlaceOption = False,
    delimiter: DelimiterOption = None,
    encoding: EncodingOption = None,
    header: HeaderOption = None,
) -> None:
    """Fill the empty cells of a column by a saved program; cells with a text keep it.

    The columns that the program reads must have the names that they had, or, in tables without a
    header, the same numbers. Tables of any length will do: they are never in memory as a whole.
    """
    from aloex.apps.fill import tables
    from aloex.cli.fill.saved import columns_used, load_program

    make_printable()
    require(not in_place or out == "-", "--in-place and --out exclude each other")
    require(not (in_place and table == "-"), "--in-place needs a file, not standard input")
    path = table if in_place else out
    tables.check_output(path, table, in_place)
    loaded, made_for = load_program(program)
    used = columns_used(loaded)
    names = tuple(loaded.columns[i] for i in used)
    opened = tables.open_source(
        table, delimiter=delimiter, encoding=encoding, header=header, named=names
    )
    with opened.file:
        tell_encoding(opened)
        columns = [tables.find_column(name, opened.names) for name in names]
        goal, heading = _target(opened, target or made_for)
        run, width = loaded.expression.run, len(loaded.columns)
        if used != list(range(width)):  # the program was made for more columns than it reads
            run = _spread(run, used, width)
        with tables.open_output(path) as file, _progress(opened.size) as progress:
            done = tables.apply_to_table(
                opened, file, run, columns, goal, heading, progress=progress
            )
    _report(done, sys.stderr if path == "-" else sys.stdout)


def _target(source: "Source", told: str | None) -> tuple[int, str]:
    """The column to fill and its name; a new one is the next after the last."""
    from aloex.apps.fill.tables import find_column

    name = told or "filled"
    try:
        return find_column(name, source.names), name
    except InputError:
        if name.isdecimal():
            raise
        return len(source.names), name


def _spread(
    run: Callable[[tuple[str, ...]], str | None], used: list[int], width: int
) -> Callable[[tuple[str, ...]], str | None]:
    """The same program for a row of only those cells that it reads."""
    empty = [""] * width

    def run_on_used(cells: tuple[str, ...]) -> str | None:
        row = empty.copy()
        for i, cell in zip(used, cells, strict=True):
            row[i] = cell
        return run(tuple(row))

    return run_on_used


@contextmanager
def _progress(size: int) -> Generator[Callable[[int], None]]:
    """A bar on standard error, if that is a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (BarColumn(), DownloadColumn(), TimeRemainingColumn())
    off = not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=off) as bar:
        task = bar.add_task("", total=size)
        yield lambda num_bytes: bar.update(task, completed=num_bytes)


def _report(done: "Applied", file: TextIO) -> None:
    """Print what was done."""
    words = f"{count(done.num_filled, 'row')} filled"
    if done.num_kept:
        words += f", {count(done.num_kept, 'row')} had a text already"
    if done.num_empty:
        words += f", {done.num_empty:,} without an answer (the first: line {done.first_empty})"
    print(words, file=file)
    warn_of_formula(done.first_formula)
