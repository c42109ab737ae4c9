"""Networks that write programs: q0, the editor, beam search. The parts load when asked for."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aloex.apps.programs.networks.editor_file import load_editor
    from aloex.apps.programs.networks.q0 import load as load_q0
    from aloex.apps.programs.networks.search.beam import beam_search
    from aloex.apps.programs.networks.search.joint_beam import joint_search
    from aloex.apps.programs.networks.train.train import train_q0
    from aloex.apps.programs.networks.train.train_editor import train_editor

__all__ = [
    "beam_search",
    "joint_search",
    "load_editor",
    "load_q0",
    "train_editor",
    "train_q0",
]
_WHERE = {
    "beam_search": ("search.beam", "beam_search"),
    "joint_search": ("search.joint_beam", "joint_search"),
    "load_editor": ("editor_file", "load_editor"),
    "load_q0": ("q0", "load"),
    "train_editor": ("train.train_editor", "train_editor"),
    "train_q0": ("train.train", "train_q0"),
}


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        module, own = _WHERE[name]
        return getattr(import_module(f"{__name__}.{module}"), own)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
