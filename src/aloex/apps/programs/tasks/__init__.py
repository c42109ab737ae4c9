"""Random tasks: a program with ten examples of what it writes."""

from aloex.apps.programs.tasks.tasks import (
    FROZEN,
    MAX_INPUT,
    MAX_OUTPUT,
    NUM_PUBLIC,
    Task,
    generate,
    load,
    pack,
    require_free,
    save,
)

__all__ = [
    "FROZEN",
    "MAX_INPUT",
    "MAX_OUTPUT",
    "NUM_PUBLIC",
    "Task",
    "generate",
    "load",
    "pack",
    "require_free",
    "save",
]
