"""Rows of the study: a method on samples of a lattice with a penalty, each made once."""

import itertools
import time
from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

import jax
import numpy as np

from aloex.base.errors import require
from studies import results
from studies.samplers.couplings import pseudo
from studies.samplers.couplings.learners import METHODS as LEARNERS
from studies.samplers.couplings.learners import train
from studies.samplers.couplings.problem import Spins, adjacency, samples, score

Row = dict[str, Any]
Job = tuple[str, int, float, int, str, int]  # as KEYS

KEYS = ("method", "side", "sigma", "seed", "l1", "steps")
STEPS = 2000  # of training, unless told otherwise
CHOSEN = "chosen"  # the penalty that the pseudo-likelihood of held-out samples chooses

WITHOUT_SAMPLING = ("zero", "known-pairs", "pseudo-likelihood", "refit")
METHODS = (*WITHOUT_SAMPLING, *LEARNERS)


def make(
    methods: Iterable[str],
    lattices: Iterable[tuple[int, float]],
    seeds: Iterable[int],
    penalties: Iterable[str],
    out: Path,
    *,
    num_steps: int,
    within: float | None = None,
    tell: Callable[[str], None] = print,
) -> int:
    """Make what `out` does not hold yet; how many jobs are left when the seconds are over."""
    begin = time.perf_counter()
    todo = list(jobs(methods, lattices, seeds, penalties, num_steps))
    done = {tuple(row[key] for key in KEYS) for row in results.read(out)} if out.exists() else set()
    todo = [job for job in todo if job not in done]
    for number, job in enumerate(todo):
        if within is not None and time.perf_counter() - begin > within:
            return len(todo) - number
        row = run(job)
        results.save(out, [row], KEYS, quiet=True)
        tell(f"{', '.join(map(str, job))}: {row['score']:.3f} in {row['seconds']:.1f} s")
    return 0


def jobs(
    methods: Iterable[str],
    lattices: Iterable[tuple[int, float]],
    seeds: Iterable[int],
    penalties: Iterable[str],
    num_steps: int,
) -> Iterable[Job]:
    """Seed by seed; those on the same samples one after the other."""
    methods, penalties = list(methods), list(penalties)
    for method in methods:
        require(method in METHODS, f"a method must be one of {METHODS}, got {method!r}")
    for l1 in penalties:
        require(
            l1 == CHOSEN or (_is_number(l1) and float(l1) >= 0),
            f"a penalty must be a number of 0 or more, or {CHOSEN!r}, got {l1!r}",
        )
    for seed, (side, sigma), method in itertools.product(seeds, lattices, methods):
        if method in ("zero", "known-pairs"):
            of_method = ["0"]
        else:
            of_method = [CHOSEN] if method == "refit" else penalties
        for l1 in of_method:
            yield method, side, sigma, seed, l1, num_steps if method in LEARNERS else 0


def run(job: Job) -> Row:
    """The row of a job. Seconds are those of fitting; compiling and choosing l1 are apart."""
    method, side, sigma, seed, l1, num_steps = job
    spins = samples(side, sigma, seed)
    if l1 == CHOSEN:
        penalty, seconds_to_choose = _chosen(side, sigma, seed, method == "refit")
    else:
        penalty, seconds_to_choose = float(l1), 0.0
    row: Row = dict(zip(KEYS, job, strict=True)) | {"l1_value": penalty}
    if method in LEARNERS:
        found = train(method, spins, penalty, seed=seed, num_steps=num_steps)
        at = lambda m: [round(m.seconds, 3), round(score(m.couplings / 2, side, sigma), 4)]
        curve = [at(moment) for moment in found.moments]
        seconds, value = curve[-1]
        row |= {"score": value, "seconds": seconds, "curve": curve}
        row |= {"compile_seconds": found.compile_seconds, "evaluations": found.evaluations}
    else:
        begin = time.perf_counter()
        fitted = _fit(method, spins, penalty, side)
        row |= {"score": round(score(fitted.couplings / 2, side, sigma), 4)}
        row |= {"seconds": time.perf_counter() - begin, "converged": fitted.converged}
        row |= {"pairs": int(np.count_nonzero(np.triu(fitted.couplings)))}
    return row | {"seconds_to_choose": seconds_to_choose, "device": device()}


def device() -> str:
    """What JAX runs on."""
    first = jax.devices()[0]
    return "cpu" if first.platform == "cpu" else first.device_kind


@lru_cache(maxsize=2)
def _chosen(side: int, sigma: float, seed: int, refitted: bool) -> tuple[float, float]:
    """The penalty, and the seconds that it takes to choose it."""
    spins, begin = samples(side, sigma, seed), time.perf_counter()
    l1 = pseudo.choose(spins, refitted=refitted).l1
    return l1, time.perf_counter() - begin


def _fit(method: str, spins: Spins, l1: float, side: int) -> pseudo.Fit:
    match method:
        case "zero":
            return pseudo.Fit(np.zeros((side**2, side**2)), True)
        case "known-pairs":
            return pseudo.fit(spins, among=adjacency(side) > 0)
        case "refit":
            return pseudo.refit(spins, l1)
        case _:
            return pseudo.fit(spins, l1)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
