"""Small C targets of our own with planted faults, built for every fuzzer and with sanitizers.

    planted/NAME/harness.c   the target; FAULT(name, condition) where a planted fault happens
    planted/NAME/seeds.py    writes its seeds

Beside what `aloex fuzz build` makes, a folder `rivals` holds the binaries of the other fuzzers with
AddressSanitizer and UndefinedBehaviorSanitizer, and `judge`, by which all inputs are judged.
"""

import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from aloex.apps.fuzz.target import Target, TargetRecipe, build_target, find_clang
from aloex.apps.fuzz.target.build import match
from aloex.apps.fuzz.target.target import BUILT
from aloex.apps.fuzz.tools import find_tool, run_tool
from aloex.base.errors import InputError, require
from studies.fuzz.fuzzers import Binaries

HOME = Path(__file__).parent / "planted"
NAMES = ("tiles", "ledger", "vault", "parcel", "mesh")
CHECKS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
SANITIZED = ["-O1", "-g", "-fno-omit-frame-pointer", *CHECKS]
BESIDE = "rivals"
AFL_HOME = Path("/usr/lib/afl")


def build(
    folder: Path, out: Path | None = None, tell: Callable[[str], None] = lambda line: None
) -> Target:
    """Build a target in C, named by the folder of its recipe, for all fuzzers."""
    recipe = TargetRecipe.load(folder)
    out = BUILT / recipe.name if out is None else out
    target = build_target(recipe, out, tell=tell)
    tell("for the other fuzzers, with sanitizers")
    files = match(recipe.folder.absolute(), [*recipe.sources, *recipe.harness])
    include = [f"-I{recipe.folder.absolute() / name}" for name in recipe.include]
    flags = [*recipe.flags, *include]
    build_rivals(files, flags, [f"-l{name}" for name in recipe.libraries], out / BESIDE)
    return target


def build_rivals(
    files: Sequence[Path], flags: Sequence[str], libraries: Sequence[str], out: Path
) -> None:
    """The binaries of the other fuzzers, and the judge."""
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    clang, afl = find_clang(), find_tool("afl-clang-fast", package="afl++")
    words = [*flags, *map(str, files), *libraries, "-o"]
    run_tool([clang, *SANITIZED, "-fsanitize=fuzzer", *words, out / "libfuzzer"])
    build_judge(files, flags, libraries, out / "judge")
    run_tool([afl, "-g", "-fsanitize=fuzzer", *words, out / "cmplog"], env={"AFL_LLVM_CMPLOG": "1"})
    _link_afl_with_sanitizers(clang, afl, files, [*flags], libraries, out)


def build_judge(
    files: Sequence[Path], flags: Sequence[str], libraries: Sequence[str], to: Path
) -> None:
    """The program that says which fault an input hits."""
    words = [*flags, HOME / "judge.c", *files, *libraries]
    run_tool([find_clang(), *SANITIZED, "-DNAME_FAULTS", *words, "-o", to])


def _link_afl_with_sanitizers(
    clang: str,
    afl: str,
    files: Sequence[Path],
    flags: Sequence[str],
    libraries: Sequence[str],
    out: Path,
) -> None:
    """Debian's AFL++ compiles by a clang whose runtime of the sanitizers may not be installed.

    So the objects are linked with the runtime of ours, and with what AFL++ would have linked.
    """
    objects, both = [str(out / f"{i}.o") for i in range(len(files))], ["ASAN", "UBSAN"]
    for path, to in zip(files, objects, strict=True):
        command = [afl, "-g", "-fsanitize=fuzzer", *flags, "-c", path, "-o", to]
        run_tool(command, env={f"AFL_USE_{name}": "1" for name in both})
    runtime = [str(AFL_HOME / name) for name in ("libAFLDriver.a", "afl-compiler-rt.o")]
    runtime += [f"-Wl,--dynamic-list={AFL_HOME}/dynamic_list.txt"]
    run_tool([clang, "-fsanitize=address", *objects, *runtime, *libraries, "-o", out / "afl"])
    for name in objects:
        Path(name).unlink()


def binaries(target: Target) -> Binaries:
    """What the other fuzzers run to find bugs."""
    folder = target.library.parent.absolute() / BESIDE
    names = [folder / name for name in ("libfuzzer", "afl", "cmplog")]
    for path in (*names, folder / "judge"):
        if not path.exists():
            raise InputError(f"{path} is missing; build it: python -m studies.fuzz plant")
    return Binaries(*names, dictionary=Binaries.of(target).dictionary)


def judge_of(target: Target) -> Path:
    """The program that says which fault an input hits."""
    return target.library.parent.absolute() / BESIDE / "judge"


def faults(harness: Path) -> list[str]:
    """The names of the faults that are planted in a source file, in their order."""
    names = re.findall(r'\bFAULT\("([\w-]+)"', harness.read_text())
    require(len(names) > 0, f"no fault is planted in {harness}")
    return list(dict.fromkeys(names))
