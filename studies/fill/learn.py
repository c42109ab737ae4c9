"""Learn what features of programs cost: the likelihood of the right programs among all that fit.

For each task and number of examples the search gives programs, each with its features; a program's
probability is softmax(-cost), and its cost is linear in the features. Costs are moved up the
likelihood of those programs that are right on all rows, and held near where they began. The search
prunes by cost, so it is run again with the new ones.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from aloex.apps.fill.expressions.base import added
from aloex.apps.fill.search.costs import COSTS
from aloex.apps.fill.search.solve import search
from aloex.apps.fill.search.vote import row_features
from studies.fill.tasks import Task

STEPS = 400
RATE = 0.03
PULL = 0.003  # towards the costs at the beginning; chosen by cross-validation on the dev set


class Choice(NamedTuple):
    """Programs for one task from its first rows: their features, and which are right."""

    features: list[dict[str, float]]
    right: np.ndarray


def choices(tasks: Sequence[Task], numbers: Sequence[int] = (1, 2, 3)) -> list[Choice]:
    """What the search finds with the costs of the moment."""
    found = []
    for task in tasks:
        for n in numbers:
            programs = search(task.rows, task.outputs[:n])
            rows = row_features(programs, task.rows, n)
            features = [added([p.features, more]) for p, more in zip(programs, rows, strict=True)]
            right = [[text or "" for text in p.texts[n:]] == task.outputs[n:] for p in programs]
            found.append(Choice(features, np.array(right, bool)))
    return found


def fit(
    found: Sequence[Choice], costs: dict[str, float]
) -> tuple[dict[str, float], dict[str, Any]]:
    """Costs of higher likelihood, and how many choices have a right program first."""
    usable = [each for each in found if each.right.any() and not each.right.all()]
    names = sorted({*costs, *(name for each in usable for f in each.features for name in f)})
    tables = [
        np.array([[f.get(name, 0.0) for name in names] for f in each.features]) for each in usable
    ]
    start = np.array([costs.get(name, 0.0) for name in names])
    w, mean, square = start.copy(), np.zeros(len(names)), np.zeros(len(names))
    for _ in range(STEPS):  # Adam
        slope = PULL * (w - start)
        for x, each in zip(tables, usable, strict=True):
            p = _softmax(-x @ w)
            q = np.where(each.right, p, 0) / max(p[each.right].sum(), 1e-12)
            slope += x.T @ (q - p) / len(usable)
        mean, square = 0.9 * mean + 0.1 * slope, 0.99 * square + 0.01 * slope**2
        w = w - RATE * mean / (np.sqrt(square) + 1e-8)
    first = lambda w: sum(
        each.right[np.argmin(x @ w)] for x, each in zip(tables, usable, strict=True)
    )
    report = {"choices": len(usable), "right_before": int(first(start)), "right": int(first(w))}
    return {name: round(float(value), 2) for name, value in zip(names, w, strict=True)}, report


def learn(tasks: Sequence[Task], rounds: int = 2) -> tuple[dict[str, float], list[dict[str, Any]]]:
    """Search, fit, and search again; `COSTS` itself is as before in the end."""
    before, costs, reports = dict(COSTS), dict(COSTS), []
    try:
        for _ in range(rounds):
            costs, report = fit(choices(tasks), COSTS)
            COSTS.update(costs)
            reports.append(report)
    finally:
        COSTS.clear()
        COSTS.update(before)
    return costs, reports


def _softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max())
    return e / e.sum()
