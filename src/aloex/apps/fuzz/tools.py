"""One way to run the tools of the system: compilers, apt-get, LLVM's programs, ffmpeg.

A tool that cannot be run, fails, or takes too long raises a `ToolError`. Its message is one line
with the tool, the reason, the command, and the last lines of the output or the log that has it all.
"""

import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from aloex.base.errors import InputError

NUM_LAST_LINES = 3
MAX_SHOWN = 200  # characters of a command or of the last lines in a message
# The line of a compiler's or of apt-get's output that says most about a failure.
REASON = re.compile(
    r"undefined reference|multiple definition|cannot find |unable to find library"
    r"|error: (?!linker command)|final link failed|Failed to fetch|^E: "
)


class ToolError(InputError):
    """A tool is missing, failed or took too long."""


@dataclass(frozen=True)
class ToolOutput:
    """What a tool wrote, and its exit status."""

    stdout: str
    stderr: str
    status: int = 0


def run_tool(
    command: Sequence[str | os.PathLike[str]],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    timeout: float | None = None,
    log: Path | None = None,
    check: bool = True,
) -> ToolOutput:
    """Run a tool without a shell and without input, and return its output.

    Args:
        command: the tool and its arguments.
        cwd: the folder to run it in.
        env: environment variables to set beside those of this process.
        timeout: seconds that it may take.
        log: a file to which the command and its output are added.
        check: whether an exit status other than 0 is an error.
    """
    words = [str(word) for word in command]
    tool = Path(words[0]).name
    try:
        done = subprocess.run(
            words,
            cwd=cwd,
            env={**os.environ, **(env or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout,
        )
    except OSError as error:
        raise ToolError(f"cannot run {tool}: {error.strerror} ({_shown(words)})") from None
    except subprocess.TimeoutExpired:
        raise ToolError(f"{tool} took longer than {timeout} seconds ({_shown(words)})") from None
    output = done.stdout + done.stderr
    if log is not None:
        with log.open("a") as file:
            file.write(f"$ {shlex.join(words)}\n{output}")
    if check and done.returncode != 0:
        lines = output.strip().splitlines() or ["no message"]
        reason = next((line for line in lines if REASON.search(line)), lines[-1])
        last = " | ".join(line.strip() for line in lines[-NUM_LAST_LINES:])
        rest = f"all output: {log}" if log is not None else f"last lines: {_cut(last)}"
        raise ToolError(f"{tool} failed: {reason.strip()} ({_shown(words)}; {rest})")
    return ToolOutput(done.stdout, done.stderr, done.returncode)


def find_tool(*names: str, package: str) -> str:
    """The path of the first of these programs that is installed."""
    for name in names:
        if (found := shutil.which(name)) is not None:
            return found
    raise ToolError(f"{names[0]} is missing; install it: apt-get install {package}")


def find_llvm(name: str) -> str:
    """The path of one of LLVM's programs."""
    return find_tool(f"{name}-19", name, package="llvm-19")


def cache_folder() -> Path:
    """A folder of the user for files that can be made again."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    path = Path(home) / "aloex"
    try:
        path.mkdir(parents=True, exist_ok=True)
        return path
    except OSError:
        return Path(tempfile.mkdtemp(prefix="aloex-"))


def _shown(words: Sequence[str]) -> str:
    return f"command: {_cut(shlex.join(words))}"


def _cut(text: str) -> str:
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}..."
