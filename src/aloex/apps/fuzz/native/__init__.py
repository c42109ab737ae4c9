"""The mutation engine and the worker, in C, compiled on first use. No JAX.

mutator/   makes mutants and learns what pays: a library of its own, see mutator.h
worker/    runs inputs and mutants in a target
"""

from aloex.apps.fuzz.native.compiled import compile_flags, compiled, sources, version
from aloex.apps.fuzz.native.engine import (
    ALL_GUIDES,
    EDIT,
    LIKELY,
    MAX_OPERATORS,
    MAX_STACKS,
    ORIGINS,
    REPAIRS,
    Arm,
    Counts,
    Engine,
    Guide,
    Recipe,
    TokenKind,
)

__all__ = [
    "ALL_GUIDES",
    "EDIT",
    "LIKELY",
    "MAX_OPERATORS",
    "MAX_STACKS",
    "ORIGINS",
    "REPAIRS",
    "Arm",
    "Counts",
    "Engine",
    "Guide",
    "Recipe",
    "TokenKind",
    "compile_flags",
    "compiled",
    "sources",
    "version",
]
