"""Build a fuzz target: fetch its source, compile it with coverage, link it, gather seeds.

A target is a folder with a `target.toml`; its keys are the fields of `Recipe`. The objects are
compiled once and linked twice, as a library for the executor and with libFuzzer, so both count the
same edges. See `targets/` for examples.
"""

import glob
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, fields
from pathlib import Path

from aloex.apps.fuzz.target import debian
from aloex.apps.fuzz.target.target import BUILT, MAX_LEN, Target, cache_folder
from aloex.base.errors import InputError, require

KINDS = {
    int: "a number",
    str: "a string",
    list: "a list of strings",
    "configure": "a list of commands, each a list of words",
}
COVERAGE = ["-O2", "-g", "-fPIC", "-fsanitize=fuzzer-no-link"]
LINES = ["-O1", "-g", "-fprofile-instr-generate", "-fcoverage-mapping"]
ASAN = ["-O1", "-g", "-fno-omit-frame-pointer", "-fsanitize=address,fuzzer-no-link"]
WHY = re.compile(r"undefined reference|error: (?!linker command)")  # the line that tells most
EXTRAS = ("asan", "coverage", "afl")
AFL, AFL_FLAGS = "afl-clang-fast", ["-O2", "-g"]
TIMES = ("", ", twice", ", three times", ", four times")
PACKAGES = "clang-19 libclang-rt-19-dev libfuzzer-19-dev llvm-19"


@dataclass(frozen=True)
class Recipe:
    """How a target is built. Patterns are globs; one that begins with ! takes files out again."""

    name: str
    folder: Path  # of target.toml
    about: str = ""
    package: str = ""  # the Debian source package; none: the sources are in `folder`
    needs: Sequence[str] = ()  # programs, as program or program:package
    configure: Sequence[Sequence[str]] = ()  # commands in the source tree; {here} is `folder`
    sources: Sequence[str] = ()  # patterns in the source tree
    harness: Sequence[str] = ()  # patterns in `folder`; one has LLVMFuzzerTestOneInput
    include: Sequence[str] = ()  # folders of the source tree
    flags: Sequence[str] = ()  # for the compiler
    libraries: Sequence[str] = ()
    seeds: Sequence[str] = ()  # patterns in the source tree
    make_seeds: str = ""  # a Python script in `folder`, called with the folder to fill
    max_len: int = MAX_LEN

    @classmethod
    def load(cls, where: str | os.PathLike) -> "Recipe":
        """The recipe in a folder, or of a target that comes with Aloex."""
        path = find_folder(Path(where)) / "target.toml"
        try:
            given = tomllib.loads(path.read_text())
        except (OSError, ValueError) as error:
            raise InputError(f"{path} cannot be read: {error}") from None
        known = {field.name: field.default for field in fields(cls)[2:]}
        for key, value in given.items():
            require(key in known, f"{path} has an unknown key {key!r}; known: {', '.join(known)}")
            kind = list if known[key] == () else type(known[key])
            good = isinstance(value, kind)
            if key == "configure":
                good = good and all(isinstance(command, list) for command in value)
            require(good, f"{path}: {key} must be {KINDS.get(key, KINDS[kind])}, got {value!r}")
        return cls(name=path.parent.resolve().name, folder=path.parent, **given)


def find_folder(where: Path) -> Path:
    """A target's folder, given by itself or by its name under targets/."""
    if len(where.parts) > 1 or (where / "target.toml").is_file():
        require((where / "target.toml").is_file(), f"there is no target.toml in {where}")
        return where
    homes = [Path("targets"), Path(__file__).parent / "builtin"]  # here, or those of the package
    for home in homes:
        if (home / where / "target.toml").is_file():
            return home / where
    names = sorted({path.parent.name for home in homes for path in home.glob("*/target.toml")})
    raise InputError(f"there is no target {where}; known: {', '.join(names) or 'none'}")


