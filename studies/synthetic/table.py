"""The whole table: every method on every data set with several seeds, trained and evaluated.

Each entry's models are trained at once, in a folder of their own, and evaluated one by one; what
is there already is not done again, so the command can be stopped and repeated at will.
"""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from aloex.apps.synthetic import evaluate, methods
from aloex.apps.synthetic.data import DATA_SETS
from aloex.apps.synthetic.methods import Settings
from aloex.apps.synthetic.rated import rated
from aloex.apps.synthetic.train import Problem, train
from studies import results
from studies.synthetic import floor

KEYS = ("method", "recipe", "data", "seed")
ALL = (("aloe", "best"), ("pcd", "best"), *((method, "paper") for method in methods.METHODS))
WITHOUT = {  # each ingredient of ALOE's best recipe, and what stands in its place
    "moving average": {"ema_decay": 0.0},
    "decay of the learning rates": {"decay": False},
    "Muon": {"optimizer_f": "adam", "learning_rate_f": 6e-3},  # the best of 3, 6, 12e-3
    "4 examples of data to a negative": {"num_data": 1},
    "batch of 2048 for a step of f": {"batch_size": 2048},
    # In the next two a step of f still has 2048 negatives.
    "8 steps of f to one of q": {"num_f_steps": 1, "batch_size": 2048},
    "persistent chains": {"num_f_steps": 1, "batch_size": 2048, "persistence": 1},
    "resampling": {"resample": False},
    "edits": {"max_edits": 0},
    "4 trajectories instead of 10": {"num_trajectories": 10},
    "smaller q": {"q0_hidden": (512, 512, 256), "q0_head": 512, "q_hidden": (512, 512)},
    "bfloat16 in q0": {"bfloat16": False},
}
GRIDS = {  # the paper's, and our own over what matters most, with as much work for each
    ("pcd", "paper"): [{"restart": restart} for restart in (0.05, 0.1, 1.0)],
    ("pcd", "best"): [
        {"restart": restart, "num_sweeps": sweeps, "num_steps": 8000 // sweeps}
        for restart in (0.001, 0.01)
        for sweeps in (1, 4)
    ],
    ("cd", "best"): [  # one thing at a time
        {"num_steps": 8000},
        {"num_steps": 4000, "num_sweeps": 2},
        {"num_steps": 1600, "num_sweeps": 5},
        {"num_steps": 8000, "learning_rate_f": 5e-3},
        {"num_steps": 8000, "learning_rate_f": 2e-2},
        {"num_steps": 8000, "num_data": 1},
        {"num_steps": 8000, "num_data": 8},
    ],
    ("aloe", "best"): [
        {
            "num_f_steps": rounds,
            "batch_size": 2048 * rounds,
            "persistence": lives,
            "num_data": data,
            "num_steps": 8000,
        }
        for rounds, lives, data in ((1, 8, 1), (4, 32, 1), (8, 32, 1), (8, 64, 4), (16, 64, 4))
    ],
    ("aloe-fac-edit", "paper"): [{"max_stop_prob": bound} for bound in (1.0, 0.95)],
    **{
        (method, "paper"): [
            {"rate_ratio": ratio, "num_q_steps": steps}
            for ratio in (0.2, 0.5, 1.0)
            for steps in (1, 3, 5)
        ]
        for method in ("ade", "ade-fac", "ade-rnn")
    },
}


class Entry(NamedTuple):
    """A line of the table; the recipe is its label."""

    method: str
    recipe: str
    settings: Settings


def entries(pairs: Iterable[tuple[str, str]], preset: str, **changes: Any) -> list[Entry]:
    """Lines for pairs of method and recipe."""
    choose = lambda method, recipe: methods.choose(method, recipe, preset, **changes)
    return [Entry(method, recipe, choose(method, recipe)) for method, recipe in pairs]


def ablation(preset: str, **changes: Any) -> list[Entry]:
    """ALOE's best recipe, and what is left of it without each of its ingredients."""
    settings = lambda less: methods.choose("aloe", "best", preset, **(less | changes))
    less = [Entry("aloe", f"best less {name}", settings(less)) for name, less in WITHOUT.items()]
    return [Entry("aloe", "best", settings({})), *less]


def tuning(pairs: Iterable[tuple[str, str]], preset: str, **changes: Any) -> list[Entry]:
    """A line for every point of the grids of these methods and recipes."""
    grid = [(*pair, point) for pair in pairs for point in GRIDS[pair]]
    label = lambda point: ", ".join(f"{name}={value}" for name, value in point.items())
    settings = lambda *pair, point: methods.choose(*pair, preset=preset, **(point | changes))
    return [
        Entry(method, f"{recipe}, {label(point)}", settings(method, recipe, point=point))
        for method, recipe, point in grid
    ]


def make(
    lines: Iterable[Entry],
    problems: list[Problem],
    *,
    runs: Path,
    summary: Path,
    **how: Any,
) -> None:
    """Train and evaluate (`how`: see `evaluate`) all that is missing, entry by entry."""
    for method, recipe, settings in lines:
        folder = runs / re.sub("[^a-z0-9.=]+", "-", f"{method} {recipe}")
        paths = train(folder, settings, problems, recipe=recipe)
        results.save(summary, [rated(path, **how) for path in paths], KEYS)


def references(out: Path, data: Iterable[str] = DATA_SETS) -> None:
    """What the rows are held against, where it is missing: the floors, and data against data."""
    there = lambda name: {row["data"] for row in results.read(out / name)}
    missing = lambda name: [d for d in data if not (out / name).exists() or d not in there(name)]
    if names := missing("floor.json"):
        rows = floor.table()
        results.save(
            out / "floor.json", [{"data": name, **rows[name]} for name in names], ("data",)
        )
    if names := missing("data.json"):
        results.save(out / "data.json", [evaluate.data_row(name) for name in names], ("data",))
