"""Checkpoints in few files of a bounded size, so that they travel well.

Weights are kept in float32, the optimizer's moments in bfloat16. So that a resumed run equals one
that went on, saving rounds the moments of the run that goes on as well. The files of a step carry
its number; older ones are removed once the new ones are whole.
"""

import json
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import safetensors
import safetensors.numpy
from jaxtyping import PyTree

from aloex.base.errors import CheckpointError
from aloex.base.files import write_file
from aloex.runs.run_folder import describe, named_arrays

MAX_BYTES = 15_000_000  # of a file


def rounded(moments: PyTree) -> PyTree:
    """The tree with its arrays rounded to bfloat16, as they are saved."""
    cast = lambda a: a.astype(jnp.bfloat16).astype(a.dtype) if eqx.is_inexact_array(a) else a
    return jax.tree.map(cast, moments)


def save(folder: Path, step: int, weights: PyTree, moments: PyTree) -> None:
    """Write a step's files; the moments must be `rounded`."""
    arrays = {f"weights.{name}": np.asarray(a) for name, a in named_arrays(weights).items()}
    for name, a in named_arrays(moments).items():
        small = jnp.issubdtype(a.dtype, jnp.inexact)
        # safetensors cannot read bfloat16 into numpy, so its bits travel as integers.
        a = jax.lax.bitcast_convert_type(a.astype(jnp.bfloat16), jnp.uint16) if small else a
        arrays[f"moments.{name}"] = np.asarray(a)
    parts = _divide(arrays)
    for i, part in enumerate(parts):
        metadata = {"aloex": json.dumps({"step": step, "parts": len(parts)})}
        write_file(folder / _name(step, i), safetensors.numpy.save(part, metadata=metadata))
    for old in folder.glob("state-*.safetensors"):
        if old.name not in {_name(step, i) for i in range(len(parts))}:
            old.unlink()


def _name(step: int, part: int) -> str:
    return f"state-{step:09d}-{part}.safetensors"


def _divide(arrays: dict[str, np.ndarray]) -> list[dict[str, np.ndarray]]:
    """Parts of at most MAX_BYTES, unless one array has more."""
    parts: list[dict[str, np.ndarray]] = [{}]
    for name, a in arrays.items():
        if parts[-1] and sum(b.nbytes for b in parts[-1].values()) + a.nbytes > MAX_BYTES:
            parts.append({})
        parts[-1][name] = a
    return parts


def restore(folder: Path, weights: PyTree, moments: PyTree) -> tuple[int, PyTree, PyTree] | None:
    """The newest whole step: its number, weights and moments; None if there is none."""
    steps = sorted({path.name.split("-")[1] for path in folder.glob("state-*-0.safetensors")})
    if not steps:
        return None
    arrays, metadata = _read(folder / _name(int(steps[-1]), 0))
    for i in range(1, metadata["parts"]):
        arrays |= _read(folder / _name(int(steps[-1]), i))[0]
    slots = named_arrays(weights), named_arrays(moments)
    filled = []
    for kind, tree, slot in zip(("weights", "moments"), (weights, moments), slots, strict=True):
        leaves = [_fit(folder, arrays, f"{kind}.{name}", like) for name, like in slot.items()]
        dynamic, static = eqx.partition(tree, eqx.is_array)
        filled.append(eqx.combine(jax.tree.unflatten(jax.tree.structure(dynamic), leaves), static))
    return metadata["step"], *filled


def _fit(folder: Path, arrays: dict[str, np.ndarray], name: str, like: Any) -> jax.Array:
    found = arrays.get(name)
    if found is None or found.shape != like.shape:
        now = describe({"": like})[""]
        was = "absent" if found is None else describe({"": found})[""]
        raise CheckpointError(
            f"the checkpoint in {folder} belongs to another model: {name} is {was} there and {now} "
            "here; use the same settings, or another folder"
        )
    if found.dtype == np.uint16:
        return jax.lax.bitcast_convert_type(jnp.asarray(found), jnp.bfloat16).astype(like.dtype)
    return jnp.asarray(found, like.dtype)


def _read(path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    try:
        with safetensors.safe_open(path, framework="np") as file:
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            return arrays, json.loads((file.metadata() or {})["aloex"])
    except (OSError, KeyError, ValueError, safetensors.SafetensorError) as error:
        raise CheckpointError(
            f"the checkpoint {path} is missing or damaged ({error}); copy it again, or delete the "
            "files of its step"
        ) from None
