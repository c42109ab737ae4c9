"""A run folder: all that is needed to know what a training run was and to go on with it.

    config.json     the settings the caller gave        run.json     seed and versions
    metrics.jsonl   one row per line                    checkpoints/ the last few states, by step

A checkpoint holds the arrays (Orbax) and a manifest with their shapes and with the size and SHA-256
of every file. It is written under another name and renamed when it is whole, so a killed process
leaves the checkpoints before it untouched; whatever happens to the files later, the manifest tells.
Of several processes only the first writes; all read, so they must share the file system.
"""

import hashlib
import json
import os
import platform
import shutil
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import orbax.checkpoint as ocp
from jaxtyping import PyTree

from aloex.base.errors import CheckpointError, InputError, require
from aloex.base.files import write_file
from aloex.runs import devices

NUM_KEPT = 3  # checkpoints
MAY_DIFFER = {"num_steps"}  # settings that may change on resuming: to train longer is a fair wish


class RunFolder:
    """Made by `create` or `open`."""

    def __init__(self, path: str | os.PathLike):
        self.path = Path(path)
        self.metrics_path = self.path / "metrics.jsonl"
        self.checkpoints = self.path / "checkpoints"

    @classmethod
    def create(cls, path: str | os.PathLike, *, config: dict[str, Any], seed: int) -> "RunFolder":
        """Start a run in a folder that is new or empty."""
        run, text = cls(path), _to_json(config)
        if run.path.exists() and (not run.path.is_dir() or any(run.path.iterdir())):
            raise CheckpointError(
                f"{run.path} exists already; go on with the run in it with --resume "
                "(resume=True in Python), or use another folder"
            )
        devices.wait_for_all("the folder is free")
        if devices.is_main():
            run.checkpoints.mkdir(parents=True)
            write_file(run.path / "config.json", text)
            write_file(run.path / "run.json", _to_json({"seed": seed, "versions": versions()}))
        devices.wait_for_all("the folder is made")
        return run

    @classmethod
    def open(cls, path: str | os.PathLike, *, config: dict[str, Any], seed: int) -> "RunFolder":
        """Go on with the run in a folder, which must have been started with the same settings."""
        run, config = cls(path), json.loads(_to_json(config))
        before = {**run._read("config.json"), "seed": run._read("run.json").get("seed")}
        now = {**config, "seed": seed}
        for key in sorted((before.keys() | now.keys()) - MAY_DIFFER):
            if before.get(key) != now.get(key):
                raise CheckpointError(
                    f"the run in {run.path} has {key}={before.get(key, 'absent')!r}, but now "
                    f"{key}={now.get(key, 'absent')!r} is given; resume with the same settings, "
                    "or use another folder"
                )
        devices.wait_for_all("the folder is read")
        if devices.is_main():
            write_file(run.path / "config.json", _to_json(config))
        return run

    def _read(self, name: str) -> dict[str, Any]:
        try:
            return json.loads((self.path / name).read_text())
        except FileNotFoundError:
            raise CheckpointError(
                f"there is no run to resume in {self.path} ({name} is missing); "
                "check the path, or start a new run without --resume (resume=False)"
            ) from None
        except ValueError as error:
            raise CheckpointError(f"{self.path / name} is damaged: {error}") from None

    def append_metrics(self, rows: list[dict[str, Any]]) -> None:
        """Add rows to the record."""
        if devices.is_main():
            with self.metrics_path.open("a") as file:
                file.writelines(json.dumps(row) + "\n" for row in rows)

    def truncate_metrics(self, step: int) -> None:
        """Drop rows after `step`, and the half line that a killed process may have left."""
        if not devices.is_main() or not self.metrics_path.exists():
            return
        lines = self.metrics_path.read_text().split("\n")[:-1]
        try:
            kept = [line for line in lines if json.loads(line)["step"] <= step]
        except (ValueError, KeyError, TypeError):
            raise CheckpointError(
                f"{self.metrics_path} is damaged: not every line is a row with a step; "
                "mend it or move it away to resume without the record so far"
            ) from None
        write_file(self.metrics_path, "".join(line + "\n" for line in kept))

    def checkpoint(self, step: int) -> Path:
        """The folder of a step's checkpoint."""
        return self.checkpoints / f"{step:09d}"

    def steps(self) -> list[int]:
        """The steps that have a checkpoint, in order."""
        if not self.checkpoints.is_dir():
            return []
        return sorted(int(p.name) for p in self.checkpoints.iterdir() if p.name.isdigit())

    def latest_step(self) -> int | None:
        """The step of the newest checkpoint."""
        return max(self.steps(), default=None)

    def save_checkpoint(self, step: int, state: PyTree) -> None:
        """Write the arrays of `state`, then drop all but the newest few checkpoints."""
        if not devices.is_main():
            return
        leaves, writing = named_arrays(state), self.checkpoints / ".writing"
        shutil.rmtree(writing, ignore_errors=True)
        arrays = {name: devices.to_numpy(leaf) for name, leaf in leaves.items() if leaf.size}
        _orbax().save((writing / "arrays").absolute(), args=ocp.args.PyTreeSave(arrays))
        manifest = {"step": step, "leaves": describe(leaves), "files": _fingerprints(writing)}
        write_file(writing / "manifest.json", json.dumps(manifest))
        self._discard(step)
        os.replace(writing, self.checkpoint(step))
        for old in self.steps()[:-NUM_KEPT]:
            self._discard(old)

    def _discard(self, step: int) -> None:
        # Renamed first: what a kill leaves of it must not pass for a checkpoint.
        if self.checkpoint(step).exists():
            doomed = self.checkpoints / ".discarded"
            shutil.rmtree(doomed, ignore_errors=True)
            os.replace(self.checkpoint(step), doomed)
            shutil.rmtree(doomed)

    def restore(self, like: PyTree) -> PyTree:
        """The newest checkpoint's state; `like` gives its structure and whatever is no array."""
        step = self.latest_step()
        if step is None:
            raise CheckpointError(f"there is no checkpoint in {self.checkpoints}")
        manifest, leaves = self._verify(step), named_arrays(like)
        self._check_same_model(step, manifest["leaves"], describe(leaves))
        full = [name for name, leaf in leaves.items() if leaf.size]
        as_numpy = {name: ocp.RestoreArgs(restore_type=np.ndarray) for name in full}
        arrays = _orbax().restore(
            (self.checkpoint(step) / "arrays").absolute(),
            args=ocp.args.PyTreeRestore(restore_args=as_numpy),
        )
        filled = [
            devices.from_numpy(jnp.asarray(arrays[name]), leaf) if leaf.size else leaf
            for name, leaf in leaves.items()
        ]
        dynamic, static = eqx.partition(like, eqx.is_array)
        return eqx.combine(jax.tree.unflatten(jax.tree.structure(dynamic), filled), static)

    def _verify(self, step: int) -> dict[str, Any]:
        """The manifest, after every file was found to be as it was written."""
        path = self.checkpoint(step)
        try:
            manifest = json.loads((path / "manifest.json").read_text())
            now = _fingerprints(path)
            wrong = [f for f, mark in manifest["files"].items() if now.get(f) != mark]
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            manifest, wrong = {}, ["manifest.json"]
        if wrong:
            earlier = [s for s in self.steps() if s < step]
            raise CheckpointError(
                f"the checkpoint {path} is damaged: {wrong[0]} is missing or not as it was "
                "written; delete that folder to "
                + (f"fall back to step {earlier[-1]}" if earlier else "start again from step 0")
            )
        return manifest

    def _check_same_model(self, step: int, before: dict[str, str], now: dict[str, str]) -> None:
        for name in {**now, **before}:
            if before.get(name) != now.get(name):
                raise CheckpointError(
                    f"the checkpoint {self.checkpoint(step)} belongs to another model: {name} is "
                    f"{before.get(name, 'absent')} there and {now.get(name, 'absent')} here; build "
                    f"the model as {self.path / 'config.json'} says, or use another folder"
                )


