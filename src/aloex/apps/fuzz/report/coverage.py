"""The lines of the target's source that inputs reach, as pages by llvm-cov.

The counts come from a build of its own (`aloex fuzz build --coverage`). It runs only inputs that
end well, because an input that crashes would lose the counts of all.
"""

import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from aloex.apps.fuzz.execute import Executor
from aloex.apps.fuzz.inputs import ExitStatus
from aloex.apps.fuzz.target import Target, build_command
from aloex.apps.fuzz.tools import find_llvm, run_tool
from aloex.base.errors import InputError, require

AT_ONCE = 500  # files on a command line
KINDS = ("lines", "functions", "regions", "branches")


def write_line_coverage(
    target: Target, files: Sequence[Path], out: Path
) -> dict[str, tuple[int, int]]:
    """Write the pages to `out`. Returns for lines and so on how many are covered and exist."""
    binary = target.coverage
    if binary is None:
        raise InputError(
            f"the target {target.name} has no line counts; build it with them: "
            f"{build_command(target, '--coverage')}"
        )
    cov, profdata = find_llvm("llvm-cov"), find_llvm("llvm-profdata")
    files = ending_well(target, files)
    with tempfile.TemporaryDirectory() as folder:
        counts = count(binary, files, Path(folder))
        merged = f"{folder}/all.profdata"
        run_tool([profdata, "merge", "-sparse", "-o", merged, *counts])
        about = [os.path.abspath(binary), f"-instr-profile={merged}"]
        pages = ["-format=html", f"-output-dir={out}", "-show-branches=count"]
        run_tool([cov, "show", *about, *pages])
        summary = run_tool([cov, "export", *about, "-summary-only"]).stdout
    totals = json.loads(summary)["data"][0]["totals"]
    return {kind: (totals[kind]["covered"], totals[kind]["count"]) for kind in KINDS}


def ending_well(target: Target, files: Sequence[Path]) -> list[Path]:
    """The files that do not make the target fail."""
    with Executor(target) as executor:
        status = executor.run([path.read_bytes() for path in files]).status
    good = [path for path, ending in zip(files, status, strict=True) if ending == ExitStatus.OK]
    require(
        len(good) > 0,
        f"{target.name} fails on all inputs given ({len(files)}); none can be counted",
    )
    return good


def count(binary: Path, files: Sequence[Path], folder: Path) -> list[str]:
    """Run files. Returns the paths of the counts that the binary wrote."""
    paths = []
    for start in range(0, len(files), AT_ONCE):
        paths.append(str(folder / f"{start}.profraw"))
        part = [str(path.absolute()) for path in files[start : start + AT_ONCE]]
        run_tool([os.path.abspath(binary), *part], env={"LLVM_PROFILE_FILE": paths[-1]})
    return paths
