"""Checks of settings: each gives the value in its plain Python type, or says what is wrong."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from aloex.base.errors import InputError


def whole(name: str, value: Any, least: int, most: int | None = None) -> int:
    """A whole number (NumPy's too, a bool not) from `least` to `most`."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool):
        raise InputError(f"{name} must be a whole number, got {value!r}")
    if value < 0 == least:
        raise InputError(f"{name} must not be negative, got {value}")
    if value < least:
        raise InputError(f"{name} must be at least {least}, got {value}")
    if most is not None and value > most:
        raise InputError(f"{name} must be at most {most}, got {value}")
    return int(value)


def number(name: str, value: Any) -> float:
    """A finite number."""
    kinds = int | float | np.integer | np.floating
    if not isinstance(value, kinds) or isinstance(value, bool) or not math.isfinite(value):
        raise InputError(f"{name} must be a finite number, got {value!r}")
    return float(value)


def positive(name: str, value: Any) -> float:
    """A number above 0."""
    checked = number(name, value)
    if checked <= 0:
        raise InputError(f"{name} must be positive, got {value}")
    return checked


def sizes(name: str, value: Any) -> tuple[int, ...]:
    """One or more positive sizes, from any sequence of whole numbers."""
    if isinstance(value, str) or not isinstance(value, Sequence | np.ndarray):
        raise InputError(
            f"{name} must be one or more positive sizes, such as ({value!r},), got {value!r}"
        )
    found = [whole(f"each size in {name}", size, 1) for size in value]
    if not found:
        raise InputError(f"{name} must be one or more positive sizes, got {value!r}")
    return tuple(found)


def switch(name: str, value: Any) -> bool:
    """True or False."""
    if not isinstance(value, bool | np.bool_):
        raise InputError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def choice(name: str, value: Any, choices: tuple[str, ...]) -> str:
    """One of some words."""
    if value not in choices:
        raise InputError(f"{name} must be one of {choices}, got {value!r}")
    return value
