"""Double precision, for answers that rounding must not touch."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp

Model = TypeVar("Model")  # a tree of arrays


@contextmanager
def float64() -> Generator[None]:
    """Double precision inside the block.

    Returns:
        A context manager.

    Example:
        >>> import jax.numpy as jnp
        >>> from aloex import exact
        >>> with exact.float64():
        ...     print(jnp.ones(2).dtype)
        float64
    """
    with jax.enable_x64(True):
        yield


def to_float64(model: Model) -> Model:
    """The same model with every floating-point array in double precision.

    Args:
        model: any tree of arrays, of any shapes.

    Returns:
        A tree of the same structure.

    Example:
        >>> import jax.numpy as jnp
        >>> from aloex import exact
        >>> with exact.float64():
        ...     print(exact.to_float64({"w": jnp.zeros(2, jnp.float32)})["w"].dtype)
        float64
    """
    is_float = eqx.is_inexact_array
    return jax.tree.map(lambda a: a.astype(jnp.float64) if is_float(a) else a, model)
