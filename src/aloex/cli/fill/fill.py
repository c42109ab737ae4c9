"""`aloex fill`: fill a column of a table from a few examples."""

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from aloex.base.errors import require
from aloex.base.signals import unwinding
from aloex.cli.fill.apply import apply
from aloex.cli.fill.options import (
    DelimiterOption,
    EncodingOption,
    HeaderOption,
    InPlaceOption,
    tell_encoding,
    tell_new_folder,
    warn_of_formula,
)
from aloex.cli.fill.screen import lines_in_words, make_printable, row_shown, show, shown

if TYPE_CHECKING:
    from aloex.apps.fill.tables import Source
    from aloex.cli.fill.job import Job


class _Command(TyperCommand):
    """A command that leaves no half a file behind, whatever ends it."""

    def invoke(self, ctx: Any) -> Any:
        with unwinding():
            return super().invoke(ctx)


class FillCommand(_Command):
    """`aloex fill TABLE`, and `aloex fill apply PROGRAM TABLE` under the same name."""

    def make_context(self, info_name: str | None, args: list[str], *rest: Any, **more: Any) -> Any:
        if args[:1] != ["apply"]:
            return super().make_context(info_name, args, *rest, **more)
        app = typer.Typer(add_completion=False, rich_markup_mode=None)
        app.command("apply", cls=_Command)(apply)
        command = typer.main.get_command(app)
        return command.make_context(f"{info_name} apply", args[1:], *rest, **more)


def fill(
    table: Annotated[
        str,
        typer.Argument(help="A CSV file, or any file of delimited text; - reads standard input."),
    ],
    target: Annotated[
        str | None,
        typer.Option(
            help="The column to fill: its name, or its number from 1. Default: the only one that "
            "is partly empty."
        ),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(
            help="The columns to read: name,city or 1,3; a name with a comma in double quotes. "
            "Default: all others, at most 8."
        ),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(
            help="Where to write the filled table; - is standard output. Default: nowhere, it is "
            "only shown what would be filled; a table from standard input goes to standard output."
        ),
    ] = None,
    in_place: InPlaceOption = False,
    as_json: Annotated[bool, typer.Option("--json", help="Answer in JSON, for programs.")] = False,
    confidence: Annotated[
        bool,
        typer.Option(
            "--confidence",
            help="Add a column: given, or how sure the row is. A table with it can be corrected by "
            "hand and filled again.",
        ),
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with status 1 if a row is in doubt.")
    ] = False,
    save_program: Annotated[
        Path | None,
        typer.Option(
            help="Keep the program, for `aloex fill apply`; FILE.py is Python code instead."
        ),
    ] = None,
    delimiter: DelimiterOption = None,
    encoding: EncodingOption = None,
    header: HeaderOption = None,
) -> None:
    """Fill the empty cells of a column by the program behind the others.

    Fill in two or three cells by hand, and run this. Only the cells of that column change; all else
    of the file stays as it is. `aloex fill apply PROGRAM TABLE` runs a saved program on others.
    """
    from aloex.apps.fill import tables
    from aloex.cli.fill.saved import save_program as save

    make_printable()
    out = None if out is None else tables.output_path(out)
    path = _where(table, out, in_place, as_json)
    if path is not None:
        tables.check_output(path, table, in_place)
    if save_program is not None:
        _check_program_file(save_program, table, path)
    parts = tables.split_names(source or "")
    named = (target or "", source or "", *parts)
    opened = tables.open_source(
        table, delimiter=delimiter, encoding=encoding, header=header, named=named
    )
    job = _filled(opened, target, source, confidence, may_be_full=save_program is not None)
    tell_new_folder(path)
    if save_program is not None:  # first: from the filled table it could not be found again
        tell_new_folder(str(save_program))
        save(save_program, job.filled.program, job.target_name)
    if path is not None:
        state = opened.state if in_place else None
        tables.write_output(path, tables.filled_parts(job.table, job.changes(confidence)), state)
    texts = tables.formulas((job.table.lines[i], text) for i, text in job.texts)
    warn_of_formula(texts[0] if texts else None, len(texts))
    if as_json:
        print(json.dumps(job.to_json(), ensure_ascii=False, indent=1))
    else:
        _report(job, path, table, source, marked=confidence or job.marks is not None)
    if strict and job.filled.in_doubt:
        raise typer.Exit(1)


def _filled(
    opened: "Source",
    target: str | None,
    source: str | None,
    confidence: bool,
    may_be_full: bool,
) -> "Job":
    """The column filled, with progress."""
    from aloex.apps.fill.tables import read_table
    from aloex.cli.fill.job import fill_table
    from aloex.cli.fill.progress import progress_of

    with opened.file:
        tell_encoding(opened)
        with progress_of("reading", opened.size) as progress:
            read = read_table(opened, progress)
    with progress_of("filling", len(read.rows)) as progress:
        return fill_table(
            read,
            target,
            source,
            confidence=confidence,
            may_be_full=may_be_full,
            progress=lambda num_rows: progress(num_rows, num_rows),
        )


def _where(table: str, out: str | None, in_place: bool, as_json: bool) -> str | None:
    """Where the filled table is written; None for nowhere."""
    require(not (in_place and out is not None), "--in-place and --out exclude each other")
    require(not (in_place and table == "-"), "--in-place needs a file, not standard input")
    require(
        not (as_json and out == "-"),
        "--json and --out - would both write to standard output; give --out a file",
    )
    if in_place:
        return table
    return "-" if out is None and table == "-" and not as_json else out


def _check_program_file(program: Path, table: str, path: str | None) -> None:
    """An `InputError` if the program would be written over a table."""
    from aloex.apps.fill.tables import is_same_file

    require(str(program) != "-", "--save-program needs a file, not standard output")
    for other in (table, path):
        require(
            other is None or not is_same_file(program, other),
            f"--save-program would write over the table {other}; give it another name",
        )


def _report(job: "Job", path: str | None, table: str, source: str | None, marked: bool) -> None:
    """Print what was found and what to do next; not among the rows on standard output."""
    file = sys.stderr if path == "-" else sys.stdout
    if job.corrected:
        lines = lines_in_words([job.table.lines[i] for i in job.corrected])
        print(f"corrected since the last time, so examples now: {lines}", file=file)
    show(job, file)
    if path is None:
        print("no table is written: to keep this, add --out FILE or --in-place", file=file)
    elif path != "-":
        print(f"filled table: {path}", file=file)
    if job.filled.ask_next is not None:
        print(_next_step(job, path, table, source, marked), file=file)


def _next_step(job: "Job", path: str | None, table: str, source: str | None, marked: bool) -> str:
    """Which row to answer, and how; a table that is `marked` can be filled again."""
    row = job.filled.ask_next or 0
    cells = row_shown(job.cells_read(row))
    name, line = shown(job.table.names[job.target]), job.table.lines[row]
    if path in (None, "-") or (path != table and not marked):  # the table has its examples only
        where = "the table" if table == "-" else table
        return f"next: write {name} for {cells} into line {line} of {where}, and run this again"
    if not marked:
        return (
            f"next: correct {name} for {cells} in line {line} of {path} by hand; for other rows to "
            "follow from a correction, fill with --confidence from the start"
        )
    again = ["aloex", "fill", path, "--in-place"]
    again += [] if job.table.header else ["--no-header", "--target", str(job.target + 1)]
    again += [] if source is None else ["--source", source]
    return (
        f"next: correct {name} for {cells} in line {line} of {path} (or write given as its "
        f"confidence, if it is right), and run {shlex.join(again)}"
    )
