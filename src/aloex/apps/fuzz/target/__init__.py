"""Targets: what is fuzzed, how it is built, and the built-in ones. No JAX."""

from aloex.apps.fuzz.target.build import build_target
from aloex.apps.fuzz.target.compile import find_clang
from aloex.apps.fuzz.target.edges import edge_addresses
from aloex.apps.fuzz.target.elf import Binary, read_elf
from aloex.apps.fuzz.target.recipe import TargetRecipe, build_command
from aloex.apps.fuzz.target.strings import strings_of
from aloex.apps.fuzz.target.target import Target

__all__ = [
    "Binary",
    "Target",
    "TargetRecipe",
    "build_command",
    "build_target",
    "edge_addresses",
    "find_clang",
    "read_elf",
    "strings_of",
]
