"""All that the study needs on a machine that has Python and nothing to build with, in one archive.

targets/NAME/    built targets, without debugging information and sources
models/          what was learned
bin/afl-fuzz     a script that starts lib/afl-fuzz with the libraries beside it
cache/aloex/     our compiled worker
settings.sh      `source` it: the paths
"""

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from aloex.apps.fuzz.target import Target
from aloex.apps.fuzz.tools import find_tool, run_tool
from aloex.base.errors import require
from studies.fuzz import planted

MAX_MIB = 25  # of the archive
ELF = b"\x7fELF"
NOT_NEEDED = {"coverage": None, "asan": None, "tree": None}
# The libraries of afl-fuzz come with the loader that belongs to them, so those of the machine do
# not matter; the targets that it starts are loaded as usual.
AFL_FUZZ = """#!/bin/sh
lib=$(dirname "$(readlink -f "$0")")/../lib
exec "$lib/ld-linux-x86-64.so.2" --library-path "$lib" "$lib/afl-fuzz" "$@"
"""
SETTINGS = """# source this file in bash
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
export PATH="$here/bin:$PATH" XDG_CACHE_HOME="$here/cache"
"""


def fill(to: Path, targets: Sequence[str], models: Path | None = None) -> str:
    """Fill a folder and pack it; returns lines on what it holds."""
    loaded = [Target.load(name) for name in targets]
    shutil.rmtree(to, ignore_errors=True)
    for target in loaded:
        _target(target, to / "targets" / target.name)
    if models:
        shutil.copytree(models, to / "models", ignore=lambda _, names: [*filter(_is_run, names)])
    _afl(to)
    _cache(to, loaded[0])
    (to / "settings.sh").write_text(SETTINGS)
    archive = shutil.make_archive(str(to), "xztar", to.parent, to.name)
    size = os.stat(archive).st_size / 2**20
    require(
        size < MAX_MIB, f"{archive} has {size:.0f} MiB, more than {MAX_MIB}; name fewer targets"
    )
    names = ",".join(f"{to}/targets/{target.name}" for target in loaded)
    return (
        f"carried: {os.path.relpath(archive)} ({size:.1f} MiB)\n"
        f"there: python3 -m tarfile -e {to}.tar.xz {to.parent} && source {to}/settings.sh && "
        f"python3 -m studies.fuzz seconds --targets {names}"
    )


def _is_run(name: str) -> bool:
    """Whether it is not a model, but the folder in which one was learned."""
    return not name.endswith(".safetensors")


def _target(target: Target, to: Path) -> None:
    """The files of a built target."""
    to.mkdir(parents=True)
    beside = target.library.parent / planted.BESIDE
    target = replace(target, **(NOT_NEEDED | ({"fuzzer": None} if beside.exists() else {})))
    for path in [value for value in vars(target).values() if isinstance(value, Path)]:
        if path.is_dir():
            shutil.copytree(path, to / path.name)
        elif path.read_bytes()[:4] == ELF:
            # Names of functions and the sections of the coverage stay.
            run_tool(["strip", "-g", path, "-o", to / path.name])
        else:
            shutil.copyfile(path, to / path.name)
    target.save(to)
    if beside.exists():
        (to / planted.BESIDE).mkdir()
        for path in sorted(beside.iterdir()):
            what = "-g" if path.name == "judge" else "-s"  # it tells bugs by the names of functions
            run_tool(["strip", what, path, "-o", to / planted.BESIDE / path.name])
    Target.load(to)  # it is whole


def _afl(to: Path) -> None:
    """afl-fuzz with its libraries and its loader."""
    afl = find_tool("afl-fuzz", package="afl++")
    lib, bin_ = to / "lib", to / "bin"
    lib.mkdir()
    bin_.mkdir()
    shutil.copy2(os.path.realpath(afl), lib / "afl-fuzz")
    listed = run_tool(["ldd", afl]).stdout
    for path in re.findall(r"(?:=> )?(/\S+) \(0x", listed):
        shutil.copyfile(path, lib / Path(path).name)
    (lib / "ld-linux-x86-64.so.2").chmod(0o755)
    (bin_ / "afl-fuzz").write_text(AFL_FUZZ)
    (bin_ / "afl-fuzz").chmod(0o755)


def _cache(to: Path, target: Target) -> None:
    """Our programs that are compiled when they are first used: a short campaign uses them."""
    cache = (to / "cache").absolute()
    with tempfile.TemporaryDirectory(prefix="aloex-") as folder:
        words = ["--seconds", "1", "--workers", "1", "--out", f"{folder}/out"]
        command = [sys.executable, "-m", "aloex", "fuzz", "run", target.library.parent, *words]
        run_tool(command, env={"XDG_CACHE_HOME": str(cache)})
