"""Rankers side by side, on the same programs: whose first program is right on all rows?"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.stats import binomtest

from studies.fill.energy.pools import Pool
from studies.fill.energy.store import load
from studies.fill.energy.train import fold_of

Scores = list[np.ndarray]  # of the programs of each pool; the highest is ranked first
LINEAR = "linear costs"
ENERGIES = {
    "generator": "energy, generator",
    "tuned": "energy, generator and dev",
    "on_costs": "energy on top of the costs",
}


def rankers(found: Sequence[Pool], folder: Path, *, by_fold: bool) -> dict[str, Scores]:
    """What each ranker says; `by_fold` rates each dev task by energies that never saw it.

    The linear costs were learned on all of dev, so there they are rated on what they have seen.
    """
    scores: dict[str, Scores] = {LINEAR: [-each.costs for each in found]}
    for name, words in ENERGIES.items():
        groups = load(folder / f"{name}.safetensors")
        folds = [group for group in groups if group.startswith("fold")]
        if not by_fold or not folds:
            scores[words] = groups["all"].scores(found)
            continue
        own: Scores = [np.zeros(0)] * len(found)
        for group in folds:
            at = [i for i, each in enumerate(found) if group == f"fold{fold_of(each.task)}"]
            for i, each in zip(at, groups[group].scores([found[i] for i in at]), strict=True):
                own[i] = each
        scores[words] = own
    return scores


def first_is_right(found: Sequence[Pool], scores: Scores) -> list[bool]:
    """Whether the first program of each pool is right; no program is wrong."""
    return [
        bool(len(s) and each.right[np.argmax(s)]) for each, s in zip(found, scores, strict=True)
    ]


def log_likelihood(right: np.ndarray, scores: np.ndarray) -> float:
    """The log of the probability of the right programs together."""
    weights = np.exp(scores - scores.max())
    return float(np.log(max(weights[right].sum() / weights.sum(), 1e-300)))


def best_scaled(rights: Sequence[np.ndarray], scores: Scores) -> float:
    """The mean log-likelihood when scores are multiplied by the number that is best right here.

    A ranker may know as much as another and only be too timid: this leaves that out. The number is
    fitted to the very tasks that are rated, for all rankers alike.
    """
    pairs = list(zip(rights, scores, strict=True))
    mean = lambda scale: float(np.mean([log_likelihood(r, scale * s) for r, s in pairs]))
    best = minimize_scalar(lambda log: -mean(np.exp(log)), bounds=(-2, 2), method="bounded")
    return -float(best.fun)


def mcnemar(one: Sequence[bool], other: Sequence[bool]) -> tuple[int, int, float]:
    """Pairs in which only the first, only the second is right, and the exact two-sided p."""
    only_one = sum(a and not b for a, b in zip(one, other, strict=True))
    only_other = sum(b and not a for a, b in zip(one, other, strict=True))
    total = only_one + only_other
    p = binomtest(only_one, total).pvalue if total else 1.0
    return only_one, only_other, float(p)


def summary(found: Sequence[Pool], scores: dict[str, Scores]) -> list[dict[str, Any]]:
    """A row for each ranker: counts, likelihood, and the test against the linear costs."""
    solvable = [i for i, each in enumerate(found) if each.right.any()]
    linear = first_is_right(found, scores[LINEAR])
    rows = []
    for name, own in scores.items():
        right = first_is_right(found, own)
        likely = [log_likelihood(found[i].right, own[i]) for i in solvable]
        row: dict[str, Any] = {
            "ranker": name,
            "tasks": len(found),
            "some_right": len(solvable),
            "first_right": sum(right),
            "log_likelihood": round(float(np.mean(likely)), 4) if likely else None,
        }
        if likely:
            rights = [found[i].right for i in solvable]
            row["scaled"] = round(best_scaled(rights, [own[i] for i in solvable]), 4)
        if name != LINEAR:
            only_linear, only_energy, p = mcnemar(linear, right)
            row |= {"only_linear": only_linear, "only_energy": only_energy, "p": round(p, 4)}
        rows.append(row)
    return rows
