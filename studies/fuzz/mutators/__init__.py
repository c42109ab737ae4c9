"""Mutators that learn nothing from the target. Those with a model are modules that need JAX.

edits       other bytes, or those of another seed, at random positions
numbers     also numbers, changed as numbers
sampler     bytes drawn from a model
certainty   where a model is certain of the byte, and numbers are likely
resample    the paper's way: one byte after the other
mixture     several mutators by turns
best        a mixture that follows from how much its model knows
"""

from studies.fuzz.mutators.edits import ByteOfOtherSeed, Mutants, Mutator, RandomEdits, Uniform
from studies.fuzz.mutators.numbers import Numbers

PLAIN_MUTATORS = {"uniform": Uniform, "other-seed": ByteOfOtherSeed, "numbers": Numbers}

__all__ = ["PLAIN_MUTATORS", "Mutants", "Mutator", "RandomEdits", "Uniform"]
