"""The states of a run at some of its steps, each in a folder named after its step.

A state is divided into files of weights of a bounded size, so that it travels well, and each file
has a hash. A checkpoint is written under another name and renamed when it is whole, so a killed
process leaves those before it untouched; whatever happens to the files later, the hashes tell.
"""

import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np

from aloex.base.errors import AloexError, CheckpointError
from aloex.base.files import make_folder, naming
from aloex.base.weights import read_weights, write_weights
from aloex.runs import devices
from aloex.runs.trees import (
    Tree,
    describe,
    fill,
    first_difference,
    from_stored,
    named_arrays,
    to_stored,
)

NUM_KEPT = 3  # checkpoints
MAX_BYTES = 15_000_000  # of a file, unless a single array has more


class Checkpoints:
    """Those in the folder `path`. Of several processes only the first writes; all read."""

    def __init__(self, path: Path):
        self.path = path

    def folder(self, step: int) -> Path:
        """The folder of a step's checkpoint."""
        return self.path / f"{step:09d}"

    def steps(self) -> list[int]:
        """The steps that have a checkpoint, in order."""
        if not self.path.is_dir():
            return []
        return sorted(int(p.name) for p in self.path.iterdir() if p.name.isdigit())

    def latest(self) -> int | None:
        """The step of the newest checkpoint."""
        return max(self.steps(), default=None)

    def save(self, step: int, state: Any) -> None:
        """Write the arrays of `state`, then drop all but the newest few checkpoints."""
        if not devices.is_main():
            return
        leaves, writing = named_arrays(state), self.path / ".writing"
        shutil.rmtree(writing, ignore_errors=True)
        make_folder(writing)
        parts = _divide({name: to_stored(leaf) for name, leaf in leaves.items()})
        for i, part in enumerate(parts):
            described = describe({name: leaves[name] for name in part})
            about = {"step": step, "parts": len(parts), "leaves": described}
            write_weights(writing / _name(i), part, about)
        with naming(self.folder(step)):
            self._discard(step)
            os.replace(writing, self.folder(step))
            for old in self.steps()[:-NUM_KEPT]:
                self._discard(old)

    def _discard(self, step: int) -> None:
        # Renamed first: what a kill leaves of it must not pass for a checkpoint.
        if self.folder(step).exists():
            doomed = self.path / ".discarded"
            shutil.rmtree(doomed, ignore_errors=True)
            os.replace(self.folder(step), doomed)
            shutil.rmtree(doomed)

    def restore(self, like: Tree, step: int | None = None, *, whole: bool = True) -> Tree:
        """A step's state, by default the newest.

        Args:
            like: gives its structure and whatever is no array; shapes will do in place of arrays.
            step: that of the checkpoint.
            whole: whether `like` must have every array; else what it lacks is left out.
        """
        step = self.latest() if step is None else step
        if step is None:
            raise CheckpointError(f"there is no checkpoint in {self.path}")
        arrays, leaves = self._read(step)
        wanted = describe(named_arrays(like))
        if not whole:
            leaves = {name: leaf for name, leaf in leaves.items() if name in wanted}
        different = first_difference(leaves, wanted)
        if different is not None:
            name, there, here = different
            raise CheckpointError(
                f"the checkpoint {self.folder(step)} belongs to another model: {name} is {there} "
                f"there and {here} here; build the model as {self.path.parent / 'config.json'} "
                "says, or use another folder"
            )
        return fill(like, lambda name, leaf: from_stored(arrays[name], leaf))

    def _read(self, step: int) -> tuple[dict[str, np.ndarray], dict[str, str]]:
        """All arrays of a step and their descriptions, after every hash was found to be right."""
        arrays: dict[str, np.ndarray] = {}
        leaves: dict[str, str] = {}
        i, parts = 0, 1
        while i < parts:
            part, about = self._read_part(step, self.folder(step) / _name(i))
            arrays, leaves = arrays | part, leaves | about["leaves"]
            i, parts = i + 1, about["parts"]
        return arrays, leaves

    def _read_part(self, step: int, path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        try:
            part, about = read_weights(path)
            if about.get("step") != step:
                raise CheckpointError(f"{path} is of step {about.get('step')}")
            return part, about
        except AloexError as error:
            earlier = [s for s in self.steps() if s < step]
            way_out = f"fall back to step {earlier[-1]}" if earlier else "start again from step 0"
            raise CheckpointError(
                f"the checkpoint {self.folder(step)} is damaged: {path.name} is missing or not as "
                f"it was written; delete that folder to {way_out}"
            ) from error


def _name(part: int) -> str:
    return f"part-{part}.safetensors"


def _divide(arrays: dict[str, np.ndarray]) -> list[dict[str, np.ndarray]]:
    """Parts of at most MAX_BYTES, unless one array has more."""
    parts: list[dict[str, np.ndarray]] = [{}]
    size = 0
    for name, array in arrays.items():
        if parts[-1] and size + array.nbytes > MAX_BYTES:
            parts.append({})
            size = 0
        parts[-1][name] = array
        size += array.nbytes
    return parts
