"""The recipe of a fuzz target: a `target.toml` in a folder, whose keys are those of `TargetRecipe`.

The folders in `builtin/` come with Aloex and are examples.
"""

import glob
import os
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from aloex.apps.fuzz.target.target import MAX_LEN
from aloex.base.errors import InputError, require

KINDS = {
    int: "a number",
    str: "a string",
    list: "a list of strings",
    "configure": "a list of commands, each a list of words",
}


@dataclass(frozen=True)
class TargetRecipe:
    """How a target is built. Patterns are globs; one that begins with ! excludes files again."""

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
    def load(cls, folder: str | os.PathLike[str]) -> "TargetRecipe":
        """Read the target.toml of a folder, or of a target by its name."""
        path = find_folder(Path(folder)) / "target.toml"
        try:
            given = tomllib.loads(path.read_text())
        except (OSError, ValueError) as error:
            raise InputError(f"{path} cannot be read: {error}") from None
        known: dict[str, Any] = {field.name: field.default for field in fields(cls)[2:]}
        for key, value in given.items():
            require(key in known, f"{path} has an unknown key {key!r}; known: {', '.join(known)}")
            kind = list if known[key] == () else type(known[key])
            good = isinstance(value, kind)
            if key == "configure":
                good = good and all(isinstance(command, list) for command in value)
            require(good, f"{path}: {key} must be {KINDS.get(key, KINDS[kind])}, got {value!r}")
        return cls(name=path.parent.resolve().name, folder=path.parent, **given)

    @classmethod
    def of_files(
        cls,
        harness: Sequence[Path],
        *,
        sources: Sequence[Path] = (),
        include: Sequence[Path] = (),
        flags: Sequence[str] = (),
        libraries: Sequence[str] = (),
        seeds: Path | None = None,
    ) -> "TargetRecipe":
        """A recipe for files of the user, named after the first harness."""
        for path in [*harness, *sources, *include, *([seeds] if seeds else [])]:
            require(path.exists(), f"there is no {path}; check the path")
        pattern = lambda path: glob.escape(str(path.absolute()))
        return cls(
            name=harness[0].stem,
            folder=Path.cwd(),
            sources=[pattern(path) for path in sources],
            harness=[pattern(path) for path in harness],
            include=[str(path.absolute()) for path in include],
            flags=flags,
            libraries=libraries,
            seeds=[f"{pattern(seeds)}/*"] if seeds else [],
        )


def find_folder(folder: Path) -> Path:
    """The folder of a target, given as a path or by a name under ./targets or in the package."""
    if len(folder.parts) > 1 or (folder / "target.toml").is_file():
        require((folder / "target.toml").is_file(), f"there is no target.toml in {folder}")
        return folder
    homes = [Path("targets"), Path(__file__).parent / "builtin"]
    for home in homes:
        if (home / folder / "target.toml").is_file():
            return home / folder
    names = sorted({path.parent.name for home in homes for path in home.glob("*/target.toml")})
    raise InputError(f"there is no target {folder}; known: {', '.join(names) or 'none'}")
