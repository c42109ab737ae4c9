"""What the command lines of all studies share."""

import typer

from aloex.cli.main import run_app

__all__ = ["command_line", "run_app"]


def command_line(help: str) -> typer.Typer:
    """A study's command line; `run_app(app)` tells a user's mistake in one line."""
    return typer.Typer(help=help, no_args_is_help=True, add_completion=False, rich_markup_mode=None)
