"""The negatives of the energy: other programs that fit a task's examples.

Building version spaces takes most of the time of training, so several processes can share it.
"""

from collections import Counter
from functools import partial
from typing import NamedTuple

import numpy as np

from aloex.apps.programs.energy import net
from aloex.apps.programs.energy.features import NUM_KINDS, kind
from aloex.apps.programs.energy.learned import Learned
from aloex.apps.programs.language import ConstStr, Program, canonical
from aloex.apps.programs.language.run import Outputs
from aloex.apps.programs.space.sample import Sampler
from aloex.apps.programs.space.version_space import VersionSpace
from aloex.apps.programs.tasks.processes import Map
from aloex.apps.programs.tasks.tasks import NUM_PUBLIC, Task

MAX_POSITIONS = 297  # of the paper's language


class Contrast(NamedTuple):
    """How often a task's program uses each part, less the mean over the negatives."""

    positions: np.ndarray  # [MAX_POSITIONS, features]
    uses: np.ndarray  # [MAX_POSITIONS]
    task: np.ndarray  # [features]
    kinds: np.ndarray  # of SubStr, and constants
    nll: np.ndarray  # -log p_f(program) in the version space


def contrast(weights: net.Weights, task: Task, rng: np.random.Generator, num_neg: int) -> Contrast:
    """Of one task, seen with 1 to 4 examples, and with all of the other inputs or with none."""
    num_public = int(rng.integers(1, NUM_PUBLIC + 1))
    inputs = [x for x, _ in task.examples[num_public:]] if rng.random() < 0.5 else []
    space = VersionSpace(task.examples[:num_public])
    score = Learned(space, inputs, weights)
    parts = _Parts(space)
    program = canonical(task.program)
    sampler = Sampler(space, score)
    neg = _negatives(sampler, rng, num_neg, Outputs(inputs))
    uses, kinds = parts(program)
    value = uses @ [*score.known.values()] + kinds @ score.of_task
    if neg:
        each = [parts(other) for other in neg]
        uses -= np.mean([one for one, _ in each], axis=0)
        kinds -= np.mean([one for _, one in each], axis=0)
    else:
        uses[:], kinds[:] = 0, 0
    more = MAX_POSITIONS - len(uses)
    return Contrast(
        np.pad(score.rows, ((0, more), (0, 0))),
        np.pad(uses, (0, more)).astype(np.float32),
        score.context.task,
        kinds.astype(np.float32),
        np.array(sampler.log_z - value, np.float32),
    )


def _negatives(sampler: Sampler, rng: np.random.Generator, number: int, outputs_of: Outputs):
    """Draws that apply to the inputs; fewer where most do not."""
    found: list[Program] = []
    for _ in range(4):
        drawn = sampler.draw(rng, number)
        found += [program for program in drawn if None not in outputs_of(program)]
        if len(found) >= number:
            break
    return found[:number]


class _Parts:
    """Counts the positions of a program, and its expressions by kind."""

    def __init__(self, space: VersionSpace):
        positions = [(pos, c) for c, each in enumerate(space.classes) for pos in each]
        self.number = {pos: i for i, (pos, _) in enumerate(positions)}
        self.gaps = space.gaps[[c for _, c in positions]]

    def __call__(self, program: Program) -> tuple[np.ndarray, np.ndarray]:
        uses, kinds = np.zeros(len(self.number)), np.zeros(NUM_KINDS + 1)
        for expr, times in Counter(program).items():
            if isinstance(expr, ConstStr):
                kinds[NUM_KINDS] += times
                continue
            a, b = self.number[expr.p1], self.number[expr.p2]
            uses[a] += times
            uses[b] += times
            between = self.gaps[b] - self.gaps[a]
            crossed = int((between < 0).any() and (between > 0).any())
            kinds[kind(crossed, abs(between).min())] += times
        return uses, kinds


def stacked(
    each_of: Map,
    weights: net.Weights,
    tasks: list[Task],
    seed: tuple[int, ...],
    num_neg: int,
) -> Contrast:
    """Of a batch; each task has random numbers of its own, whoever draws them."""
    one = partial(_one, weights, seed, num_neg)
    found = list(each_of(one, enumerate(tasks)))
    return Contrast(*(np.stack(column) for column in zip(*found, strict=True)))


def _one(
    weights: net.Weights, seed: tuple[int, ...], num_neg: int, numbered: tuple[int, Task]
) -> Contrast:
    number, task = numbered
    return contrast(weights, task, np.random.default_rng([*seed, number]), num_neg)
