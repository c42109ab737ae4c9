"""Pools: all programs that the search finds for a task, what they look like, which are right."""

import random
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from aloex.apps.fill.expressions.base import added
from aloex.apps.fill.search.costs import Features, cost_of
from aloex.apps.fill.search.solve import search
from aloex.apps.fill.search.vote import row_features
from studies.fill.energy.features import seen_on_rows, table_features
from studies.fill.energy.generator import generate
from studies.fill.tasks import Task


class Pool(NamedTuple):
    """The programs of one task from its first rows; those of no program are empty."""

    task: str
    num_examples: int
    programs: list[Features]  # the search's features of each, and those of rows in the linear model
    rows: list[Features]  # more that is seen on all rows
    table: Features
    costs: np.ndarray  # of the linear model in place
    right: np.ndarray  # on all rows


def pool(task: Task, num_examples: int) -> Pool:
    """Search for a task from its first rows."""
    found = search(task.rows, task.outputs[:num_examples])
    known = row_features(found, task.rows, num_examples)
    wanted = task.outputs[num_examples:]
    right = [[text or "" for text in each.texts[num_examples:]] == wanted for each in found]
    table = table_features(task.rows, task.outputs[:num_examples], len(found)) if found else {}
    return Pool(
        task.name,
        num_examples,
        [added([each.features, more]) for each, more in zip(found, known, strict=True)],
        seen_on_rows(found, task.rows, num_examples),
        table,
        np.array([f.cost + cost_of(more) for f, more in zip(found, known, strict=True)], float),
        np.array(right, bool),
    )


def pools(tasks: Iterable[Task], numbers: Sequence[int] = (1, 2, 3)) -> list[Pool]:
    """Those of tasks that have more rows than examples."""
    return [pool(task, n) for task in tasks for n in numbers if len(task.rows) > n]


def generated(seed: int, number: int) -> list[Pool]:
    """Those of generated tasks, each with one to three examples."""
    numbers = random.Random(f"{seed}/examples")
    return [pool(made.task, numbers.choice([1, 2, 3])) for made in generate(seed, number)]


def can_teach(each: Pool) -> bool:
    """Whether some of the programs are right and some are not."""
    return bool(each.right.any() and not each.right.all())
