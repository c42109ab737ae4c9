"""exform, a program that learns a change of text from examples: how it is installed and called.

It lives in a virtual environment of its own and is called as its users call it, once for each way:

- `exform --fill TABLE` fills the second column of a table from the rows that have it;
- `exform --in-line --all -E EXAMPLES CELLS` rewrites the parts of a cell that an example changes.

We tried its other options on the tasks of dev and bustle, too: lines instead of a table, no slices,
empty cells where a program does not fit, only the first match of a line. The first way solves more
than any of them; the second one, where the first finds no program, adds a few tasks; no other
option solves a task from one, two or three examples that neither of these ways does.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from aloex.apps.fuzz.tools import ToolError, run_tool
from studies.fill.tasks import Task

VERSION = "0.10.0"
MAX_SECONDS = 20.0  # for one call; its own search gives up after 5
MAX_BYTES = 4 << 30
INSTALL_SECONDS = 300.0
BETWEEN = "\x1f"  # stands between input and output: no cell has it, while a tab may be in one
# The limit is set by a small program that then becomes exform: no code of ours runs in a fork.
LIMITED = """import os, resource, sys
size = int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_AS, (size, size))
os.execv(sys.argv[2], sys.argv[2:])
"""


class Reply(NamedTuple):
    """What one call answered: a text for each row, or None if it found no program."""

    values: list[str] | None
    seconds: float = 0.0
    cut: bool = False  # it met a limit or crashed


def install(folder: Path, version: str) -> Path:
    """The program `exform` of this version, in a virtual environment; what is there is kept."""
    program = folder.absolute() / "bin" / "exform"
    if _version(program) != version:
        python = program.with_name("python")
        run_tool([sys.executable, "-m", "venv", folder], timeout=INSTALL_SECONDS)
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        run_tool([*pip, f"exform=={version}"], timeout=INSTALL_SECONDS)
    return program


def _version(program: Path) -> str | None:
    try:
        return run_tool([program, "--version"], timeout=MAX_SECONDS).stdout.split()[-1]
    except (ToolError, IndexError):
        return None


class Exform:
    """The program, called in each way with the first rows of a task as examples."""

    def __init__(self, program: Path, *, seconds: float = MAX_SECONDS, memory: int = MAX_BYTES):
        self.program, self.seconds, self.memory = program, seconds, memory

    def __call__(self, task: Task, num_examples: int) -> list[Reply]:
        with tempfile.TemporaryDirectory() as folder:
            return [way(self, task, num_examples, Path(folder)) for way in WAYS.values()]

    def fill(self, task: Task, num_examples: int, folder: Path) -> Reply:
        """The second column of a table is filled; the rows come back with it."""
        outputs = [text if i < num_examples else "" for i, text in enumerate(task.outputs)]
        table = _write(folder / "table", _joined(_cells(task), outputs))
        reply = self._call("--fill", "--col-sep", BETWEEN, table)
        if reply.values is None:
            return reply
        return reply._replace(values=[line.partition(BETWEEN)[2] for line in reply.values])

    def in_line(self, task: Task, num_examples: int, folder: Path) -> Reply:
        """What the examples change is looked for in every cell and changed there."""
        cells = _cells(task)
        pairs = _joined(cells[:num_examples], task.outputs[:num_examples])
        given, path = _write(folder / "examples", pairs), _write(folder / "cells", cells)
        return self._call("--in-line", "--all", "-E", given, "--sep", BETWEEN, path)

    def _call(self, *words: str | Path) -> Reply:
        """Its lines; what it says of doubts goes to its other output, which `--quiet` spares."""
        limited = [sys.executable, "-I", "-S", "-c", LIMITED, str(self.memory)]
        start = time.perf_counter()
        try:
            done = subprocess.run(
                [*limited, self.program, "--quiet", *words],
                env=_environment(),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                timeout=self.seconds,
            )
        except subprocess.TimeoutExpired:
            return Reply(None, time.perf_counter() - start, cut=True)
        seconds = time.perf_counter() - start
        if done.returncode != 0:
            crashed = done.returncode < 0 or "Traceback" in done.stderr
            return Reply(None, seconds, crashed)
        return Reply(done.stdout.split("\n")[:-1], seconds)


WAYS = {"--fill": Exform.fill, "--in-line --all": Exform.in_line}


def suits(task: Task) -> bool:
    """Whether a task can be told to it: one column, and no cell of several lines."""
    texts = [*_cells(task), *task.outputs]
    return len(task.rows[0]) == 1 and not any(c in text for text in texts for c in "\n\r" + BETWEEN)


def _cells(task: Task) -> list[str]:
    return [row[0] for row in task.rows]


def _joined(inputs: Sequence[str], outputs: Sequence[str]) -> list[str]:
    return [x + BETWEEN + y for x, y in zip(inputs, outputs, strict=True)]


def _write(path: Path, lines: Sequence[str]) -> Path:
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8", newline="\n")
    return path


def _environment() -> dict[str, str]:
    """Ours without what would show it our packages; it reads and writes UTF-8."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return {**kept, "PYTHONUTF8": "1"}
