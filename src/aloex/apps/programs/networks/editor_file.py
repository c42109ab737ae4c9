"""Editors by name and as files, and what they make of tasks."""

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp

from aloex.apps.programs.networks.nets.editor import Editor
from aloex.apps.programs.networks.nets.guided_editor import GuidedEditor
from aloex.apps.programs.networks.programs.grammar import PublicPairs
from aloex.apps.programs.networks.q0 import cast, current_name, file_of
from aloex.base.errors import require
from aloex.runs import model_file

# Arguments of an editor, from its own size and from the size of its q0.
SIZES: dict[str, dict[str, dict[str, int]]] = {
    "paper": {"full": {}, "tiny": {"hidden": 32, "num_layers": 1}},
    "best": {"full": {}, "tiny": {"num_layers": 1}},
}
Q0_SIZES: dict[str, dict[str, dict[str, int]]] = {
    "paper": {"full": {}, "tiny": {}},
    "best": {"full": {}, "tiny": {"width": 32, "num_heads": 2, "num_writers": 1}},
}


def build_editor(settings: dict[str, Any], seed: int = 0) -> Editor | GuidedEditor:
    """A new editor; `settings` has `model`, `size`, `q0_size`, and a `kind` which is editor."""
    kind, model = settings.get("kind"), settings.get("model")
    require(kind == "editor", f"this is no editor, but {kind!r}")
    require(model in SIZES, f"an editor is one of {', '.join(SIZES)}, got {model!r}")
    size, q0_size = str(settings.get("size")), str(settings.get("q0_size"))
    for name in (size, q0_size):
        require(name in SIZES[str(model)], f"the size is full or tiny, got {name!r}")
    chosen: dict[str, Any] = {**SIZES[str(model)][size], **Q0_SIZES[str(model)][q0_size]}
    made = Editor if model == "paper" else GuidedEditor
    return made(key=jax.random.key(seed), **chosen)


def load_editor(path: Path) -> tuple[Editor | GuidedEditor, dict[str, Any]]:
    """An editor and its settings, from a file or from the folder of its run."""
    build = lambda settings: cast(build_editor(settings), jnp.float16)
    model, settings = model_file.read(file_of(path), build, rename=current_name)
    return cast(model, jnp.float32), settings


def editor_memory(editor: Editor | GuidedEditor, memory: Any, public: PublicPairs) -> Any:
    """The tasks for an editor: by its own encoder, or from `memory`, as q0 encoded them."""
    return editor.prepare(public) if isinstance(editor, Editor) else editor.prepare(memory)
