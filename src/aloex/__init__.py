"""Discrete energy-based models with a learned local-search sampler (the ALOE method)."""

from aloex import (
    cursor,
    energies,
    errors,
    exact,
    kernels,
    learning,
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
    "cursor",
    "energies",
    "errors",
    "exact",
    "kernels",
    "learn",
    "learning",
    "load",
    "proposals",
    "samplers",
    "spaces",
    "trajectory",
]
