"""Mutators that draw bytes from a model. They need JAX, so they are a room of their own."""

from aloex.apps.fuzz.mutate.with_model.best_mixture import best, known
from aloex.apps.fuzz.mutate.with_model.certainty import Certainty
from aloex.apps.fuzz.mutate.with_model.resample import Resample
from aloex.apps.fuzz.mutate.with_model.sampler import ModelSampler, adaptive_arguments, learned

__all__ = [
    "Certainty",
    "ModelSampler",
    "Resample",
    "adaptive_arguments",
    "best",
    "known",
    "learned",
]
