"""Where a result comes from: the command, versions and machine of this run."""

import os
import platform
import shlex
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any


def provenance() -> dict[str, Any]:
    """The command, versions and machine of this run."""
    names = ("jax", "equinox", "optax", "numba", "torch")
    versions = {name: found for name in names if (found := _of(name))}
    return {
        "command": shlex.join([*_program(Path(sys.argv[0])), *sys.argv[1:]]),
        "versions": {"python": platform.python_version(), **versions},
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
    }


def _of(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _program(path: Path) -> list[str]:
    """How the program at `path` is started: `aloex`, a study by its module, or a script."""
    if path.name == "aloex" or path.parent.name == "aloex":  # or python -m aloex
        return ["aloex"]
    if path.parent.parent.name == "studies":
        module = ["studies", path.parent.name, *([] if path.stem == "__main__" else [path.stem])]
        return ["python", "-m", ".".join(module)]
    return ["python", os.path.relpath(path)]
