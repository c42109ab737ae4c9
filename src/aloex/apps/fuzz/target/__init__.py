"""Targets: what is fuzzed, how it is built, and the built-in ones. No JAX."""

from aloex.apps.fuzz.target.build import build_target, find_clang
from aloex.apps.fuzz.target.elf import Binary, read_elf
from aloex.apps.fuzz.target.recipe import TargetRecipe
from aloex.apps.fuzz.target.target import Target

__all__ = ["Binary", "Target", "TargetRecipe", "build_target", "find_clang", "read_elf"]
