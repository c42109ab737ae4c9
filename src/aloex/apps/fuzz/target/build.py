"""Build a fuzz target: fetch its source, configure it, compile and link it, gather its seeds.

Files are made in a folder of their own inside the target's and replace the old ones in the end, so
a build that fails or is interrupted leaves the old target alone. The source of a package is never
moved, for debuggers and reports name its files: it goes beside the old one, which is then removed.
"""

import glob
import hashlib
import shutil
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict
from itertools import count
from pathlib import Path

from aloex.apps.fuzz.target import compile as compiling
from aloex.apps.fuzz.target import debian
from aloex.apps.fuzz.target.compile import AFL, ALWAYS, EXTRAS, WITH_SANITIZERS, find_clang
from aloex.apps.fuzz.target.elf import read_elf
from aloex.apps.fuzz.target.known import BUILT, DESCRIPTION
from aloex.apps.fuzz.target.missing import explained
from aloex.apps.fuzz.target.recipe import REMEMBERED, TargetRecipe
from aloex.apps.fuzz.target.target import FILES, Target
from aloex.apps.fuzz.tools import cache_folder, find_tool, run_tool
from aloex.base.errors import InputError, require
from aloex.base.locks import folder_lock
from aloex.base.signals import unwinding

BESIDE = ".building"  # the folder in which a build happens
SOURCE, LOG = "source", "build.log"
MADE = {*FILES.values(), REMEMBERED, DESCRIPTION}  # what a build replaces
OPTIONAL = (*WITH_SANITIZERS, *EXTRAS)
MAX_NAMED = 12  # files, in a message


def build_target(
    recipe: TargetRecipe,
    out: Path | None = None,
    *,
    sanitizers: bool = True,
    coverage: bool = False,
    afl: bool = False,
    tell: Callable[[str], None] = lambda line: None,
) -> Target:
    """Build a target, unless it is there and up to date.

    What a target was built with it keeps: a build with `coverage` after one with `afl` makes both.

    Args:
        recipe: what to build.
        out: the folder to build in; if None, where it was built before, or build/targets/<name>.
        sanitizers: whether to build the binaries that find errors of memory.
        coverage: whether to build the binary that counts lines.
        afl: whether to build the binaries for AFL++.
        tell: called with a line at the beginning of each step.
    """
    out = out or recipe.out or BUILT / recipe.name
    clang = find_clang()
    if afl:
        find_tool(AFL, package="afl++")
    missing = [need for need in recipe.needs if shutil.which(need.split(":")[0]) is None]
    packages = " ".join(need.split(":")[-1] for need in missing)
    require(not missing, f"{recipe.name} needs more programs: apt-get install {packages}")
    sanitizers = sanitizers and len(recipe.sanitizers) > 0
    wanted = {
        *(WITH_SANITIZERS if sanitizers else ()),
        *(["coverage"] if coverage else []),
        *(["afl", "afl_cmplog"] if afl else []),
    }
    with folder_lock(out, wait=True), unwinding():
        fingerprint = fingerprint_of(recipe, clang)
        old = built_before(out)
        if old is not None:
            there = {name for name in OPTIONAL if getattr(old, name)}
            if fingerprint and old.fingerprint == fingerprint and wanted <= there:
                return old
            wanted |= there if sanitizers else there - {*WITH_SANITIZERS}
        new = out / BESIDE
        clear(new)  # what a build left that was killed
        new.mkdir()
        try:
            build_anew(recipe, out, clang, fingerprint, wanted, tell)
            put_in_place(new, out)
        except OSError as error:
            error.filename = error.filename or str(out)  # that of a full disk names no file
            raise
        finally:
            clear(new)
        if old is not None and old.fingerprint:  # of a package
            shutil.rmtree(old.tree or out / SOURCE, ignore_errors=True)
        return Target.load(out)


def clear(new: Path) -> None:
    """Remove what is half built, and the source that it was built from."""
    if (new / SOURCE).is_symlink():
        shutil.rmtree((new / SOURCE).resolve(), ignore_errors=True)
    shutil.rmtree(new, ignore_errors=True)


def built_before(out: Path) -> Target | None:
    """The target in a folder, if there is a whole one. Files of somebody else are not replaced."""
    old = None
    with suppress(InputError):
        old = Target.load(out)
    if old is not None:
        ours = {path.name for path in asdict(old).values() if isinstance(path, Path)}
        ours |= {DESCRIPTION, REMEMBERED}
    elif not (out / LOG).exists():  # no build has ever begun here
        ours = set[str]()
    else:  # one was damaged, or killed at the very end
        is_damaged = (out / DESCRIPTION).exists()
        ours = MADE if is_damaged else MADE - {FILES["seeds"]}
    foreign = sorted(name for name in MADE - ours if (out / name).exists())
    require(
        not foreign,
        f"{out} has files of yours that a build might replace ({', '.join(foreign)}); move them or "
        "choose another folder: --out FOLDER",
    )
    return old


