"""Which lines of the target's source inputs reach, as pages by llvm-cov.

The counts come from a build of its own (`aloex fuzz build --coverage`), which runs the inputs that
end well. One that crashes would take the counts of all with it.
"""

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from aloex.apps.fuzz.execute.executor import Executor, Status
from aloex.apps.fuzz.target.target import Target
from aloex.base.errors import AloexError, InputError, require

AT_ONCE = 500  # files on a command line
KINDS = ("lines", "functions", "regions", "branches")


def write(target: Target, files: Sequence[Path], out: Path) -> dict[str, tuple[int, int]]:
    """Write the pages to `out`; how many lines and so on are covered, and of how many."""
    binary = target.coverage
    if binary is None:
        raise InputError(
            f"the target {target.name} has no line counts; build it with them: "
            f"aloex fuzz build {target.name} --coverage"
        )
    cov, profdata = tool("llvm-cov"), tool("llvm-profdata")
    files = ending_well(target, files)
    with tempfile.TemporaryDirectory() as folder:
        counts = count(binary, files, Path(folder))
        merged = f"{folder}/all.profdata"
        run([profdata, "merge", "-sparse", "-o", merged, *counts])
        about = [os.path.abspath(binary), f"-instr-profile={merged}"]
        run([cov, "show", *about, "-format=html", f"-output-dir={out}", "-show-branches=count"])
        said = run([cov, "export", *about, "-summary-only"])
    totals = json.loads(said)["data"][0]["totals"]
    return {kind: (totals[kind]["covered"], totals[kind]["count"]) for kind in KINDS}


def ending_well(target: Target, files: Sequence[Path]) -> list[Path]:
    """Without the files that make the target fail."""
    with Executor(target) as executor:
        status = executor.run([path.read_bytes() for path in files]).status
    good = [path for path, ending in zip(files, status, strict=True) if ending == Status.OK]
    require(len(good) > 0, f"all {len(files)} inputs make {target.name} fail; none can be counted")
    return good


def count(binary: Path, files: Sequence[Path], folder: Path) -> list[str]:
    """Run files; the paths of what the binary counted."""
    paths = []
    for start in range(0, len(files), AT_ONCE):
        paths.append(str(folder / f"{start}.profraw"))
        part = [str(path.absolute()) for path in files[start : start + AT_ONCE]]
        environment = {**os.environ, "LLVM_PROFILE_FILE": paths[-1]}
        run([os.path.abspath(binary), *part], environment)
    return paths


def run(command: list[str], environment: dict[str, str] | None = None) -> str:
    """Run a program and return what it says."""
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, errors="replace"
    )
    if done.returncode != 0:
        why = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise AloexError(f"{Path(command[0]).name} failed: {why}")
    return done.stdout


def tool(name: str) -> str:
    """One of LLVM's programs."""
    found = shutil.which(f"{name}-19") or shutil.which(name)
    if found is None:
        raise InputError(f"{name} is missing; install it: apt-get install llvm-19")
    return found
