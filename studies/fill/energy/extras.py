"""Which of the features seen on rows would help the linear costs most, alone or times another?

f = -cost + v e, where e is a feature on rows, or its product with one of the table. Extras are
taken one after the other, each the one that raises the likelihood of the right programs most beside
those taken before (by a Newton step); weights are then fitted together, and rated on folds that
they were not fitted on.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from studies.fill.energy.net import find_inputs, prepare
from studies.fill.energy.pools import Pool, can_teach
from studies.fill.energy.train import FOLDS, fold_of

RIDGE = 1.0
STEPS = 15  # of Newton


class Flat(NamedTuple):
    """All programs of all pools, one after the other."""

    e: np.ndarray
    base: np.ndarray
    right: np.ndarray
    pool: np.ndarray  # the number of each one's pool
    fold: np.ndarray


def flat_of(found: Sequence[Pool]) -> tuple[list[str], Flat]:
    """Names of the extras, and the pools that can teach something."""
    usable = [each for each in found if can_teach(each)]
    inputs = find_inputs(usable, "rows")
    made = prepare(usable, inputs)
    names = [*inputs.programs]
    names += [f"{x} * {z}" for x in inputs.programs for z in inputs.tables]
    both = [
        np.concatenate([p.x, (p.x[:, :, None] * p.z[None, None]).reshape(len(p.x), -1)], axis=1)
        for p in made
    ]
    sizes = [len(p.x) for p in made]
    folds = [fold_of(each.task) for each in usable]
    flat = Flat(
        np.concatenate(both),
        np.concatenate([p.base for p in made]).astype(float),
        np.concatenate([p.right for p in made]),
        np.repeat(np.arange(len(made)), sizes),
        np.repeat(folds, sizes),
    )
    return names, flat


def _probabilities(f: np.ndarray, flat: Flat, chosen: np.ndarray) -> np.ndarray:
    """Of the chosen programs, within each pool."""
    top = np.full(flat.pool[-1] + 1, -np.inf)
    np.maximum.at(top, flat.pool, np.where(chosen, f, -np.inf))
    weights = np.where(chosen, np.exp(f - top[flat.pool]), 0.0)
    return weights / np.bincount(flat.pool, weights)[flat.pool]


def _slope(f: np.ndarray, flat: Flat, e: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of the log-likelihood: its gradient, and the curvature of its normaliser's diagonal."""
    p = _probabilities(f, flat, np.ones(len(f), bool))
    gradient = (_probabilities(f, flat, flat.right) - p) @ e
    means = np.zeros((flat.pool[-1] + 1, e.shape[1]), e.dtype)
    np.add.at(means, flat.pool, p[:, None] * e)
    return gradient, p @ e**2 - (means**2).sum(0)


def fit(flat: Flat, columns: Sequence[int], keep: np.ndarray) -> np.ndarray:
    """Weights of some extras, from the programs kept."""
    rows = np.flatnonzero(keep)
    _, pool = np.unique(flat.pool[rows], return_inverse=True)
    part = Flat(flat.e[rows][:, columns], flat.base[rows], flat.right[rows], pool, flat.fold[rows])
    v = np.zeros(len(columns))
    for _ in range(STEPS):
        p = _probabilities(part.base + part.e @ v, part, np.ones(len(rows), bool))
        q = _probabilities(part.base + part.e @ v, part, part.right)
        means = np.zeros((pool[-1] + 1, len(columns)))
        np.add.at(means, pool, p[:, None] * part.e)
        curve = (part.e * p[:, None]).T @ part.e - means.T @ means + RIDGE * np.eye(len(columns))
        v = v + 0.7 * np.linalg.solve(curve, (q - p) @ part.e - RIDGE * v)
    return v


def rated(flat: Flat, f: np.ndarray) -> dict[str, Any]:
    """How many pools have a right program first, and the mean log-likelihood."""
    order = np.lexsort((np.arange(len(f)), -f, flat.pool))
    first = order[np.unique(flat.pool, return_index=True)[1]]
    p = _probabilities(f, flat, np.ones(len(f), bool))
    likely = np.log(np.maximum(np.bincount(flat.pool, p * flat.right), 1e-300))
    return {"first_right": int(flat.right[first].sum()), "log_likelihood": float(likely.mean())}


def cross_validated(flat: Flat, columns: Sequence[int]) -> dict[str, Any]:
    """The same with weights that were fitted on the other folds."""
    f = flat.base.copy()
    for fold in range(FOLDS):
        left = flat.fold == fold
        f[left] += flat.e[left][:, columns] @ fit(flat, columns, ~left)
    return rated(flat, f)


def extras(found: Sequence[Pool], number: int, products: bool) -> list[dict[str, Any]]:
    """The extras taken one after the other, with the rating of each set so far."""
    names, flat = flat_of(found)
    allowed = np.array([products or "*" not in name for name in names])
    taken: list[int] = []
    rows: list[dict[str, Any]] = [{"extra": "none", **rated(flat, flat.base)}]
    everywhere = np.ones(len(flat.base), bool)
    for _ in range(number):
        v = fit(flat, taken, everywhere) if taken else np.zeros(0)
        gradient, curve = _slope(flat.base + flat.e[:, taken] @ v, flat, flat.e)
        gain = np.where(allowed, gradient**2 / (curve + RIDGE), 0.0)
        gain[taken] = 0.0
        taken.append(int(np.argmax(gain)))
        weight = fit(flat, taken, everywhere)[-1]
        name = names[taken[-1]]
        rows.append({"extra": name, "weight": float(weight), **cross_validated(flat, taken)})
    return rows
