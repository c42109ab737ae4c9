"""Models of bytes: what they are, how they are learned, saved and loaded. Needs JAX."""

from aloex.apps.fuzz.model.byte_model import ByteModel, ModelSettings
from aloex.apps.fuzz.model.contexts import VISIBLE_FRACTIONS, context, fill_in_batches, mask
from aloex.apps.fuzz.model.learn import learn_model, quality
from aloex.apps.fuzz.model.learn_file import LearnedFile, learn_to_file
from aloex.apps.fuzz.model.likely import likely_bytes
from aloex.apps.fuzz.model.load import KINDS, build_model, load_model

__all__ = [
    "KINDS",
    "VISIBLE_FRACTIONS",
    "ByteModel",
    "LearnedFile",
    "ModelSettings",
    "build_model",
    "context",
    "fill_in_batches",
    "learn_model",
    "learn_to_file",
    "likely_bytes",
    "load_model",
    "mask",
    "quality",
]
