"""Compile the files of a target and link the binaries that fuzzing needs.

Each set of flags makes one set of objects, and some sets are linked twice:

    library.so   what the executor runs: counters of edges, nothing else
    fuzzer       with libFuzzer: the same edges, and callbacks at compares
    tracer.so    the objects of `fuzzer` as a library; the worker answers the callbacks
    asan         with libFuzzer and sanitizers: what a user runs on one file
    sanitized    the objects of `asan`, linked with the worker
    coverage     with line counts, for llvm-cov
    afl, afl-cmplog   for AFL++; the second logs compares
"""

import os
import shutil
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from aloex.apps.fuzz.target.target import FILES
from aloex.apps.fuzz.tools import ToolError, find_tool, run_tool
from aloex.base.errors import require

AFL = "afl-clang-fast"
PACKAGES = "clang-19 libclang-rt-19-dev libfuzzer-19-dev llvm-19"

# Edges are counted after all optimisation. So the library, which leaves out the callbacks that a
# worker does not answer, has exactly the edges of `fuzzer`.
COMPARES = ["-O2", "-g", "-fPIC", "-fsanitize=fuzzer-no-link"]
NO_CALLBACKS = "-fno-sanitize-coverage=trace-cmp,indirect-calls,stack-depth"
EDGES = [*COMPARES, NO_CALLBACKS]
LINES = ["-O1", "-g", "-fprofile-instr-generate", "-fcoverage-mapping"]
AFL_FLAGS = ["-O2", "-g"]
SANITIZED = ["-O1", "-g", "-fno-omit-frame-pointer", "-fsanitize=fuzzer-no-link", NO_CALLBACKS]

# A library calls its own functions, not those of the same name in the worker.
SHARED = ["-shared", "-Wl,-Bsymbolic-functions"]
# The functions that native/worker/compares.c wraps. fuzzer-no-link keeps them from being inlined.
WRAPPED = ("memcmp", "bcmp", "strcmp", "strncmp", "strcasecmp", "strncasecmp", "strstr", "memmem")

# Every error ends the input, so a check that correct programs fail in practice would hide all that
# comes after it. Left out are: alignment (harmless on x86), left shifts of negative numbers,
# overflow of unsigned numbers and of pointers, conversions that lose something, memcpy from NULL of
# no bytes, and what needs type information (vptr, function).
SANITIZERS = (
    "address",
    "array-bounds",
    "bool",
    "builtin",
    "integer-divide-by-zero",
    "null",
    "return",
    "shift-exponent",
    "signed-integer-overflow",
    "unreachable",
    "vla-bound",
)

ALWAYS = ("library", "fuzzer", "tracer")
WITH_SANITIZERS = ("asan", "sanitized")
EXTRAS = ("coverage", "afl", "afl_cmplog")

PUBLIC = ("main", "LLVMFuzzer*", "__*")  # functions of the worker that a target or clang calls
NATIVE = Path(__file__).parents[1] / "native"


@dataclass(frozen=True)
class Build:
    """What all binaries of a target have in common."""

    files: Sequence[Path]
    flags: Sequence[str]
    libraries: Sequence[str]
    sanitizers: Sequence[str]
    clang: str
    out: Path  # the folder of the binaries
    log: Path

    def compile(
        self, name: str, flags: Sequence[str], compiler: str = "", env: Mapping[str, str] = {}
    ) -> list[str]:
        """Compile the target's files. Returns the paths of the objects."""
        flags = [*flags, *self.flags]
        return compile_all(
            compiler or self.clang, self.files, flags, self.out / "objects" / name, self.log, env
        )

    def link(
        self, binary: str, *words: str, compiler: str = "", env: Mapping[str, str] = {}
    ) -> None:
        """Link one of the binaries."""
        linker, to = plus(compiler or self.clang), self.out / FILES[binary]
        run_tool([linker, *words, *self.libraries, "-o", to], log=self.log, env=env)


def compile_and_link(build: Build, binaries: set[str]) -> None:
    """Make those of the binaries, named as the fields of `Target`, that are asked for."""
    build.link("library", *SHARED, *build.compile("edges", EDGES))
    compares = build.compile("compares", COMPARES)
    build.link("fuzzer", "-fsanitize=fuzzer", *compares)
    wrap = [f"-Wl,--wrap={name}" for name in WRAPPED]
    build.link("tracer", *SHARED, *wrap, *compares)
    if "sanitized" in binaries:
        link_sanitized(build)
    if "coverage" in binaries:
        lines = build.compile("lines", LINES)
        build.link("coverage", "-fsanitize=fuzzer", "-fprofile-instr-generate", *lines)
    for name, env in (("afl", {}), ("afl_cmplog", {"AFL_LLVM_CMPLOG": "1"})):
        if name in binaries:
            objects = build.compile(name, AFL_FLAGS, AFL, env)
            build.link(name, "-fsanitize=fuzzer", *objects, compiler=AFL, env=env)
    shutil.rmtree(build.out / "objects")


def link_sanitized(build: Build) -> None:
    """The binaries with sanitizers: one with libFuzzer, one with our worker."""
    checks = [f"-fsanitize={','.join(build.sanitizers)}", "-fno-sanitize-recover=all"]
    objects = build.compile("sanitized", [*SANITIZED, *checks])
    build.link("asan", "-fsanitize=fuzzer", *checks, *objects)
    worker = str(compile_worker(build))
    build.link("sanitized", *checks, *objects, worker, "-ldl")


def compile_worker(build: Build) -> Path:
    """The worker as one object. A target may have functions of the same names as its own."""
    from aloex.apps.fuzz.native import compile_flags, sources  # with NumPy: slow to load

    folder = build.out / "objects/worker"
    flags = [*compile_flags(), "-g", "-DLINKED"]
    objects = compile_all(build.clang, sources("mutator", "worker"), flags, folder, build.log)
    whole, kept = folder / "whole.o", folder / "worker.o"
    run_tool([build.clang, "-r", "-nostdlib", *objects, "-o", whole], log=build.log)
    names = [word for name in PUBLIC for word in ("--keep-global-symbol", name)]
    objcopy = find_tool("objcopy", "llvm-objcopy-19", package="binutils")
    run_tool([objcopy, "--wildcard", *names, whole, kept], log=build.log)
    return kept


def compile_all(
    compiler: str,
    files: Sequence[Path],
    flags: Sequence[str],
    folder: Path,
    log: Path,
    env: Mapping[str, str] = {},
) -> list[str]:
    """Compile files on all cores. Returns the paths of the objects."""
    require(len(files) > 0, "there is nothing to compile: no file matches the recipe's sources")
    folder.mkdir(parents=True)
    objects = [str(folder / f"{i}.{path.stem}.o") for i, path in enumerate(files)]

    def compile_one(path: Path, to: str) -> None:
        command = compiler if path.suffix == ".c" else plus(compiler)
        run_tool([command, *flags, "-c", path, "-o", to], log=log, env=env)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(compile_one, files, objects))
    return objects


def find_clang() -> str:
    """The name of Debian's clang-19, or of the clang that is installed, with its C++ compiler."""
    for clang in ("clang-19", "clang"):
        if shutil.which(clang) is not None and shutil.which(plus(clang)) is not None:
            return clang
    raise ToolError(f"clang is missing; install it: apt-get install {PACKAGES}")


def plus(compiler: str) -> str:
    """The C++ compiler that belongs to a C compiler."""
    return f"{compiler}++" if compiler == AFL else compiler.replace("clang", "clang++")
