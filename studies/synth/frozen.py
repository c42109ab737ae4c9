"""The frozen sets of tasks, on which nothing is to be trained: `test` and `validation`."""

from functools import cache
from pathlib import Path

from aloex.apps.programs.tasks.tasks import FROZEN, Task, load
from aloex.base.errors import require

DATA = Path(__file__).parent / "data"


@cache
def frozen(name: str) -> list[Task]:
    """The tasks of a set that comes with the study: `test` or `validation`."""
    require(name in FROZEN, f"the frozen sets are {', '.join(FROZEN)}, got {name!r}")
    return load(DATA / f"{name}.tsv.xz", FROZEN[name][2])
