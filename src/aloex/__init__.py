"""Discrete energy-based models with a learned local-search sampler (the ALOE method).

>>> import aloex
>>> small = dict(f_hidden=(8,), q_hidden=(8,), num_trajectories=2, batch_size=8)
>>> model = aloex.learn([[0, 1, 1], [1, 0, 0]] * 10, num_steps=2, progress=False, **small)
>>> model.sample(5).shape
(5, 3)
"""

from importlib import import_module

# Type checkers know this name. `typing` itself would take most of the time until the command can
# tell an interrupt: see `aloex.__main__`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from aloex import (
        baselines,
        cursor,
        diagnostics,
        differences,
        energies,
        exact,
        kernels,
        learning,
        log_z,
        mcmc,
        metrics,
        proposals,
        samplers,
        spaces,
        trajectory,
    )
    from aloex.apps.fill.fill import fill
    from aloex.base import errors
    from aloex.learning import LearnedSampler, Model, learn, learn_sampler, load, load_sampler

__version__ = "0.1.0"

__all__ = [
    "LearnedSampler",
    "Model",
    "__version__",
    "baselines",
    "cursor",
    "diagnostics",
    "differences",
    "energies",
    "errors",
    "exact",
    "fill",
    "kernels",
    "learn",
    "learn_sampler",
    "learning",
    "load",
    "load_sampler",
    "log_z",
    "mcmc",
    "metrics",
    "proposals",
    "samplers",
    "spaces",
    "trajectory",
]
IN_LEARNING = ("LearnedSampler", "Model", "learn", "learn_sampler", "load", "load_sampler")


def __getattr__(name: str) -> object:
    """Load a part when it is first asked for: JAX takes a second, and some commands need none."""
    if name not in __all__:
        raise AttributeError(f"module 'aloex' has no attribute {name!r}")
    try:
        if name in IN_LEARNING:
            return getattr(import_module("aloex.learning"), name)
        if name == "fill":
            return import_module("aloex.apps.fill.fill").fill
        return import_module("aloex.base.errors" if name == "errors" else f"aloex.{name}")
    except ModuleNotFoundError as error:
        from aloex.base.extras import explain_missing

        raise explain_missing(error) or error from None


def __dir__() -> list[str]:
    return __all__
