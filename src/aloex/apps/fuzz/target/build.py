"""Build a fuzz target: fetch its source, compile it with coverage, link it, gather seeds.

The objects are compiled once and linked twice, as a library for the executor and with libFuzzer, so
both count the same edges.
"""

import glob
import hashlib
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from aloex.apps.fuzz.target import debian
from aloex.apps.fuzz.target.recipe import TargetRecipe
from aloex.apps.fuzz.target.target import BUILT, Target
from aloex.apps.fuzz.tools import ToolError, cache_folder, find_tool, run_tool
from aloex.base.errors import InputError, require
from aloex.base.locks import folder_lock

COVERAGE = ["-O2", "-g", "-fPIC", "-fsanitize=fuzzer-no-link"]
LINES = ["-O1", "-g", "-fprofile-instr-generate", "-fcoverage-mapping"]
ASAN = ["-O1", "-g", "-fno-omit-frame-pointer", "-fsanitize=address,fuzzer-no-link"]
EXTRAS = ("asan", "coverage", "afl")
AFL, AFL_FLAGS = "afl-clang-fast", ["-O2", "-g"]
TIMES = ("", ", twice", ", three times", ", four times")
PACKAGES = "clang-19 libclang-rt-19-dev libfuzzer-19-dev llvm-19"


def build_target(
    recipe: TargetRecipe,
    out: Path | None = None,
    *,
    asan: bool = False,
    coverage: bool = False,
    afl: bool = False,
    tell: Callable[[str], None] = lambda line: None,
) -> Target:
    """Build a target, unless it is there and up to date.

    Args:
        recipe: what to build.
        out: the folder to build in; build/targets/<name> if None.
        asan, coverage, afl: whether to build the binaries of these names, too.
        tell: called with a line at the beginning of each step.
    """
    out = BUILT / recipe.name if out is None else out
    clang = find_clang()
    if afl:
        find_tool(AFL, package="afl++")
    missing = [need for need in recipe.needs if shutil.which(need.split(":")[0]) is None]
    packages = " ".join(need.split(":")[-1] for need in missing)
    require(not missing, f"{recipe.name} needs more programs: apt-get install {packages}")
    extras = {name for name, wanted in zip(EXTRAS, (asan, coverage, afl), strict=True) if wanted}
    with folder_lock(out, wait=True):
        fingerprint = fingerprint_of(recipe, clang)
        with suppress(InputError):  # not built yet, or damaged
            target = Target.load(out)
            if fingerprint and target.fingerprint == fingerprint:
                there = {name for name in EXTRAS if getattr(target, name)}
                if extras <= there:
                    return target
                extras |= there
        (out / "target.json").unlink(missing_ok=True)  # a half-done build is no target
        return build_anew(recipe, out, clang, fingerprint, extras, tell)


def build_anew(
    recipe: TargetRecipe,
    out: Path,
    clang: str,
    fingerprint: str,
    extras: set[str],
    tell: Callable[[str], None],
) -> Target:
    """The steps of a build, in order."""
    log = out / "build.log"
    log.write_text("")
    if recipe.package:
        tell(f"1 of 4: the source of {recipe.package}")
    tree, source = fetch_source(recipe, out)
    if recipe.configure:
        tell("2 of 4: its configuration")
    here = str(recipe.folder.absolute())
    for command in recipe.configure:
        run_tool([word.replace("{here}", here) for word in command], cwd=tree, log=log)
    files = match(tree, recipe.sources) + match(recipe.folder.absolute(), recipe.harness)
    tell(f"3 of 4: {len(files)} files to compile{TIMES[len(extras)]}")
    compile_and_link(recipe, tree, files, out, clang, extras, log)
    tell("4 of 4: seeds")
    target = Target(
        name=recipe.name,
        library=out / "library.so",
        fuzzer=out / "fuzzer",
        **{name: out / name for name in extras},
        seeds=gather_seeds(recipe, tree, out / "seeds", log),
        max_len=recipe.max_len,
        source=source,
        fingerprint=fingerprint,
    )
    target.save(out)
    return target


def fetch_source(recipe: TargetRecipe, out: Path) -> tuple[Path, str]:
    """The source tree, and what it was made from."""
    if not recipe.package:
        return recipe.folder.absolute(), str(recipe.folder)
    archive = debian.fetch(recipe.package, out, cache_folder() / "apt")
    tree = (out / "source").absolute()
    debian.unpack(archive, tree)
    return tree, archive.name


