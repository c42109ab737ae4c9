"""What `aloex fill` and `aloex fill apply` have in common."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from aloex.base.words import count
from aloex.cli.fill.screen import shown

if TYPE_CHECKING:
    from aloex.apps.fill.tables import Source

InPlaceOption = Annotated[
    bool, typer.Option("--in-place", help="Change the table itself, rather than write another.")
]
DelimiterOption = Annotated[
    str | None,
    typer.Option(help="Between fields: a character, or tab. Default: found in the first lines."),
]
EncodingOption = Annotated[
    str | None, typer.Option(help="Of the file, such as cp1252. Default: found in its bytes.")
]
HeaderOption = Annotated[
    bool | None,
    typer.Option("--header/--no-header", help="Is the first row a header? Default: a guess."),
]


def tell_encoding(source: "Source") -> None:
    """Say that an encoding is a guess."""
    if source.encoding.guessed:
        warn(
            f"{source.name} is not UTF-8; it is read as {source.encoding.name} "
            "(if letters look wrong, give --encoding)"
        )


def tell_new_folder(path: str | None) -> None:
    """Say that a folder is going to be made: its name may be mistyped."""
    from aloex.apps.fill.tables import is_in_new_folder

    if path is not None and is_in_new_folder(path):
        warn(f"{path} is in a folder that is not there yet; it is made")


def warn_of_formula(first: tuple[int, str] | None, number: int | None = None) -> None:
    """Say that a spreadsheet would compute an output, if there is one."""
    if first is not None:
        line, text = first
        many = "outputs" if number is None else count(number, "output")
        warn(f"{many} that a spreadsheet would compute, first in line {line}: {shown(text)}")


def warn(message: str) -> None:
    """A line on standard error."""
    print(f"warning: {message}", file=sys.stderr)