def versions() -> dict[str, str]:
    """What this run depends on."""
    packages = ("aloex", "jax", "jaxlib", "equinox", "optax", "numpy")
    kinds = sorted({device.device_kind for device in jax.devices()})
    return {
        **{name: _version(name) for name in packages},
        "python": platform.python_version(),
        "platform": platform.platform(),
        "devices": f"{jax.device_count()} x {', '.join(kinds)} ({jax.default_backend()})",
    }


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:  # such as aloex itself, run from a checkout
        return "not installed"


def open_run(
    folder: str | os.PathLike, resume: bool, state: PyTree, config: dict[str, Any], seed: int
) -> tuple[RunFolder, PyTree, int]:
    """A new run folder, or the one to go on with, and the state and step to begin with."""
    if not resume:
        return RunFolder.create(folder, config=config, seed=seed), state, 0
    run = RunFolder.open(folder, config=config, seed=seed)
    step = run.latest_step()
    if step is not None:
        require(
            step <= config["num_steps"],
            f"the run in {run.path} is at step {step} already, beyond "
            f"num_steps={config['num_steps']}; ask for {step} steps or more",
        )
        state = run.restore(state)
    run.truncate_metrics(step or 0)
    return run, state, step or 0


def read_metrics(folder: str | os.PathLike) -> list[dict[str, Any]]:
    """The rows of a run's record."""
    lines = (Path(folder) / "metrics.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def _to_json(value: Any) -> str:
    try:
        return json.dumps(value, indent=2) + "\n"
    except TypeError as error:
        raise InputError(f"a run's config must be plain JSON values: {error}") from None


def named_arrays(tree: PyTree) -> dict[str, Any]:
    """The arrays of a tree, or their shapes, by their path, such as `f.first.weight`."""
    tree = eqx.filter(tree, lambda a: isinstance(a, jax.Array | jax.ShapeDtypeStruct))
    flat, _ = jax.tree_util.tree_flatten_with_path(tree)
    return {jax.tree_util.keystr(path, simple=True, separator="."): leaf for path, leaf in flat}


def describe(leaves: dict[str, Any]) -> dict[str, str]:
    """Type and shape of each array, such as `float32[8, 4]`."""
    return {name: f"{leaf.dtype}{list(leaf.shape)}" for name, leaf in leaves.items()}


def _fingerprints(folder: Path) -> dict[str, str]:
    """Size and SHA-256 of every file under a folder."""
    files = sorted(p for p in folder.rglob("*") if p.is_file() and p != folder / "manifest.json")
    return {
        str(
            p.relative_to(folder)
        ): f"{p.stat().st_size} {hashlib.sha256(p.read_bytes()).hexdigest()}"
        for p in files
    }


def _orbax() -> ocp.Checkpointer:
    """Orbax within this process alone: it would otherwise wait for all of them at every step."""
    me = jax.process_index()
    alone = ocp.options.MultiprocessingOptions(
        primary_host=me, active_processes={me}, barrier_sync_key_prefix=f"process{me}"
    )
    handler = ocp.PyTreeCheckpointHandler(multiprocessing_options=alone)
    return ocp.Checkpointer(handler, multiprocessing_options=alone)
