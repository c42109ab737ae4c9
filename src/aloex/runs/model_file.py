"""Model files: a tree of arrays as a file of weights, with the settings that rebuild it."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from aloex.base.errors import CheckpointError
from aloex.base.weights import read_weights, write_weights
from aloex.runs.trees import Tree, describe, fill, first_difference, named_arrays


def write(path: str | os.PathLike[str], tree: Any, settings: dict[str, Any]) -> None:
    """Write the tree's arrays, and JSON values from which `read` can tell its shape."""
    arrays = {name: np.asarray(leaf) for name, leaf in named_arrays(tree).items()}
    write_weights(Path(path), arrays, settings)


def read(
    path: str | os.PathLike[str],
    build: Callable[[dict[str, Any]], Tree],
    rename: Callable[[str], str] = str,
) -> tuple[Tree, dict[str, Any]]:
    """The tree and the settings; `build(settings)` makes a tree of the same shape.

    `rename` gives the name that an array of the file has in that tree.
    """
    arrays, settings = read_weights(Path(path))
    arrays = {rename(name): arrays[name] for name in sorted(arrays)}
    try:
        like = eqx.filter_eval_shape(build, settings)
    except (ValueError, TypeError, KeyError) as error:
        raise CheckpointError(
            f"{path} is not a model that this version of Aloex can read: {error}"
        ) from None
    different = first_difference(describe(arrays), describe(named_arrays(like)))
    if different is not None:
        name, found, wanted = different
        raise CheckpointError(
            f"{path} contradicts itself: {name} is {found} in it, but its config calls for "
            f"{'none' if wanted == 'absent' else wanted}; save the model again"
        )
    return fill(like, lambda name, leaf: jnp.asarray(arrays[name])), settings
