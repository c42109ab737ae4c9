"""How good a model is: two-sample tests and likelihoods, each with its uncertainty."""

from aloex.metrics.likelihood import nll
from aloex.metrics.mmd import Estimate, exp_hamming, linear_hamming, mmd, repeated

__all__ = [
    "Estimate",
    "exp_hamming",
    "linear_hamming",
    "mmd",
    "nll",
    "repeated",
]
