"""The `aloex` command; `python -m aloex` is the same.

What it imports takes a third of a second. So nothing is imported before there is someone to tell an
interrupt in one line.
"""

import sys


def main() -> None:
    """Run the command; after ctrl-C, at any time, the exit status is 130."""
    try:
        from aloex.cli import main as run

        run()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
