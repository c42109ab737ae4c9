"""Inputs: seeds and corpora from files, and what a run of inputs returns. No JAX."""

from aloex.apps.fuzz.inputs.corpus import Corpus, corpus_of, read_corpus
from aloex.apps.fuzz.inputs.dictionary import read_dictionary
from aloex.apps.fuzz.inputs.outcomes import ExitStatus, Failure, Inputs, Outcomes
from aloex.apps.fuzz.inputs.seeds import Seeds, fingerprint, hash_of, read_seeds

__all__ = [
    "Corpus",
    "ExitStatus",
    "Failure",
    "Inputs",
    "Outcomes",
    "Seeds",
    "corpus_of",
    "fingerprint",
    "hash_of",
    "read_corpus",
    "read_dictionary",
    "read_seeds",
]
