"""A built fuzz target: the files that `aloex fuzz build` leaves in a folder, or a library of yours.

target.json   this description         library.so   what the executor runs
seeds/        inputs to start from     tracer.so    the same code, which tells what it compares
tokens.dict   words of its format      sanitized    a worker that finds errors of memory
recipe.json   how to build it again    asan         the same with libFuzzer, to run one file
build.log     what the tools said      fuzzer       with libFuzzer, without sanitizers
                                       coverage     with line counts, for llvm-cov
source/       of a package             afl, afl-cmplog   for AFL++
"""

import json
import math
import os
import shlex
from dataclasses import asdict, dataclass
from pathlib import Path

from aloex.apps.fuzz.target.known import BUILT, DESCRIPTION, not_built
from aloex.base.errors import InputError, require

FILES = {  # of a target's folder, by the names of their fields
    "library": "library.so",
    "tracer": "tracer.so",
    "fuzzer": "fuzzer",
    "sanitized": "sanitized",
    "asan": "asan",
    "coverage": "coverage",
    "afl": "afl",
    "afl_cmplog": "afl-cmplog",
    "seeds": "seeds",
    "dictionary": "tokens.dict",
}
MAX_LEN = 1 << 20  # bytes of an input, unless the target says otherwise; libFuzzer's own bound


@dataclass(frozen=True)
class Target:
    """Paths are absolute or relative to the working folder; what is missing is None."""

    name: str
    library: Path
    tracer: Path | None = None
    fuzzer: Path | None = None
    sanitized: Path | None = None
    asan: Path | None = None
    coverage: Path | None = None
    afl: Path | None = None
    afl_cmplog: Path | None = None
    seeds: Path | None = None
    dictionary: Path | None = None
    tree: Path | None = None  # the source of a package, where it was compiled
    max_len: int = MAX_LEN
    source: str = ""  # what it was made from, such as the package and its version
    fingerprint: str = ""  # of everything that went into the build

    @classmethod
    def load(cls, name_or_path: str | os.PathLike[str]) -> "Target":
        """A target by its name under build/targets, by its folder, or by its shared library."""
        path = Path(name_or_path)
        if path.is_file():
            return cls(name=path.stem, library=path)
        if len(path.parts) == 1 and not (path / DESCRIPTION).is_file():
            path = BUILT / path
        try:
            fields = json.loads((path / DESCRIPTION).read_text())
            paths = {key: path / fields[key] for key in (*FILES, "tree") if fields.get(key)}
            target = cls(**{**fields, **paths})
        except (FileNotFoundError, NotADirectoryError):
            raise not_built(str(name_or_path)) from None
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(f"{path / DESCRIPTION} is damaged: {error}; build it anew") from None
        for key in paths.keys() - {"tree"}:
            found = getattr(target, key)
            require(
                found.exists(),
                f"the target {path} is incomplete: {found} is missing; build it again: aloex fuzz "
                f"build {shlex.quote(str(name_or_path))}",
            )
        return target

    @property
    def argument(self) -> str:
        """What names it in a command: its name, its folder, or its library."""
        folder = self.library.parent
        if self.fuzzer is None or not (folder / DESCRIPTION).is_file():  # a library of the user's
            return str(self.library)
        return self.name if folder.absolute() == (BUILT / self.name).absolute() else str(folder)

    def save(self, folder: Path) -> None:
        """Write target.json, with paths relative to its folder."""
        paths = {k: v.name for k, v in asdict(self).items() if isinstance(v, Path)}
        (folder / DESCRIPTION).write_text(json.dumps({**asdict(self), **paths}, indent=1) + "\n")

    def read_seeds(self) -> list[bytes]:
        """The seeds in order of their names; those longer than `max_len` are left out."""
        if self.seeds is None:
            return []
        inputs = [path.read_bytes() for path in sorted(self.seeds.iterdir()) if path.is_file()]
        return [x for x in inputs if len(x) <= self.max_len]

    def command(
        self,
        path: str | os.PathLike[str],
        *,
        timeout: float | None = None,
        memory_mb: int | None = None,
    ) -> list[str]:
        """The command that runs the input in a file, within limits; libFuzzer's are wide."""
        binary = self.asan or self.fuzzer
        if binary is None:
            seconds = [] if timeout is None else ["--timeout", f"{timeout:g}"]
            memory = [] if memory_mb is None else ["--memory", str(memory_mb)]
            library = os.path.abspath(self.library)
            return ["aloex", "fuzz", "replay", library, str(path), *seconds, *memory]
        seconds = [] if timeout is None else [f"-timeout={math.ceil(timeout)}"]
        memory = [] if memory_mb is None else [f"-malloc_limit_mb={memory_mb}"]
        return [os.path.abspath(binary), *seconds, *memory, str(path)]
