"""A learned energy that ranks the programs of a version space; only training it needs JAX."""

from typing import TYPE_CHECKING, Any

from aloex.apps.programs.energy.learned import Learned

if TYPE_CHECKING:
    from aloex.apps.programs.energy.learn import train as train_energy

__all__ = ["Learned", "train_energy"]


def __getattr__(name: str) -> Any:
    if name == "train_energy":
        from aloex.apps.programs.energy.learn import train

        return train
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
