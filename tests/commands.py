"""`aloex` in processes of its own, for tests of the command line."""

import subprocess
import sys

MAIN = "from aloex.cli import main; main()"


def aloex(*arguments, **options):
    """Run `aloex` in a process of its own."""
    return python(MAIN, *map(str, arguments), **options)


def python(program, *arguments, **options):
    command = [sys.executable, "-c", program, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, **options)


def assert_mistakes_are_one_line(start, cases, cwd):
    """Each of the cases, words after `start`, ends with one line that holds the text beside it.

    One process for all: the command's own `main` runs in it once per case.
    """
    done = python(
        "import sys\nfrom aloex.cli import main\n"
        f"for words in {list(cases)!r}:\n"
        f"    sys.argv = ['aloex', *{list(start)!r}, *words]\n"
        "    try:\n        main()\n"
        "    except SystemExit as stop:\n        print('exit', stop.code, file=sys.stderr)\n",
        cwd=cwd,
    )
    lines = done.stderr.splitlines()
    assert "Traceback" not in done.stderr
    assert len(lines) == 2 * len(cases), done.stderr
    for message, status, words in zip(lines[::2], lines[1::2], cases.values(), strict=True):
        assert message.startswith("error: ") and words in message, message
        assert status == "exit 2"
