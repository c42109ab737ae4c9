"""The recipe of a fuzz target: a `target.toml` in a folder, whose keys are those of `TargetRecipe`.

The folders in `builtin/` come with Aloex and are examples. A built target remembers its recipe in a
recipe.json, so that it can be built again by its name, with other options.
"""

import glob
import json
import os
import shlex
import tomllib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from aloex.apps.fuzz.target.compile import SANITIZERS
from aloex.apps.fuzz.target.known import BUILT, RECIPE, recipe_folder, unknown
from aloex.apps.fuzz.target.target import MAX_LEN, Target
from aloex.base.errors import InputError, require

REMEMBERED = "recipe.json"
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
    include: Sequence[str] = ()  # folders of the source tree, or {here}
    flags: Sequence[str] = ()  # for the compiler; {here} is `folder`
    libraries: Sequence[str] = ()
    sanitizers: Sequence[str] = SANITIZERS  # names for -fsanitize; none: no sanitized binaries
    seeds: Sequence[str] = ()  # patterns in the source tree
    make_seeds: str = ""  # a Python script in `folder`, called with the folder to fill
    dictionary: str = ""  # a file of tokens in `folder`
    max_len: int = MAX_LEN
    toml: Path | None = None  # what it was read from
    out: Path | None = None  # where it was built before

    @classmethod
    def load(cls, name_or_folder: str | os.PathLike[str]) -> "TargetRecipe":
        """The recipe in a folder, or of a target by its name; or that of a built target.

        Seeds in a folder `seeds` and a dictionary `*.dict` beside the target.toml are taken
        without being named.
        """
        name, path = str(name_or_folder), Path(name_or_folder)
        if (path / RECIPE).is_file():
            return cls._read(path / RECIPE)
        if (path / REMEMBERED).is_file():
            return cls._recall(path)
        is_name = len(path.parts) == 1
        if is_name and (folder := recipe_folder(name)):
            return cls._read(folder / RECIPE)
        if is_name and (BUILT / path / REMEMBERED).is_file():
            return cls._recall(BUILT / path)
        require(is_name, f"there is no {RECIPE} in {path}; check the path")
        raise unknown(name)

    @classmethod
    def _read(cls, path: Path) -> "TargetRecipe":
        try:
            given = tomllib.loads(path.read_text())
        except (OSError, ValueError) as error:
            raise InputError(f"{path} cannot be read: {error}") from None
        known: dict[str, Any] = {field.name: field.default for field in fields(cls)[2:-2]}
        for key, value in given.items():
            require(key in known, f"{path} has an unknown key {key!r}; known: {', '.join(known)}")
            kind = list if isinstance(known[key], tuple) else type(known[key])
            good = isinstance(value, kind)
            if key == "configure":
                good = good and all(isinstance(command, list) for command in value)
            require(good, f"{path}: {key} must be {KINDS.get(key, KINDS[kind])}, got {value!r}")
        folder = path.parent
        given["seeds"] = [*given.get("seeds", ()), *seeds_beside(folder)]
        given["dictionary"] = given.get("dictionary") or dictionary_beside(folder)
        return cls(name=folder.resolve().name, folder=folder, toml=path, **given)

    @classmethod
    def _recall(cls, built: Path) -> "TargetRecipe":
        path = built / REMEMBERED
        try:
            given: dict[str, Any] = json.loads(path.read_text())
            toml = given.pop("toml", None)
            recipe = cls._read(Path(toml)) if toml else cls(folder=Path.cwd(), **given)
        except (OSError, ValueError, TypeError, AttributeError) as error:
            raise InputError(f"{path} is damaged: {error}; build the target anew") from None
        return replace(recipe, out=built)

    def remember(self, built: Path) -> None:
        """Write what `load` needs to know into the folder of a built target."""
        if self.toml is not None:
            what = {"toml": str(self.toml.absolute())}
        else:
            defaults = {field.name: field.default for field in fields(self)}
            given = {key: value for key, value in asdict(self).items() if value != defaults[key]}
            what = {key: value for key, value in given.items() if key not in ("folder", "out")}
        (built / REMEMBERED).write_text(json.dumps(what, indent=1) + "\n")

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
        return cls(
            name=harness[0].stem,
            folder=Path.cwd(),
            sources=[pattern_of(path) for path in sources],
            harness=[pattern_of(path) for path in harness],
            include=[str(path.absolute()) for path in include],
            flags=flags,
            libraries=libraries,
            seeds=[f"{pattern_of(seeds)}/**/*"] if seeds else [],
        )


def pattern_of(path: Path) -> str:
    """A pattern that matches one path, wherever it is used."""
    return glob.escape(str(path.absolute()))


def seeds_beside(folder: Path) -> list[str]:
    """A pattern for the seeds in a folder `seeds`, if there are any."""
    seeds = folder / "seeds"
    has_some = seeds.is_dir() and any(path.is_file() for path in seeds.rglob("*"))
    return [f"{pattern_of(seeds)}/**/*"] if has_some else []


def dictionary_beside(folder: Path) -> str:
    """The name of the dictionary in a folder; none if there is none."""
    names = sorted(path.name for path in folder.glob("*.dict"))
    require(
        len(names) < 2,
        f"{folder} has several dictionaries ({', '.join(names)}); choose one in {RECIPE}: "
        f'dictionary = "{names[0] if names else ""}"',
    )
    return names[0] if names else ""


def build_command(target: Target, *options: str) -> str:
    """The command that builds a target again, with more options such as --coverage."""
    folder = target.library.parent
    if not (folder / REMEMBERED).is_file():  # a library of the user's
        return shlex.join(["aloex", "fuzz", "build", "--harness", "FILE", *options])
    recipe, of_name = TargetRecipe.load(folder).toml, recipe_folder(target.name)
    is_usual = folder.absolute() == (BUILT / target.name).absolute()
    is_meant = of_name is None or (of_name / RECIPE).absolute() == recipe
    name = target.name if is_usual and is_meant else str(folder)
    return shlex.join(["aloex", "fuzz", "build", name, *options])
