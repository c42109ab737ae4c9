"""A built fuzz target: the files that `aloex fuzz build` leaves in a folder, or a library of yours.

target.json   this description          library.so   what the executor runs
seeds/        inputs to start from      fuzzer       the same objects with libFuzzer
                                        asan         with AddressSanitizer, for crashes
                                        coverage     with line counts, for llvm-cov
                                        afl          for AFL++
"""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from aloex.base.errors import InputError, require

BUILT = Path("build/targets")  # where targets go unless told otherwise
MAX_LEN = 1 << 20  # bytes of an input, unless the target says otherwise; libFuzzer's own bound


@dataclass(frozen=True)
class Target:
    """Paths are absolute or relative to the working folder; what is missing is None."""

    name: str
    library: Path
    fuzzer: Path | None = None
    asan: Path | None = None
    coverage: Path | None = None
    afl: Path | None = None
    seeds: Path | None = None
    max_len: int = MAX_LEN
    source: str = ""  # what it was made from, such as the package and its version
    fingerprint: str = ""  # of everything that went into the build

    @classmethod
    def load(cls, name_or_path: str | os.PathLike[str]) -> "Target":
        """A target by its name under build/targets, by its folder, or by its shared library."""
        path = Path(name_or_path)
        if path.is_file():
            return cls(name=path.stem, library=path)
        if len(path.parts) == 1 and not (path / "target.json").is_file():
            path = BUILT / path
        require(
            path.is_dir(),
            f"there is no target {name_or_path}; build it: aloex fuzz build {name_or_path}",
        )
        try:
            fields = json.loads((path / "target.json").read_text())
            files = ("library", "fuzzer", "asan", "coverage", "afl", "seeds")
            paths = {key: path / fields[key] for key in files if fields.get(key)}
            target = cls(**{**fields, **paths})
        except FileNotFoundError:
            raise InputError(
                f"{path} is not a built target (it has no target.json); build it: aloex fuzz build"
            ) from None
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(f"{path / 'target.json'} is damaged: {error}; build it anew") from None
        for key in paths:
            found = getattr(target, key)
            require(found.exists(), f"the target {path} is incomplete: {found} is missing")
        return target

    def save(self, folder: Path) -> None:
        """Write target.json, with paths relative to its folder."""
        paths = {k: v.name for k, v in asdict(self).items() if isinstance(v, Path)}
        (folder / "target.json").write_text(json.dumps({**asdict(self), **paths}, indent=1) + "\n")

    def read_seeds(self) -> list[bytes]:
        """The seeds in order of their names; those longer than `max_len` are left out."""
        if self.seeds is None:
            return []
        inputs = [path.read_bytes() for path in sorted(self.seeds.iterdir()) if path.is_file()]
        return [x for x in inputs if len(x) <= self.max_len]

    def command(self, path: str | os.PathLike[str]) -> list[str]:
        """The command that runs the input in a file."""
        binary = self.asan or self.fuzzer
        if binary is not None:
            return [os.path.abspath(binary), str(path)]
        return ["aloex", "fuzz", "replay", str(self.library), str(path)]
