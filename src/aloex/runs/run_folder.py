"""A run folder: all that is needed to know what a training run was and to go on with it.

    config.json     the settings the caller gave        run.json     seed and versions
    metrics.jsonl   one row per line                    checkpoints/ the last few states, by step

Of several processes only the first writes; all read, so they must share the file system. A process
has the folder to itself while it trains there.
"""

import json
import os
import platform
import shutil
from collections.abc import Generator
from contextlib import contextmanager, nullcontext
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import jax

from aloex.base.errors import CheckpointError, InputError, require
from aloex.base.files import UNFINISHED, make_folder, naming, write_file
from aloex.base.locks import LOCK, folder_lock
from aloex.runs import devices
from aloex.runs.checkpoints import Checkpoints
from aloex.runs.trees import Tree

CONFIG, ABOUT, METRICS, MODEL = "config.json", "run.json", "metrics.jsonl", "model.safetensors"
CHECKPOINTS = "checkpoints"
MAY_DIFFER = {"num_steps"}  # settings that may change on resuming: to train longer is a fair wish


class RunFolder:
    """The folder of one run, with its config, metrics and checkpoints; made by `create` or `open`.

    Args:
        path: where it is.

    Example:
        >>> from aloex import learning
        >>> run = learning.RunFolder.create("run", config={"num_steps": 10}, seed=0)
        >>> run.append_metrics([{"step": 5, "f_loss": 0.5}])
        >>> learning.RunFolder("run").config()
        {'num_steps': 10}
        >>> run.metrics_path.read_text()
        '{"step": 5, "f_loss": 0.5}\\n'
    """

    def __init__(self, path: str | os.PathLike[str]):
        self.path = Path(path)
        self.metrics_path = self.path / METRICS
        self.checkpoints = Checkpoints(self.path / CHECKPOINTS)

    @classmethod
    def create(
        cls, path: str | os.PathLike[str], *, config: dict[str, Any], seed: int
    ) -> "RunFolder":
        """Start a run in a folder that is new, empty, or has what a killed start left."""
        run, text = cls(path), _to_json(config)
        if not run.is_new():
            raise CheckpointError(
                f"{run.path} exists already; go on with the run in it with --resume (resume=True "
                "in Python), throw it away (aloex learn has --fresh), or use another folder"
                if run.has_begun()
                else f"{run.path} exists already and holds no run; use another folder"
            )
        devices.wait_for_all("the folder is free")
        if devices.is_main():
            make_folder(run.checkpoints.path)
            write_file(run.path / ABOUT, _to_json({"seed": seed, "versions": versions()}))
            write_file(run.path / CONFIG, text)  # the last: with it, the run has begun
        devices.wait_for_all("the folder is made")
        return run

    def is_new(self) -> bool:
        """Whether no run has begun here and nothing else is here either."""
        if not self.path.is_dir():
            return not self.path.exists()
        here = {p.name for p in self.path.iterdir() if p.suffix != UNFINISHED}
        return here <= {LOCK, ABOUT, CHECKPOINTS} and not self.checkpoints.steps()

    def has_begun(self) -> bool:
        """Whether there is a run here, or what is left of one."""
        return (self.path / CONFIG).exists() or bool(self.checkpoints.steps())

    @classmethod
    def open(
        cls, path: str | os.PathLike[str], *, config: dict[str, Any], seed: int
    ) -> "RunFolder":
        """Go on with the run in a folder, which must have been started with the same settings."""
        run, config = cls(path), json.loads(_to_json(config))
        before = {**run.config(), "seed": run._read(ABOUT).get("seed")}
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
            write_file(run.path / CONFIG, _to_json(config))
        return run

    def config(self) -> dict[str, Any]:
        """The settings of the run."""
        return self._read(CONFIG)

    def _read(self, name: str) -> dict[str, Any]:
        path = self.path / name
        try:
            with naming(path, "read"):
                if not path.exists():
                    advice = "check the path, or use another folder"
                    if self.has_begun():
                        advice = "put the file back, or start anew (aloex learn has --fresh)"
                    raise CheckpointError(
                        f"there is no run in {self.path} ({name} is missing); {advice}"
                    )
                content = json.loads(path.read_text())
        except ValueError as error:
            raise CheckpointError(f"{path} is damaged: {error}") from None
        if not isinstance(content, dict):
            raise CheckpointError(
                f"{path} is damaged: it must hold a JSON object of settings, got {content!r}"
            )
        return content

    def append_metrics(self, rows: list[dict[str, Any]]) -> None:
        """Add rows to the record."""
        if devices.is_main():
            with naming(self.metrics_path), self.metrics_path.open("a") as file:
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


@contextmanager
def open_run(
    folder: str | os.PathLike[str], resume: bool, state: Tree, config: dict[str, Any], seed: int
) -> Generator[tuple[RunFolder, Tree, int]]:
    """Have a folder to oneself, with its run, the state and the step to begin with.

    With `resume` the run in the folder is gone on with, if there is one; else it starts.
    """
    run = RunFolder(folder)
    with folder_lock(run.path) if devices.is_main() else nullcontext():
        if run.is_new() or not resume:
            yield RunFolder.create(folder, config=config, seed=seed), state, 0
            return
        RunFolder.open(folder, config=config, seed=seed)
        step = run.checkpoints.latest() or 0
        require(
            step <= config["num_steps"],
            f"the run in {run.path} is at step {step} already, beyond "
            f"num_steps={config['num_steps']}; ask for {step} steps or more",
        )
        state = run.checkpoints.restore(state) if step else state
        run.truncate_metrics(step)
        if step < config["num_steps"] and devices.is_main():
            (run.path / MODEL).unlink(missing_ok=True)  # of a shorter run, and soon out of date
        yield run, state, step


def recorded_steps(folder: str | os.PathLike[str]) -> int | None:
    """The length of the run in a folder; None if there is no run."""
    run = RunFolder(folder)
    return None if run.is_new() else run.config().get("num_steps")


def discard_run(folder: str | os.PathLike[str]) -> None:
    """Remove the run in a folder, and its model, so that another can start; nothing else."""
    run = RunFolder(folder)
    if run.is_new():
        return
    if not run.has_begun():
        raise CheckpointError(f"{run.path} holds no run, so nothing was removed; use another path")
    with folder_lock(run.path), naming(run.path, "remove the run in"):
        shutil.rmtree(run.checkpoints.path, ignore_errors=True)
        for name in (MODEL, METRICS, ABOUT, CONFIG):  # the config last: until then it is a run
            (run.path / name).unlink(missing_ok=True)


def read_metrics(folder: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """The rows of a run's record."""
    lines = (Path(folder) / METRICS).read_text().splitlines()
    return [json.loads(line) for line in lines]


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


def _to_json(value: Any) -> str:
    try:
        return json.dumps(value, indent=2) + "\n"
    except TypeError as error:
        raise InputError(f"a run's config must be plain JSON values: {error}") from None
