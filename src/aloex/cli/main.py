"""The `aloex` command: its parts joined, and errors told as one clear line."""

import sys
from typing import NoReturn

import typer

from aloex.base.errors import AloexError, Stopped
from aloex.base.extras import explain_missing
from aloex.cli import core, demo, synthetic
from aloex.cli.fill import fill, programs
from aloex.cli.fuzz import commands as fuzz

app = typer.Typer(
    name="aloex",
    help="Discrete energy-based models with a learned local-search sampler.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,  # its markup would swallow the shapes in square brackets
    pretty_exceptions_enable=False,
)
app.command("learn")(core.learn)
app.command("sample")(core.sample)
app.command("demo")(demo.demo)
app.add_typer(synthetic.app, name="synthetic")
app.add_typer(fuzz.app, name="fuzz")
app.command("fill")(fill.fill)
app.add_typer(programs.app, name="programs")


def main() -> None:
    """The `aloex` command."""
    run(app)


def run(app: typer.Typer) -> None:
    """Run a command; a user's mistake is one line and exit status 2, an interruption is 130."""
    try:
        app()
    except Stopped:
        sys.exit(130)  # it has said where it stopped and how to go on
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
    except AloexError as error:
        _fail(error)
    except ModuleNotFoundError as error:
        missing = explain_missing(error)
        if missing is None:
            raise
        _fail(missing)


def _fail(error: Exception) -> NoReturn:
    print(f"error: {error}", file=sys.stderr)
    sys.exit(2)