def compile_and_link(
    recipe: TargetRecipe,
    tree: Path,
    files: list[Path],
    out: Path,
    clang: str,
    extras: set[str],
    log: Path,
) -> None:
    """The library and the fuzzer from the same objects, then each of `extras` from its own."""
    flags = [*recipe.flags, *(f"-I{tree / folder}" for folder in recipe.include)]
    libraries = [f"-l{name}" for name in recipe.libraries]

    def compile_with(own_flags: list[str], compiler: str = clang) -> list[str]:
        return compile_all(compiler, files, [*own_flags, *flags], out / "objects", log)

    def link(name: str, *words: str, compiler: str = clang) -> None:
        run_tool([plus(compiler), *words, *libraries, "-o", out / name], log=log)

    objects = compile_with(COVERAGE)
    link("library.so", "-shared", *objects)
    link("fuzzer", "-fsanitize=fuzzer", *objects)
    if "asan" in extras:
        link("asan", "-fsanitize=address,fuzzer", *compile_with(ASAN))
    if "coverage" in extras:
        words = ("-fsanitize=fuzzer", "-fprofile-instr-generate")
        link("coverage", *words, *compile_with(LINES))
    if "afl" in extras:
        link("afl", "-fsanitize=fuzzer", *compile_with(AFL_FLAGS, AFL), compiler=AFL)
    shutil.rmtree(out / "objects")


def compile_all(
    clang: str, files: list[Path], flags: list[str], folder: Path, log: Path
) -> list[str]:
    """Compile files on all cores. Returns the paths of the objects."""
    require(len(files) > 0, "there is nothing to compile: no file matches the recipe's sources")
    folder.mkdir(exist_ok=True)
    objects = [str(folder / f"{i}.{path.stem}.o") for i, path in enumerate(files)]

    def compile_one(path: Path, to: str) -> None:
        compiler = clang if path.suffix == ".c" else plus(clang)
        run_tool([compiler, *flags, "-c", path, "-o", to], log=log)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(compile_one, files, objects))
    return objects


def gather_seeds(recipe: TargetRecipe, tree: Path, folder: Path, log: Path) -> Path | None:
    """Copy the seeds from the source tree, or run the recipe's script that makes them."""
    if not recipe.seeds and not recipe.make_seeds:
        return None
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for path in match(tree, recipe.seeds):
        inside = path.relative_to(tree).parts if path.is_relative_to(tree) else [path.name]
        shutil.copyfile(path, folder / "_".join(inside))
    if recipe.make_seeds:
        run_tool([sys.executable, recipe.folder / recipe.make_seeds, folder], log=log)
    return folder


def match(folder: Path, patterns: Sequence[str]) -> list[Path]:
    """Files under a folder that match, in the order of the patterns, then of their names."""
    found: dict[Path, None] = {}
    for pattern in patterns:
        names = sorted(glob.glob(pattern.removeprefix("!"), root_dir=folder, recursive=True))
        paths = [folder / name for name in names if (folder / name).is_file()]
        require(len(paths) > 0, f"no file matches {pattern} in {folder}")
        if pattern.startswith("!"):
            found = {path: None for path in found if path not in paths}
        else:
            found.update(dict.fromkeys(paths))
    return list(found)


def find_clang() -> str:
    """The name of Debian's clang-19, or of the clang that is installed, with its C++ compiler."""
    for clang in ("clang-19", "clang"):
        if shutil.which(clang) is not None and shutil.which(plus(clang)) is not None:
            return clang
    raise ToolError(f"clang is missing; install it: apt-get install {PACKAGES}")


def plus(clang: str) -> str:
    """The C++ compiler that belongs to a C compiler."""
    return f"{clang}++" if clang == AFL else clang.replace("clang", "clang++")


def fingerprint_of(recipe: TargetRecipe, clang: str) -> str:
    """A hash of all that goes into a build; empty for sources of the user, which may change."""
    if not recipe.package:
        return ""
    version = run_tool([clang, "--version"]).stdout
    parts = [version, repr((COVERAGE, ASAN, LINES)), recipe.name]
    files = sorted(path for path in recipe.folder.iterdir() if path.is_file())
    content = [path.read_bytes() for path in files]
    return hashlib.sha256(b"\0".join([*(part.encode() for part in parts), *content])).hexdigest()
