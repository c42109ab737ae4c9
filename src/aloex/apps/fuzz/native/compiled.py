"""What is compiled from C when it is first needed, and kept in the user's cache."""

import hashlib
import os
from functools import cache
from pathlib import Path

from aloex.apps.fuzz.tools import cache_folder, find_tool, run_tool

HERE = Path(__file__).parent
MUTATOR, WORKER = ("mutator",), ("mutator", "worker")  # folders
LIBRARY = ("-shared", "-fPIC")
KINDS = {  # folders and flags
    "mutator.so": (MUTATOR, LIBRARY),
    "worker": (WORKER, ("-rdynamic",)),
    "preload.so": (WORKER, (*LIBRARY, "-DPRELOADED")),
}
# What is computed is the same with any compiler: none may join a product and a sum.
FLAGS = ("-std=gnu11", "-O2", "-fvisibility=hidden", "-ffp-contract=off")


def sources(*folders: str) -> list[Path]:
    """The C files of some folders."""
    return sorted(path for folder in folders for path in (HERE / folder).glob("*.c"))


@cache
def version() -> int:
    """A number that changes with the C files. A program linked with others has another one."""
    files = sorted(path for folder in WORKER for path in (HERE / folder).glob("*.[ch]"))
    content = b"".join(path.read_bytes() for path in files)
    return int.from_bytes(hashlib.sha256(content).digest()[:7])


def compile_flags() -> list[str]:
    """Flags that all our C is compiled with."""
    return [*FLAGS, f"-DALOEX_VERSION={version()}u"]


@cache
def compiled(name: str) -> str:
    """The path of one of `KINDS`."""
    folders, flags = KINDS[name]
    compiler = find_tool("cc", "clang-19", "clang", "gcc", package="clang-19")
    content = repr((compiler, compile_flags(), flags)).encode()
    cached = cache_folder() / f"{hashlib.sha256(content).hexdigest()[:16]}-{name}"
    if not cached.exists():
        new = f"{cached}.{os.getpid()}"
        own = [str(path) for path in sources(*folders)]
        run_tool([compiler, *compile_flags(), *flags, "-o", new, *own, "-ldl"])
        os.replace(new, cached)
    return str(cached)
