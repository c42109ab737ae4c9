"""`aloex fill apply`: a saved program on a table of any length."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from aloex.base.errors import InputError, require
from aloex.base.words import count
from aloex.cli.fill.options import (
    DelimiterOption,
    EncodingOption,
    HeaderOption,
    InPlaceOption,
    tell_encoding,
    tell_new_folder,
    warn_of_formula,
)
from aloex.cli.fill.screen import make_printable

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
    out: Annotated[
        str, typer.Option(help="Where to write the filled table; - is standard output.")
    ] = "-",
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
    from aloex.apps.fill.expressions.columns_read import columns_read
    from aloex.cli.fill.progress import progress_of
    from aloex.cli.fill.saved import load_program

    make_printable()
    out = tables.output_path(out)
    require(not in_place or out == "-", "--in-place and --out exclude each other")
    require(not (in_place and table == "-"), "--in-place needs a file, not standard input")
    path = table if in_place else out
    tables.check_output(path, table, in_place)
    require(
        not tables.is_same_file(path, program),
        f"{path} is the program itself; give --out another name",
    )
    loaded, made_for = load_program(program)
    used = columns_read(loaded.expression)  # it may have been made for more
    names = tuple(loaded.columns[i] for i in used)
    opened = tables.open_source(
        table, delimiter=delimiter, encoding=encoding, header=header, named=("", *names)
    )
    with opened.file:
        tell_encoding(opened)
        found = {i: tables.find_column(loaded.columns[i], opened.names) for i in used}
        columns = [found.get(i) for i in range(len(loaded.columns))]
        goal, heading = _target(opened, target or made_for)
        run = loaded.expression.run
        tell_new_folder(path)
        writing = tables.open_output(path, opened.state if in_place else None)
        with writing as file, progress_of("filling", opened.size) as progress:
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


def _report(done: "Applied", file: TextIO) -> None:
    """Print what was done."""
    words = f"{count(done.num_filled, 'row')} filled"
    if done.num_kept:
        words += f", {count(done.num_kept, 'row')} had a text already"
    if done.num_empty:
        words += f", {done.num_empty:,} without an answer (the first: line {done.first_empty})"
    print(words, file=file)
    warn_of_formula(done.first_formula)