def build(
    recipe: Recipe,
    out: Path | None = None,
    *,
    asan: bool = False,
    coverage: bool = False,
    afl: bool = False,
    tell: Callable[[str], None] = lambda line: None,
) -> Target:
    """Build a target into `out` (build/targets/<name>), unless it is there and up to date.

    `asan`, `coverage` and `afl` ask for the binaries of these names, beside those always made.
    `tell` is called with a line at the beginning of each step.
    """
    out = BUILT / recipe.name if out is None else out
    clang = find_clang()
    why = f"{AFL} is missing; install it: apt-get install afl++"
    require(not afl or shutil.which(AFL) is not None, why)
    missing = [need for need in recipe.needs if shutil.which(need.split(":")[0]) is None]
    packages = " ".join(need.split(":")[-1] for need in missing)
    require(not missing, f"{recipe.name} needs more programs: apt-get install {packages}")
    extras = {name for name, wanted in zip(EXTRAS, (asan, coverage, afl), strict=True) if wanted}
    with debian.alone(out):
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
    recipe: Recipe,
    out: Path,
    clang: str,
    fingerprint: str,
    extras: set[str],
    tell: Callable[[str], None],
) -> Target:
    """The steps, in order."""
    log, tree, source = out / "build.log", recipe.folder, str(recipe.folder)
    log.write_text("")
    if recipe.package:
        tell(f"1 of 4: the source of {recipe.package}")
        archive = debian.fetch(recipe.package, out, cache_folder() / "apt")
        tree, source = out / "source", archive.name
        debian.unpack(archive, tree)
    tree = tree.absolute()
    if recipe.configure:
        tell("2 of 4: its configuration")
    for command in recipe.configure:
        run(
            [word.replace("{here}", str(recipe.folder.absolute())) for word in command],
            log,
            cwd=tree,
        )
    files = match(tree, recipe.sources) + match(recipe.folder.absolute(), recipe.harness)
    flags = [*recipe.flags, *(f"-I{tree / folder}" for folder in recipe.include)]

    tell(f"3 of 4: {len(files)} files to compile{TIMES[len(extras)]}")
    objects = compile_all(clang, files, [*COVERAGE, *flags], out / "objects", log)
    libraries = [f"-l{name}" for name in recipe.libraries]
    link = lambda name, *words: run([plus(clang), *words, *libraries, "-o", str(out / name)], log)
    link("library.so", "-shared", *objects)
    link("fuzzer", "-fsanitize=fuzzer", *objects)
    if "asan" in extras:
        objects = compile_all(clang, files, [*ASAN, *flags], out / "objects", log)
        link("asan", "-fsanitize=address,fuzzer", *objects)
    if "coverage" in extras:
        objects = compile_all(clang, files, [*LINES, *flags], out / "objects", log)
        link("coverage", "-fsanitize=fuzzer", "-fprofile-instr-generate", *objects)
    if "afl" in extras:
        objects = compile_all(AFL, files, [*AFL_FLAGS, *flags], out / "objects", log)
        words = ["-fsanitize=fuzzer", *objects, *libraries, "-o", str(out / "afl")]
        run([plus(AFL), *words], log)
    shutil.rmtree(out / "objects")
    tell("4 of 4: seeds")
    seeds = gather_seeds(recipe, tree, out / "seeds", log)
    target = Target(
        name=recipe.name,
        library=out / "library.so",
        fuzzer=out / "fuzzer",
        **{name: out / name for name in extras},
        seeds=seeds,
        max_len=recipe.max_len,
        source=source,
        fingerprint=fingerprint,
    )
    target.save(out)
    return target


def compile_all(
    clang: str, files: list[Path], flags: list[str], folder: Path, log: Path
) -> list[str]:
    """Compile files on all cores; the objects' paths."""
    require(len(files) > 0, "there is nothing to compile: no file matches the recipe's sources")
    folder.mkdir(exist_ok=True)
    objects = [str(folder / f"{i}.{path.stem}.o") for i, path in enumerate(files)]

    def compile_one(path: Path, to: str) -> None:
        compiler = clang if path.suffix == ".c" else plus(clang)
        run([compiler, *flags, "-c", str(path), "-o", to], log)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(compile_one, files, objects))
    return objects


def gather_seeds(recipe: Recipe, tree: Path, folder: Path, log: Path) -> Path | None:
    """Copy or make the seeds."""
    if not recipe.seeds and not recipe.make_seeds:
        return None
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for path in match(tree, recipe.seeds):
        inside = path.relative_to(tree).parts if path.is_relative_to(tree) else [path.name]
        shutil.copyfile(path, folder / "_".join(inside))
    if recipe.make_seeds:
        run([sys.executable, str(recipe.folder / recipe.make_seeds), str(folder)], log)
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


def run(command: list[str], log: Path, cwd: Path | None = None) -> None:
    """Run one step; what it says goes to the log."""
    try:
        done = subprocess.run(
            command, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True
        )
    except OSError as error:
        raise InputError(f"cannot run {command[0]}: {error.strerror}") from None
    said = done.stdout + done.stderr
    with log.open("a") as file:
        file.write(f"$ {' '.join(command)}\n{said}")
    if done.returncode != 0:
        lines = said.strip().splitlines() or ["no message"]
        why = next((line for line in lines if WHY.search(line)), lines[-1])
        raise InputError(f"{Path(command[0]).name} failed: {why} (all of it: {log})")


def find_clang() -> str:
    """Debian's clang-19, or the clang there is, with its C++ twin."""
    for clang in ("clang-19", "clang"):
        if shutil.which(clang) is not None and shutil.which(plus(clang)) is not None:
            return clang
    raise InputError(f"clang is missing; install it: apt-get install {PACKAGES}")


def plus(clang: str) -> str:
    """The C++ compiler beside a C compiler."""
    return f"{clang}++" if clang == AFL else clang.replace("clang", "clang++")


def fingerprint_of(recipe: Recipe, clang: str) -> str:
    """Changes with all that goes into a build; empty for sources that anyone may edit."""
    if not recipe.package:
        return ""
    said = subprocess.run([clang, "--version"], capture_output=True, text=True).stdout
    parts = [said, repr((COVERAGE, ASAN, LINES)), recipe.name]
    files = sorted(path for path in recipe.folder.iterdir() if path.is_file())
    content = [path.read_bytes() for path in files]
    return hashlib.sha256(b"\0".join([*(part.encode() for part in parts), *content])).hexdigest()
