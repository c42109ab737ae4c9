"""Mutators make new inputs from seeds. Those with a model are in `with_model`, which needs JAX."""

from aloex.apps.fuzz.mutate.adaptive import Adaptive
from aloex.apps.fuzz.mutate.make import PLAIN_MUTATORS, MutatorSettings, make_mutator
from aloex.apps.fuzz.mutate.mixture import Mixture
from aloex.apps.fuzz.mutate.mutators import (
    AdaptiveMutator,
    ByteOfOtherSeed,
    Mutants,
    Mutator,
    RandomEdits,
    Uniform,
)
from aloex.apps.fuzz.mutate.numbers import EditsAndNumbers, Numbers

__all__ = [
    "PLAIN_MUTATORS",
    "Adaptive",
    "AdaptiveMutator",
    "ByteOfOtherSeed",
    "EditsAndNumbers",
    "Mixture",
    "Mutants",
    "Mutator",
    "MutatorSettings",
    "Numbers",
    "RandomEdits",
    "Uniform",
    "make_mutator",
]
