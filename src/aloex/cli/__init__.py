"""The command line: one file per group of commands."""

from aloex.cli.main import main

__all__ = ["main"]
