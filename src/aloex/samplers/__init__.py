"""q: learned samplers. q0 draws a start, an editor refines it, a stop policy ends the search."""

from aloex.samplers.autoregressive_mlp import AutoregressiveMLP
from aloex.samplers.autoregressive_rnn import AutoregressiveRNN
from aloex.samplers.base import Editor, StopPolicy, Tractable
from aloex.samplers.editors import Flip, PositionValue
from aloex.samplers.factorized import Factorized
from aloex.samplers.local_search import LocalSearch
from aloex.samplers.stop import Stop
from aloex.samplers.uniform import Uniform

__all__ = [
    "AutoregressiveMLP",
    "AutoregressiveRNN",
    "Editor",
    "Factorized",
    "Flip",
    "LocalSearch",
    "PositionValue",
    "Stop",
    "StopPolicy",
    "Tractable",
    "Uniform",
]
