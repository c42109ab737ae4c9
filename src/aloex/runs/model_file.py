"""Model files: a tree of arrays as safetensors, with the settings that rebuild it as JSON."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import safetensors
import safetensors.numpy
from jaxtyping import PyTree

from aloex.base.errors import CheckpointError, require
from aloex.base.files import write_file
from aloex.runs.run_folder import describe, named_arrays


def write(path: str | os.PathLike, tree: PyTree, settings: dict[str, Any]) -> None:
    """Write the tree's arrays, and JSON values from which `read` can tell its shape."""
    arrays = {name: np.asarray(leaf) for name, leaf in named_arrays(tree).items()}
    content = safetensors.numpy.save(arrays, metadata={"aloex": json.dumps(settings)})
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    write_file(Path(path), content)


def read(
    path: str | os.PathLike,
    build: Callable[[dict[str, Any]], PyTree],
    rename: Callable[[str], str] = str,
) -> tuple[PyTree, dict[str, Any]]:
    """The tree and the settings; `build(settings)` makes a tree of the same shape.

    `rename` gives the name that an array of the file has in that tree.
    """
    try:
        with safetensors.safe_open(path, framework="np") as file:
            text = (file.metadata() or {}).get("aloex", "")
            require(text != "", "it has no Aloex config")
            arrays = {rename(name): file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        settings = json.loads(text)
        like = eqx.filter_eval_shape(build, settings)
    except FileNotFoundError:
        raise CheckpointError(f"there is no model file {path}; check the path") from None
    except (OSError, safetensors.SafetensorError) as error:
        raise CheckpointError(
            f"{path} is not a safetensors file, or was cut short ({error}); copy or save it again"
        ) from None
    except (ValueError, TypeError, KeyError) as error:
        raise CheckpointError(
            f"{path} is not a model that this version of Aloex can read: {error}"
        ) from None
    return _fill(path, like, arrays), settings


def _fill(path, like: PyTree, arrays: dict[str, np.ndarray]) -> PyTree:
    """The tree whose shapes are given, with the file's arrays in it."""
    slots = named_arrays(like)
    wanted, found = describe(slots), describe(arrays)
    for name in {**wanted, **found}:
        if wanted.get(name) != found.get(name):
            raise CheckpointError(
                f"{path} contradicts itself: {name} is {found.get(name, 'absent')} in it, but its "
                f"config calls for {wanted.get(name, 'none')}; save the model again"
            )
    empty, static = eqx.partition(like, lambda a: isinstance(a, jax.ShapeDtypeStruct))
    leaves = [jnp.asarray(arrays[name]) for name in slots]
    return eqx.combine(jax.tree.unflatten(jax.tree.structure(empty), leaves), static)
