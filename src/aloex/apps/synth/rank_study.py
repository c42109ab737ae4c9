"""How often the program that is ranked first is right: scores and the learned energy compared."""

import time
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from aloex.apps.synth.best import best
from aloex.apps.synth.dsl import Program
from aloex.apps.synth.energy import net
from aloex.apps.synth.energy.learned import Learned
from aloex.apps.synth.processes import processes
from aloex.apps.synth.rank import for_inputs, unseen
from aloex.apps.synth.score import FEWEST, Prior, Score, Simple
from aloex.apps.synth.tasks import Task
from aloex.apps.synth.version_space import VersionSpace
from aloex.apps.synth.written import Written

NUM_RANKED = 10
MAX_OUTPUT = 50  # characters, of all tasks
Ranked = list[tuple[float, Program]]  # with the probability to be right, NaN where not told
Ranker = Callable[[VersionSpace, Sequence[str]], Ranked]


def _best(space: VersionSpace, score: Score) -> Ranked:
    return [(np.nan, program) for _, program in best(space, NUM_RANKED, score)]


def _unseen(space: VersionSpace, score: Score) -> Ranked:
    return [(np.nan, program) for program in unseen(space, score, NUM_RANKED)]


def _known(space: VersionSpace, score: Score, inputs: Sequence[str]) -> Ranked:
    return for_inputs(space, score, inputs, NUM_RANKED, MAX_OUTPUT)


def _public(space: VersionSpace) -> list[str]:
    return [x for x, _ in space.examples]


# Programs in order, from a version space; the inputs are only for those that may know them.
MODELS: dict[str, Ranker] = {
    "version space": lambda space, inputs: _best(space, Simple()),
    "version space, fewest expressions": lambda space, inputs: _best(space, FEWEST),
    "version space, generator's prior": lambda space, inputs: _best(space, Prior(_public(space))),
    "version space + energy": lambda space, inputs: _unseen(space, Learned(space)),
    "version space, inputs known": lambda space, inputs: _known(space, Simple(), inputs),
    "version space, generator's prior, inputs known": lambda space, inputs: _known(
        space, Prior([*_public(space), *inputs]), inputs
    ),
    "version space + energy, inputs known": lambda space, inputs: _known(
        space, Learned(space, inputs), inputs
    ),
}


def evaluate(tasks: Sequence[Task], model: str, num_public: int, jobs: int = 1) -> dict:
    """Accuracy on the hidden pairs of each task, from its first `num_public` pairs.

    Every candidate fits the public pairs, so a beam of 10 has the same first one as a beam of 1.
    `expected` is how often the model itself expects its first program to be right.
    """
    rate = partial(_rate, model, num_public)
    with processes(jobs, chunk=50) as each_of:
        rated = [*each_of(rate, tasks)]
    top1, top10, expected, seconds = (np.array(column) for column in zip(*rated, strict=True))
    row = {
        "model": model,
        "public_examples": num_public,
        "top1_beam1": float(top1.mean()),
        "top1_beam10": float(top1.mean()),
        "top10_beam10": float(top10.mean()),
        "train_examples": net.NUM_TASKS if "energy" in model else 0,
        "gpu_seconds": 0,
        "n_tasks": len(tasks),
        "ms_mean": float(1000 * seconds.mean()),
        "ms_median": float(1000 * np.median(seconds)),
        "ms_99": float(1000 * np.quantile(seconds, 0.99)),
    }
    return row if np.isnan(expected).any() else row | {"expected": float(expected.mean())}


def _rate(model: str, num_public: int, task: Task) -> tuple[bool, bool, float, float]:
    """Whether the first and any of the ranked programs is right, expected, and the CPU time."""
    public, hidden = task.examples[:num_public], task.examples[num_public:]
    inputs, wanted = [x for x, _ in hidden], [y for _, y in hidden]
    began = time.process_time()
    found = MODELS[model](VersionSpace(public), inputs)
    seconds = time.process_time() - began
    written = Written(inputs)
    fits = [written(program) == wanted for _, program in found]
    return any(fits[:1]), any(fits), found[0][0] if found else np.nan, seconds
