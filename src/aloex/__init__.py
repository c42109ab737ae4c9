"""Discrete energy-based models with a learned local-search sampler (the ALOE method)."""

from aloex import (
    baselines,
    cursor,
    energies,
    errors,
    exact,
    kernels,
    learning,
    metrics,
    proposals,
    samplers,
    spaces,
    trajectory,
)
from aloex.learning import Model, learn, load

__version__ = "0.1.0"

__all__ = [
    "Model",
    "__version__",
    "baselines",
    "cursor",
    "energies",
    "errors",
    "exact",
    "kernels",
    "learn",
    "learning",
    "load",
    "metrics",
    "proposals",
    "samplers",
    "spaces",
    "trajectory",
]
