"""Targets by name: those that have a recipe, and those that are built."""

import difflib
from pathlib import Path

from aloex.base.errors import InputError

BUILT = Path("build/targets")  # where targets go unless told otherwise
HOMES = (Path("targets"), Path(__file__).parent / "builtin")  # of folders with recipes
RECIPE = "target.toml"
DESCRIPTION = "target.json"


def recipe_folder(name: str) -> Path | None:
    """The folder of a target's recipe: one under ./targets, or one that comes with Aloex."""
    return next((home / name for home in HOMES if (home / name / RECIPE).is_file()), None)


def not_built(name: str) -> InputError:
    """What to do about a target that is not built: build it, or choose one that there is."""
    if recipe_folder(name) or (Path(name) / RECIPE).is_file():
        return InputError(f"the target {name} is not built yet; build it: aloex fuzz build {name}")
    return unknown(name)


def unknown(name: str) -> InputError:
    """There is no target of that name, and no recipe: which there are, and how to make one."""
    patterns = [*((home, RECIPE) for home in HOMES), (BUILT, DESCRIPTION)]
    found = sorted({path.parent.name for home, file in patterns for path in home.glob(f"*/{file}")})
    meant = difflib.get_close_matches(name, found, n=1)
    guess = f"did you mean {meant[0]}? " if meant else ""
    return InputError(
        f"there is no target {name}; {guess}known: {', '.join(found)}; to build your own: "
        f"aloex fuzz build --harness FILE, or FOLDER if it has a {RECIPE}"
    )
