"""Compiled programs are kept on the disk, so that a command does not compile what one before did.

JAX does the work; it reads these settings from the environment when it is imported. Only the
`aloex` command asks for it: a library should not choose folders for its users.
"""

import hashlib
import os
import platform
from pathlib import Path

FOLDER = "JAX_COMPILATION_CACHE_DIR"
OTHERS = {
    "JAX_COMPILATION_CACHE_MAX_SIZE": str(2**30),  # bytes; with a bound, JAX locks the folder
    "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0.5",
}


def keep_compiled_programs() -> None:
    """Have JAX keep what it compiles, unless the user has chosen a folder or has none to write to.

    JAX_ENABLE_COMPILATION_CACHE=false, which JAX knows, switches it off.
    """
    if FOLDER in os.environ:
        return
    try:
        folder = _caches() / "aloex" / _machine()
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):  # the latter: there is no home
        return
    if os.access(folder, os.W_OK):
        os.environ[FOLDER] = str(folder)
        for name, value in OTHERS.items():
            os.environ.setdefault(name, value)


def _caches() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def _machine() -> str:
    """A name for this kind of processor: programs for another one must not be loaded."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else [platform.processor()]
    kind = [line for line in lines if line.startswith(("model name", "flags", "Features"))]
    found = hashlib.sha256("\n".join(sorted(set(kind)) or lines[:1]).encode())
    return f"{platform.machine()}-{found.hexdigest()[:12]}"
