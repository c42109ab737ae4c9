"""The `aloex` command: its parts joined, and errors told as one clear line."""

import os
import sys
from io import TextIOWrapper
from typing import NoReturn

import typer

from aloex.base.compiled import keep_compiled_programs
from aloex.base.errors import AloexError, Stopped
from aloex.base.extras import explain_missing
from aloex.base.files import explain_os_error
from aloex.cli import core, demo, programs, synthetic
from aloex.cli.fill import fill
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
app.command("score")(core.score)
app.command("demo")(demo.demo)
app.add_typer(synthetic.app, name="synthetic")
app.add_typer(fuzz.app, name="fuzz")
app.command("fill", cls=fill.FillCommand)(fill.fill)
app.add_typer(programs.app, name="programs")


def main() -> None:
    """The `aloex` command."""
    keep_compiled_programs()
    if sys.stderr is None:  # closed: what nobody can read must not go among the rows on stdout
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # what a terminal cannot show is no reason to fail
            stream.reconfigure(errors="backslashreplace")
    run_app(app)


def run_app(app: typer.Typer) -> None:
    """Run a command. A user's mistake is one line and exit status 2.

    What a signal stopped exits as if the signal had ended it: 130 for SIGINT, 143 for SIGTERM.
    """
    try:
        app()
    except Stopped as stopped:  # it has said where it stopped and how to go on
        sys.exit(0 if stopped.number is None else 128 + stopped.number)
    except SystemExit as end:
        # Typer makes of ctrl-C an exit with status 130, and says nothing.
        if isinstance(getattr(end.__context__, "__cause__", None), KeyboardInterrupt):
            print("interrupted", file=sys.stderr)
        raise
    except AloexError as error:
        _fail(str(error))
    except ModuleNotFoundError as error:
        missing = explain_missing(error)
        if missing is None:
            raise
        _fail(str(missing))
    except OSError as error:
        _fail(explain_os_error(error))


def _fail(message: str) -> NoReturn:
    print(f"error: {message}", file=sys.stderr)
    sys.exit(2)
