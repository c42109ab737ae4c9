"""How often the version space's programs are right: scores and the learned energy compared."""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from aloex.apps.programs.energy import net
from aloex.apps.programs.energy.learned import Learned
from aloex.apps.programs.language import Program
from aloex.apps.programs.language.run import Outputs
from aloex.apps.programs.space.k_best import best
from aloex.apps.programs.space.rank import for_inputs, unseen
from aloex.apps.programs.space.sample import Sampler
from aloex.apps.programs.space.score import FEWEST, Prior, Score, Simple
from aloex.apps.programs.space.version_space import VersionSpace
from aloex.apps.programs.tasks.processes import processes
from aloex.apps.programs.tasks.tasks import Task

NUM_RANKED = 10
NUM_VOTES = 100
SURE = 0.9  # share of the votes that every output of a sure answer has
MAX_OUTPUT = 50  # characters, of all tasks
Inputs = Sequence[str]  # those to be filled, for models that may know them
Ranked = list[tuple[float, Program]]  # with the probability to be right, NaN where unknown


class Ranker(NamedTuple):
    """How programs of a space are scored, and put in order by the scores."""

    score: Callable[[VersionSpace, Inputs], Score]
    order: Callable[[VersionSpace, Score, Inputs], Ranked]


def _best(space: VersionSpace, score: Score, inputs: Inputs) -> Ranked:
    return [(np.nan, program) for _, program in best(space, NUM_RANKED, score)]


def _unseen(space: VersionSpace, score: Score, inputs: Inputs) -> Ranked:
    return [(np.nan, program) for program in unseen(space, score, NUM_RANKED)]


def _known(space: VersionSpace, score: Score, inputs: Inputs) -> Ranked:
    return for_inputs(space, score, inputs, NUM_RANKED, MAX_OUTPUT)


def _prior(space: VersionSpace, inputs: Inputs = ()) -> Prior:
    return Prior([*(x for x, _ in space.examples), *inputs])


MODELS: dict[str, Ranker] = {
    "version space": Ranker(lambda space, inputs: Simple(), _best),
    "version space, fewest expressions": Ranker(lambda space, inputs: FEWEST, _best),
    "version space, generator's prior": Ranker(lambda space, inputs: _prior(space), _best),
    "version space + energy": Ranker(lambda space, inputs: Learned(space), _unseen),
    "version space, inputs known": Ranker(lambda space, inputs: Simple(), _known),
    "version space, generator's prior, inputs known": Ranker(_prior, _known),
    "version space + energy, inputs known": Ranker(Learned, _known),
}


class Rated(NamedTuple):
    """Of one task."""

    solved: bool  # some program fits the public pairs
    top1: bool  # the first program is right, or one of the ten
    top10: bool
    expected: float  # the probability that the model itself gives to the first
    vote: bool  # what most of the drawn programs write is right
    sure: bool  # nearly all of them agree on each input
    seconds: float  # of this process, to build the space and to rank


def evaluate(tasks: Sequence[Task], model: str, num_public: int, jobs: int = 1) -> dict[str, Any]:
    """Accuracy on the hidden pairs of each task, from its first `num_public` pairs.

    Every candidate fits the public pairs, so a beam of 10 has the same first one as a beam of 1.
    """
    rate = partial(_rate, model, num_public)
    with processes(jobs, chunk=50) as each_of:
        rated = [*each_of(rate, tasks)]
    columns = {name: np.array([getattr(one, name) for one in rated]) for name in Rated._fields}
    share = lambda name: float(columns[name].mean())
    sure, ms = columns["sure"], 1000 * columns["seconds"]
    row = {
        "model": model,
        "public_examples": num_public,
        "top1_beam1": share("top1"),
        "top1_beam10": share("top1"),
        "top10_beam10": share("top10"),
        "train_examples": net.NUM_TASKS if "energy" in model else 0,
        "gpu_seconds": 0,
        "n_tasks": len(tasks),
        "solved": share("solved"),
        "vote": share("vote"),
        "sure": share("sure"),
        "sure_right": float(columns["vote"][sure].mean()) if sure.any() else 0.0,
        "ms_mean": float(ms.mean()),
        "ms_median": float(np.median(ms)),
        "ms_99": float(np.quantile(ms, 0.99)),
    }
    has_expected = not np.isnan(columns["expected"]).any()
    return row | ({"expected": share("expected")} if has_expected else {})


def _rate(model: str, num_public: int, task: Task) -> Rated:
    public, hidden = task.examples[:num_public], task.examples[num_public:]
    inputs, wanted = [x for x, _ in hidden], [y for _, y in hidden]
    began = time.process_time()
    space = VersionSpace(public)
    score = MODELS[model].score(space, inputs)
    found = MODELS[model].order(space, score, inputs)
    seconds = time.process_time() - began
    if not found:
        return Rated(False, False, False, np.nan, False, False, seconds)
    written = Outputs(inputs)
    fits = [written(program) == wanted for _, program in found]
    drawn = Sampler(space, score).draw(np.random.default_rng(0), NUM_VOTES)
    columns = zip(*map(written, drawn), strict=True)
    votes = [Counter(column).most_common(1)[0] for column in columns]
    agreed = [text for text, _ in votes] == wanted
    sure = all(number >= SURE * NUM_VOTES for _, number in votes)
    return Rated(True, fits[0], any(fits), found[0][0], agreed, sure, seconds)
