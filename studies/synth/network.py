"""Networks from their files, alone or with an editor, as they are rated."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jax

from aloex.apps.programs.networks import q0
from aloex.apps.programs.networks.editor_file import load_editor
from aloex.apps.programs.tasks.tasks import Task
from aloex.base.errors import require
from studies.synth.evaluate import Search, by_beam, by_joint_beam, evaluate
from studies.synth.weights import weights_file


class Network(NamedTuple):
    """How it searches, and what is known of it."""

    search: Search
    about: dict[str, Any]

    def rate(
        self, tasks: Sequence[Task], num_public: int, wider: Sequence[int] = ()
    ) -> dict[str, Any]:
        """A row on how often it is right; `wider` beams are tried besides."""
        row = evaluate(self.search, tasks, num_public=num_public, wider=wider)
        return {**row, **self.about, "device": jax.devices()[0].device_kind}


def load_network(
    path: Path, editor: Path | None = None, prune: bool | None = None, until_fit: bool = False
) -> Network:
    """A q0, and an editor that goes on from it; by default only `best` prunes its beams."""
    path, editor = weights_file(path), editor and weights_file(editor)
    model, settings = q0.load(path)
    pruned = settings["model"] == "best" if prune is None else prune
    about: dict[str, Any] = {"q0": settings["model"], "size": settings["size"], "prune": pruned}
    about |= {"weights": [q0.fingerprint(path)], **_training(settings)}
    if editor is None:
        require(not until_fit, f"--until-fit is for an editor, and {path} is to go alone")
        return Network(by_beam(model, prune=pruned), about)
    edit, of_editor = load_editor(editor)
    _check_pair(path, settings, editor, of_editor)
    about["weights"].append(q0.fingerprint(editor))
    about |= {name: round(about[name] + x, 1) for name, x in _training(of_editor).items()}
    about |= {"until_fit": True} if until_fit else {}
    return Network(by_joint_beam(model, edit, prune=pruned, until_fit=until_fit), about)


def _training(settings: dict[str, Any]) -> dict[str, Any]:
    """What it took to train a model, with what was before it."""
    runs = [settings, settings.get("before", {})]
    total = lambda name: round(sum(run.get(name, 0) for run in runs), 1)
    return {"train_examples": total("train_examples"), "gpu_seconds": total("train_seconds")}


def _check_pair(path: Path, of_q0: dict[str, Any], editor: Path, of_editor: dict[str, Any]) -> None:
    """An editor knows its q0 by its kind, and in the folder of a run by its very weights."""
    own = f"{of_q0['model']}, {of_q0['size']}"
    wanted = f"{of_editor['model']}, {of_editor['q0_size']}"
    config = editor / "config.json"
    if own == wanted and config.exists():
        own, wanted = q0.fingerprint(path), json.loads(config.read_text()).get("q0")
    require(
        own == wanted,
        f"{editor} is the editor of another q0 ({wanted}) than {path} ({own}); give the q0 that "
        "it was trained with, or train an editor for this one",
    )
