"""Trees of arrays as named NumPy arrays, and back."""

from collections.abc import Callable
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

Tree = TypeVar("Tree")  # of arrays, in tuples, dicts and modules


def named_arrays(tree: Any) -> dict[str, Any]:
    """The arrays of a tree, or their shapes, by their path, such as `f.first.weight`."""
    flat, _ = jax.tree_util.tree_flatten_with_path(eqx.filter(tree, _is_slot))
    return {jax.tree_util.keystr(path, simple=True, separator="."): leaf for path, leaf in flat}


def describe(leaves: dict[str, Any]) -> dict[str, str]:
    """Type and shape of each array, such as `float32[8, 4]`."""
    return {name: f"{leaf.dtype}{list(leaf.shape)}" for name, leaf in leaves.items()}


def first_difference(found: dict[str, str], wanted: dict[str, str]) -> tuple[str, str, str] | None:
    """The first name that two descriptions tell apart, with what is found and what is wanted."""
    for name in {**wanted, **found}:
        if found.get(name) != wanted.get(name):
            return name, found.get(name, "absent"), wanted.get(name, "absent")
    return None


def fill(like: Tree, read: Callable[[str, Any], Any]) -> Tree:
    """`like` with `read(name, leaf)` in place of every array or shape."""
    slots, static = eqx.partition(like, _is_slot)
    leaves = [read(name, leaf) for name, leaf in named_arrays(like).items()]
    return eqx.combine(jax.tree.unflatten(jax.tree.structure(slots), leaves), static)


def to_stored(leaf: Any) -> np.ndarray:
    """An array as a file keeps it: keys and types that NumPy does not know as their bits."""
    array = to_numpy(leaf)
    return array if array.dtype.isbuiltin == 1 else array.view(f"u{array.dtype.itemsize}")


def from_stored(array: np.ndarray, like: Any) -> Any:
    """The inverse of `to_stored`."""
    if _is_key(like):
        return from_numpy(jnp.asarray(array), like)
    return jnp.asarray(array if array.dtype == like.dtype else array.view(like.dtype))


def to_numpy(leaf: Any) -> np.ndarray:
    """An array's numbers, or a random key's bits."""
    return np.asarray(jax.random.key_data(leaf) if _is_key(leaf) else leaf)


def from_numpy(data: Any, like: Any) -> Any:
    """The inverse of `to_numpy`: the numbers again a random key if `like` is one."""
    return jax.random.wrap_key_data(data, impl=jax.random.key_impl(like)) if _is_key(like) else data


def _is_slot(leaf: Any) -> bool:
    return isinstance(leaf, jax.Array | jax.ShapeDtypeStruct)


def _is_key(leaf: Any) -> bool:
    return _is_slot(leaf) and jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)
