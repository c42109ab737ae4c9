"""Commands: `aloex` in processes of its own, and what a command line says of a command."""

import importlib
import subprocess
import sys

import typer

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


def parse(words):
    """Read a command of `aloex` or of a study as the command line does, without running it.

    Returns its name, such as "aloex fuzz run", and whether it is a group of commands. A mistake in
    its words raises.
    """
    if words[0] == "aloex":
        name, module, rest = "aloex", "aloex.cli.main", words[1:]
    else:
        assert words[:2] == ["python", "-m"], f"neither a study nor aloex: {words[0]}"
        name, module, rest = " ".join(words[:3]), f"{words[2]}.__main__", words[3:]
    command = typer.main.get_command(importlib.import_module(module).app)
    while hasattr(command, "resolve_command") and rest and rest[0] != "--help":
        context = command.make_context(name, list(rest))
        part, command, rest = command.resolve_command(context, [*rest])
        name = f"{name} {part}"
    is_group = hasattr(command, "resolve_command")
    if not is_group and "--help" not in rest:
        command.make_context(name, list(rest))
    return name, is_group
