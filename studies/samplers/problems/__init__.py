"""The problems of the sampling study: energies of which everything is known."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial

from studies.samplers.problems.bernoulli import bernoulli
from studies.samplers.problems.clusters import clusters
from studies.samplers.problems.hmm import factorial_hmm
from studies.samplers.problems.lattices import (
    CRITICAL_ISING,
    CRITICAL_POTTS_3,
    glass,
    ising,
    potts,
)
from studies.samplers.problems.machines import rbm
from studies.samplers.problems.parity import parity
from studies.samplers.problems.problem import Expectation, Problem

__all__ = ["PROBLEMS", "Expectation", "Problem", "problem"]

_ising = lambda height, width, coupling: partial(ising, height, width, coupling=coupling)

PROBLEMS: dict[str, Callable[[], Problem]] = {
    "bernoulli-64": bernoulli,
    "ising-8x8-below": _ising(8, 8, 0.3),
    "ising-8x8-critical": _ising(8, 8, CRITICAL_ISING),
    "ising-8x8-0.6": _ising(8, 8, 0.6),
    "ising-8x8-0.8": _ising(8, 8, 0.8),
    "ising-16x10-below": _ising(16, 10, 0.3),
    "ising-16x10-critical": _ising(16, 10, CRITICAL_ISING),
    "ising-16x10-0.6": _ising(16, 10, 0.6),
    "glass-10x10": glass,
    "potts-8x8-below": partial(potts, coupling=0.8),
    "potts-8x8-critical": partial(potts, coupling=CRITICAL_POTTS_3),
    "potts-8x8-above": partial(potts, coupling=1.2),
    "rbm-64": rbm,
    "hmm-16x4": factorial_hmm,
    "hmm-32x8": partial(factorial_hmm, 32, 8),
    "clusters-64": clusters,
    "clusters-256": partial(clusters, 256),
    "parity-64": parity,
}


@cache
def problem(name: str) -> Problem:
    """A problem of the registry under its name there, made once; some take seconds."""
    return replace(PROBLEMS[name](), name=name)
