"""log Z where states cannot be listed: estimates, their errors, and what each of them bounds."""

from aloex.log_z.annealed import Bracket, ais, bracket, reverse_ais
from aloex.log_z.estimate import LogZ, log_z_from_weights
from aloex.log_z.importance import importance
from aloex.log_z.path import AdaptiveLadder, linear_ladder, sigmoid_ladder
from aloex.log_z.raise_ import RaiseBound, raise_
from aloex.log_z.smc import Particles, smc

__all__ = [
    "AdaptiveLadder",
    "Bracket",
    "LogZ",
    "Particles",
    "RaiseBound",
    "ais",
    "bracket",
    "importance",
    "linear_ladder",
    "log_z_from_weights",
    "raise_",
    "reverse_ais",
    "sigmoid_ladder",
    "smc",
]
