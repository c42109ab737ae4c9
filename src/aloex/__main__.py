"""`python -m aloex` is the `aloex` command."""

from aloex.cli import main

main()
