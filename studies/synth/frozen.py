"""The frozen sets of tasks, on which nothing is to be trained: `test` and `validation`."""

import hashlib
from functools import cache
from pathlib import Path

from aloex.apps.fill.tasks.tasks import FROZEN, Task, generate, load, pack, save
from aloex.base.errors import require

DATA = Path(__file__).parent / "data"


@cache
def frozen(name: str) -> list[Task]:
    """The tasks of a set that comes with the library: `test` or `validation`."""
    require(name in FROZEN, f"the frozen sets are {', '.join(FROZEN)}, got {name!r}")
    return load(DATA / f"{name}.tsv.xz", FROZEN[name][2])


def freeze(name: str) -> str:
    """Make a frozen set anew; returns the hash that `FROZEN` should hold."""
    seed, num_tasks, _ = FROZEN[name]
    tasks = generate(num_tasks, seed=seed).tasks()
    save(DATA / f"{name}.tsv.xz", tasks)
    return hashlib.sha256(pack(tasks)).hexdigest()
