"""Training: any data sets and seeds of one method at once, in a run folder that can be resumed."""

import dataclasses
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, Key

from aloex.apps.synthetic import methods
from aloex.apps.synthetic.data import DATA_SETS, DataSet
from aloex.apps.synthetic.methods import Settings
from aloex.apps.synthetic.trained import About, Trained, load
from aloex.base.errors import require
from aloex.learning import Batched, fit
from aloex.learning.batched import stack, unstack
from aloex.runs.run_folder import read_metrics

MAX_SEEDS = 2**31 // len(DATA_SETS)  # with these the number of each problem is its own


class Problem(NamedTuple):
    data: str
    seed: int

    @property
    def id(self) -> int:
        """A number of its own, so that a problem's draws do not depend on those beside it."""
        return self.seed * len(DATA_SETS) + DATA_SETS.index(self.data)

    @property
    def file(self) -> str:
        return f"{self.data}-{self.seed}.safetensors"


def train(
    folder: Path, settings: Settings, problems: list[Problem], *, recipe: str = "custom"
) -> list[Path]:
    """Train the problems (or go on with the run in `folder`); returns the model files."""
    require(len(problems) > 0, "there is nothing to train: name a data set and a seed")
    require(len(set(problems)) == len(problems), f"a data set and seed are named twice: {problems}")
    for problem in problems:
        require(
            0 <= problem.seed < MAX_SEEDS,
            f"a seed must be in 0..{MAX_SEEDS - 1}, got {problem.seed}",
        )
    paths = [folder / problem.file for problem in problems]
    if all(path.exists() for path in paths):
        for path in paths:
            _require_same(path, settings)
        return paths
    state = fit(
        **start(settings, problems),
        num_steps=settings.num_rounds,
        folder=folder / "run",
        resume=(folder / "run" / "config.json").exists(),
        checkpoint_every=max(1000, settings.num_rounds // 10),
    )
    seconds = [row["seconds"] for row in metrics(folder)]
    for path, problem, (f, q) in zip(paths, problems, unstack(methods.learned(state)), strict=True):
        about = About(
            recipe=recipe,
            data=problem.data,
            seed=problem.seed,
            train_seconds=round(sum(seconds), 1),
            compile_seconds=round(seconds[0] - median(seconds), 1),
            group_size=len(problems),
            device=jax.devices()[0].device_kind,
        )
        Trained(settings, about, f, q).save(path)
    return paths


def _require_same(path: Path, settings: Settings) -> None:
    """A model that is there already must be the one that is asked for."""
    before, now = dataclasses.asdict(load(path).settings), dataclasses.asdict(settings)
    before, now = {**before.pop("config"), **before}, {**now.pop("config"), **now}
    for name in now:
        require(
            before[name] == now[name],
            f"{path} was trained with {name}={before[name]!r}, not {now[name]!r}: give another "
            "--out, or remove that folder",
        )


def start(settings: Settings, problems: list[Problem]) -> dict[str, Any]:
    """What `fit` is to train, and on what: arguments for it."""
    learner = methods.build_learner(settings)
    ids = np.array([problem.id for problem in problems])
    begin = lambda i: methods.init(settings, jax.random.fold_in(jax.random.key(0), i))
    names = [problem.data for problem in problems]
    groups = [np.flatnonzero(np.array(names) == name) for name in dict.fromkeys(names)]
    back = np.argsort(np.concatenate(groups))

    def stream(key: Key[Array, ""], n: int) -> Int[Array, "problems n dim"]:
        """Batches of all problems; those of the same data set are drawn at once."""
        keys = jax.vmap(lambda i: jax.random.fold_in(key, i))(ids)
        draw = lambda group: jax.vmap(lambda k: DataSet(names[group[0]]).sample(k, n))(keys[group])
        return jnp.concatenate([draw(group) for group in groups])[back]

    return {
        "learner": Batched(learner, ids),
        "state": stack([begin(i) for i in ids]),
        "x": stream,
        "batch_size": settings.config.batch_size * settings.config.num_data,
        "how_to_resume": "repeat the command to go on with the run",
        "config": {**dataclasses.asdict(settings), "problems": [list(p) for p in problems]},
    }


def metrics(folder: Path) -> list[dict[str, Any]]:
    """The record of a run: a row now and then, with a number for each problem."""
    return read_metrics(folder / "run")
