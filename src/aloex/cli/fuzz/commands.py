"""`aloex fuzz`: its commands joined."""

import typer

from aloex.cli.fuzz.build import build
from aloex.cli.fuzz.learn import learn
from aloex.cli.fuzz.replay import coverage, replay
from aloex.cli.fuzz.run import run

app = typer.Typer(
    help="Fuzzing: build instrumented targets, run inputs in them, look for new ones.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
for command in (build, replay, run, learn, coverage):
    app.command()(command)
