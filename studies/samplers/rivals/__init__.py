"""Rivals of the learned sampler, all behind one small interface; see `rivals.base`."""

from studies.samplers.rivals.autoregressive import Autoregressive
from studies.samplers.rivals.base import Budget, Draws, Fitted, Rival
from studies.samplers.rivals.external import THRML, BlackJAX, BlackJAXSMC, NumPyro
from studies.samplers.rivals.gflownet import GFlowNet
from studies.samplers.rivals.swendsen_wang import SwendsenWang

__all__ = [
    "THRML",
    "Autoregressive",
    "BlackJAX",
    "BlackJAXSMC",
    "Budget",
    "Draws",
    "Fitted",
    "GFlowNet",
    "NumPyro",
    "Rival",
    "SwendsenWang",
]
