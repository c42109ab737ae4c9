"""How good a model is: two-sample tests and likelihoods, each with its uncertainty."""

from aloex.metrics import ais, importance
from aloex.metrics.importance import LogZ, Uniform, nll
from aloex.metrics.mmd import Estimate, exp_hamming, linear_hamming, mmd, repeated

__all__ = [
    "Estimate",
    "LogZ",
    "Uniform",
    "ais",
    "exp_hamming",
    "importance",
    "linear_hamming",
    "mmd",
    "nll",
    "repeated",
]