def build_anew(
    recipe: TargetRecipe,
    out: Path,
    clang: str,
    fingerprint: str,
    wanted: set[str],
    tell: Callable[[str], None],
) -> None:
    """The steps of a build, in order."""
    new, log = out / BESIDE, out / LOG
    log.write_text("")
    dictionary = copy_dictionary(recipe, new)  # first: its mistakes are found fastest
    if recipe.package:
        tell(f"1 of 4: the source of {recipe.package}")
    tree, source = fetch_source(recipe, out)
    if recipe.configure:
        tell("2 of 4: its configuration")
    here = str(recipe.folder.absolute())

    def in_full(words: Sequence[str]) -> list[str]:
        return [word.replace("{here}", here) for word in words]

    for command in recipe.configure:
        run_tool(in_full(command), cwd=tree, log=log)
    files = match(tree, recipe.sources) + match(recipe.folder.absolute(), recipe.harness)
    binaries = [*ALWAYS, *sorted(wanted)]
    names = [FILES[name] for name in binaries]
    some = f"{len(files)} file{'s' * (len(files) != 1)}"
    tell(f"3 of 4: {some} to compile, for {', '.join(names)}")
    include = [f"-I{tree / folder}" for folder in in_full(recipe.include)]
    build = compiling.Build(
        files=files,
        flags=[*in_full(recipe.flags), *include],
        libraries=[f"-l{name}" for name in recipe.libraries],
        sanitizers=recipe.sanitizers,
        clang=clang,
        out=new,
        log=log,
    )
    with explained(recipe.name, log, tree if recipe.toml else None):
        compiling.compile_and_link(build, wanted)
    require(
        "__sancov_cntrs" in read_elf(new / FILES["library"]).sections,
        f"{recipe.name} has no branch to count, so no input differs from another: clang has left "
        "out all code from which there is no return; is the code under test among the files?",
    )
    tell("4 of 4: seeds")
    target = Target(
        name=recipe.name,
        **{name: new / file for name, file in zip(binaries, names, strict=True)},
        seeds=gather_seeds(recipe, tree, new / FILES["seeds"], log),
        dictionary=dictionary,
        tree=tree if recipe.package else None,
        max_len=recipe.max_len,
        source=source,
        fingerprint=fingerprint,
    )
    target.save(new)
    recipe.remember(new)


def put_in_place(new: Path, out: Path) -> None:
    """Replace a target by its successor; the description, by which it is known, comes last."""
    (new / SOURCE).unlink(missing_ok=True)  # from now on it is the target's
    old = new / "old"
    old.mkdir()
    for name in sorted(MADE, key=lambda name: name != DESCRIPTION):
        with suppress(FileNotFoundError):
            (out / name).rename(old / name)
    for name in sorted(MADE, key=lambda name: name == DESCRIPTION):
        with suppress(FileNotFoundError):
            (new / name).rename(out / name)


def fetch_source(recipe: TargetRecipe, out: Path) -> tuple[Path, str]:
    """The source tree, and what it was made from."""
    if not recipe.package:
        return recipe.folder.absolute(), str(recipe.folder)
    archive = debian.fetch(recipe.package, out, cache_folder() / "apt")
    names = (f"{SOURCE}-{i}" if i else SOURCE for i in count())
    tree = next(out / name for name in names if not (out / name).exists()).absolute()
    (out / BESIDE / SOURCE).symlink_to(tree)
    debian.unpack(archive, tree)
    return tree, archive.name


def gather_seeds(recipe: TargetRecipe, tree: Path, folder: Path, log: Path) -> Path | None:
    """Copy the seeds from the source tree, or run the recipe's script that makes them."""
    if not recipe.seeds and not recipe.make_seeds:
        return None
    folder.mkdir()
    here = recipe.folder.absolute()
    for path in match(tree, recipe.seeds):
        bases = [base for base in (here / "seeds", tree, here) if path.is_relative_to(base)]
        name = "_".join(path.relative_to(bases[0]).parts) if bases else path.name
        while (folder / name).exists():
            name += "_"
        shutil.copyfile(path, folder / name)
    if recipe.make_seeds:
        run_tool([sys.executable, recipe.folder / recipe.make_seeds, folder], log=log)
    return folder


def copy_dictionary(recipe: TargetRecipe, new: Path) -> Path | None:
    """The recipe's dictionary beside the binaries, if it has one that can be read."""
    if not recipe.dictionary:
        return None
    from aloex.apps.fuzz.inputs import read_dictionary  # NumPy loads slowly

    path, copy = recipe.folder / recipe.dictionary, new / FILES["dictionary"]
    read_dictionary(path)
    shutil.copyfile(path, copy)
    return copy


def match(folder: Path, patterns: Sequence[str]) -> list[Path]:
    """Files under a folder that match, in the order of the patterns, then of their names."""
    found: dict[Path, None] = {}
    for pattern in patterns:
        names = sorted(glob.glob(pattern.removeprefix("!"), root_dir=folder, recursive=True))
        paths = [folder / name for name in names if (folder / name).is_file()]
        require(len(paths) > 0, f"no file matches {pattern} in {folder}; {there(folder, pattern)}")
        if pattern.startswith("!"):
            found = {path: None for path in found if path not in paths}
        else:
            found.update(dict.fromkeys(paths))
    return list(found)


def there(folder: Path, pattern: str) -> str:
    """What a pattern without a match may have meant: the source of a package is removed by then."""
    name = pattern.removeprefix("!").rsplit("/")[-1]
    alike = sorted(glob.glob(f"**/{name}", root_dir=folder, recursive=True))
    if alike:
        return f"there is {', '.join(alike[:MAX_NAMED])}"
    names = sorted(f"{path.name}/" if path.is_dir() else path.name for path in folder.iterdir())
    return f"it has {', '.join(names[:MAX_NAMED]) or 'no files'}"


def fingerprint_of(recipe: TargetRecipe, clang: str) -> str:
    """A hash of all that goes into a build; empty for sources of the user, which may change."""
    if not recipe.package:
        return ""
    version = run_tool([clang, "--version"]).stdout
    ours = [Path(compiling.__file__), *sorted(compiling.NATIVE.glob("*/*.[ch]"))]
    files = sorted(path for path in recipe.folder.iterdir() if path.is_file())
    content = [path.read_bytes() for path in (*ours, *files)]
    parts = [version.encode(), recipe.name.encode(), *content]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()
