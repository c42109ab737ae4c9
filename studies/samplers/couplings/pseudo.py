"""Couplings by pseudo-likelihood: convex, no sampling, and what everything else has to beat.

With C = 2 J, zeros on its diagonal, and spins s, the conditional of a spin given the others is
sigmoid(2 s_i (C s)_i). We maximise, over the symmetric C,

    L(C) = 1/(2n) sum over samples and sites of log p(s_i | others) - l1 sum_{i < j} |C_ij|

(Besag 1975; with l1, Hoefling and Tibshirani 2009). The factor 1/2, as each pair is in two
conditionals: at C = 0 the slope is the mean of s_i s_j, as that of the likelihood is, so that a
penalty means the same in both. By accelerated proximal gradient, with restarts (Beck and Teboulle
2009; O'Donoghue and Candes 2015).

The penalty is chosen by the pseudo-likelihood of a quarter of the samples that the other three
were fitted without; no method sees the true couplings. `refit` uses it to choose pairs only: these
are then fitted anew without a penalty, which shrinks what is large as much as what is noise.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from studies.samplers.couplings.problem import Matrix, Spins

PENALTIES = np.geomspace(0.6, 0.003, 16)
TOLERANCE = 1e-4  # of the slope; that of n = 2,000 samples has a standard error of 0.022
MAX_STEPS = 2000
HELD_OUT = 0.25

Mask = Bool[np.ndarray, "dim dim"]


class Fit(NamedTuple):
    """Couplings C = 2 J, and whether the slope is within the tolerance."""

    couplings: Matrix
    converged: bool


class Choice(NamedTuple):
    """The penalty with the best pseudo-likelihood on samples held out, and that."""

    l1: float
    held_out: float


def fit(
    spins: Spins, l1: float = 0.0, *, start: Matrix | None = None, among: Mask | None = None
) -> Fit:
    """The maximum of L, over the pairs in `among` if there is such a mask."""
    dim = spins.shape[1]
    here = np.zeros((dim, dim)) if start is None else start
    free = ~np.eye(dim, dtype=bool) if among is None else among & ~np.eye(dim, dtype=bool)
    step = 1 / np.linalg.eigvalsh(spins.T @ spins / len(spins))[-1]
    ahead, momentum = here, 1.0
    for _ in range(MAX_STEPS):
        raised = ahead + step * slope(spins, ahead)
        there = np.sign(raised) * np.maximum(np.abs(raised) - step * l1, 0) * free
        if np.abs(there - ahead).max() < TOLERANCE * step:
            return Fit(there, True)
        if np.sum((ahead - there) * (there - here)) > 0:  # it went too far
            momentum = 1.0
        following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = there + (momentum - 1) / following * (there - here)
        here, momentum = there, following
    return Fit(here, False)


def refit(spins: Spins, l1: float, *, start: Matrix | None = None) -> Fit:
    """Without a penalty, over the pairs that a fit with it does not leave at 0."""
    chosen = fit(spins, l1, start=start).couplings
    return fit(spins, start=chosen, among=chosen != 0)


def choose(spins: Spins, *, refitted: bool = False) -> Choice:
    """The best of `PENALTIES` for `fit`, or for `refit`; samples must be in no order."""
    cut = round(HELD_OUT * len(spins))
    rest, held_out = spins[cut:], spins[:cut]
    best, start = Choice(np.inf, -np.inf), None
    for l1 in PENALTIES:
        start = found = fit(rest, l1, start=start).couplings
        if refitted:
            found = fit(rest, start=found, among=found != 0).couplings
        best = max(best, Choice(float(l1), value(held_out, found)), key=lambda c: c.held_out)
    return best


def value(spins: Spins, couplings: Matrix) -> float:
    """L without the penalty."""
    return float(-np.logaddexp(0, -2 * spins * (spins @ couplings)).sum() / (2 * len(spins)))


def slope(spins: Spins, couplings: Matrix) -> Float[np.ndarray, "dim dim"]:
    """dL / dC_ij of each pair, both at [i, j] and at [j, i], without the penalty."""
    half = (spins - np.tanh(spins @ couplings)).T @ spins
    both = (half + half.T) / (2 * len(spins))
    np.fill_diagonal(both, 0)
    return both
