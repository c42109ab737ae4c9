"""The whole table: every method on every data set with several seeds, trained and evaluated.

Each method's models are trained at once, in a folder of their own, and evaluated one by one; what
is there already is not done again, so the command can be stopped and repeated at will.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from aloex.apps import results
from aloex.apps.synthetic import evaluate, floor, methods
from aloex.apps.synthetic.data import DATA_SETS
from aloex.apps.synthetic.train import Problem, train
from aloex.apps.synthetic.trained import load
from aloex.learning.run_folder import write_file

ALL = (  # (method, recipe)
    ("aloe", "best"),
    ("pcd", "best"),
    *((method, "paper") for method in methods.METHODS),
)
KEYS = ("method", "recipe", "data", "seed")


def make(
    runs: Path,
    out: Path,
    *,
    which: Iterable[tuple[str, str]] = ALL,
    preset: str = "paper",
    seeds: int = 3,
    data: Iterable[str] = DATA_SETS,
    **changes: Any,
) -> Path:
    """Train and evaluate all that is missing; returns the summary's path."""
    problems = [Problem(name, seed) for seed in range(seeds) for name in data]
    for method, recipe in which:
        settings = methods.choose(method, recipe, preset, **changes)
        paths = train(runs / f"{method}-{recipe}", settings, problems, recipe=recipe)
        results.save(out / "summary.json", [rated(path) for path in paths], KEYS)
    results.save(out / "data.json", [evaluate.data_row(name) for name in data], ("data",))
    rows = [{"data": name, **row} for name, row in floor.table().items()]
    results.save(out / "floor.json", rows, ("data",))
    return out / "summary.json"


def rated(path: Path) -> dict[str, Any]:
    """The row of a model file, from the JSON beside it if it has been evaluated before."""
    beside = path.with_suffix(".json")
    if not beside.exists():
        write_file(beside, json.dumps(evaluate.evaluate(load(path)), indent=1) + "\n")
    return json.loads(beside.read_text())
