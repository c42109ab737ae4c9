"""Number formats: weights are kept in float32, and networks compute in bfloat16 on accelerators."""

from typing import TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp

from aloex.nets.dense import on_cpu

Model = TypeVar("Model")  # a tree of arrays


def to_bfloat16(model: Model) -> Model:
    """The network with bfloat16 weights; on a CPU, where that is slow, the network itself."""
    if on_cpu():
        return model
    cast = lambda a: a.astype(jnp.bfloat16) if eqx.is_inexact_array(a) else a
    return jax.tree.map(cast, model)
