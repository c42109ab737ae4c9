"""Energies as users write them: plain functions of x, or of x and a condition z."""

import inspect
from collections.abc import Callable
from typing import Any, cast

import equinox as eqx
from jaxtyping import Array

from aloex.base.errors import require
from aloex.cursor import Energy, Incremental
from aloex.differences import OffersDifferences


def as_energy(f: Energy | Callable[[Array], Array], z: Array | None = None) -> Energy:
    """f(x, z) of an f that may take x alone, as log densities do elsewhere.

    A second argument with a default, as in `lambda x, J=J: x @ J @ x`, is not taken for z, unless
    that default is None or there is a z.

    Args:
        f: a function of x, or of x and z.
        z: the condition that it will be called with.

    Returns:
        f itself if it takes x and z.

    Raises:
        InputError: f is no function, or takes no z although there is one.

    Example:
        >>> import jax.numpy as jnp
        >>> from aloex import energies
        >>> float(energies.as_energy(lambda x: 1.0 * x.sum())(jnp.array([0, 1]), None))
        1.0
    """
    require(callable(f), f"an energy must be a function f(x) or f(x, z), got {f!r}")
    if _takes_z(f, z):
        return cast(Energy, f)
    require(
        z is None,
        f"there is a condition z, but the energy {_name(f)} takes x alone; "
        "make it f(x, z), or leave z out",
    )
    require(
        not isinstance(f, Incremental | OffersDifferences),
        f"the energy {_name(f)} offers more than its value, and must take z as well: f(x, z=None)",
    )
    return _OfXAlone(f)


class _OfXAlone(eqx.Module):
    f: Callable[..., Array]

    def __call__(self, x: Array, z: Array | None = None) -> Array:
        return self.f(x)


def _takes_z(f: Callable[..., Any], z: Array | None) -> bool:
    try:
        parameters = list(inspect.signature(f).parameters.values())
    except (TypeError, ValueError):  # some builtins have none
        return True
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return True
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if len(positional) < 2:
        return False
    return z is not None or positional[1].default in (None, inspect.Parameter.empty)


def _name(f: Callable[..., Any]) -> str:
    return getattr(f, "__name__", type(f).__name__)
