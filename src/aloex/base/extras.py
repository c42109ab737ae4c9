"""What a small installation may lack, and the command that brings it.

`pip install aloex` fills tables and fuzzes without a model. The rest comes in extras, and whoever
asks for something that is not there is told which one brings it.
"""

from importlib.util import find_spec
from typing import NamedTuple

from aloex.base.errors import AloexError


class Extra(NamedTuple):
    """Packages that are installed together."""

    label: str  # how a message names them
    modules: tuple[str, ...]


EXTRAS = {
    "learn": Extra(
        "JAX and its companions",
        ("jax", "jaxlib", "equinox", "optax", "scipy", "matplotlib"),
    ),
    "networks": Extra("numba", ("numba",)),
    "arviz": Extra("ArviZ", ("arviz",)),
    "bench": Extra("PyTorch", ("torch",)),
}


class MissingExtraError(AloexError, ImportError):
    """Something was asked for that needs packages which are not installed."""


def require_extra(name: str) -> None:
    """Raise a `MissingExtraError` unless the packages of the extra `name` are installed."""
    for module in EXTRAS[name].modules:
        if find_spec(module) is None:
            raise MissingExtraError(_message(name, module))


def explain_missing(error: ModuleNotFoundError) -> MissingExtraError | None:
    """The same message for an import that failed; None if no extra brings the module."""
    module = (error.name or "").partition(".")[0]
    for name, extra in EXTRAS.items():
        if module in extra.modules:
            return MissingExtraError(_message(name, module))
    return None


def _message(name: str, module: str) -> str:
    return (
        f"this needs {EXTRAS[name].label}, but {module} is not installed; "
        f"install it: pip install 'aloex[{name}]'"
    )
