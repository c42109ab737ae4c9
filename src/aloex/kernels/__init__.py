"""k_f: Markov kernels that leave p_f unchanged: `init(key, x, f, z)` and `step(key, state, f)`."""

from aloex.kernels.base import Kernel, run
from aloex.kernels.block_gibbs import BlockGibbs
from aloex.kernels.coloured_gibbs import ColouredGibbs, checkerboard
from aloex.kernels.compose import Compose
from aloex.kernels.gibbs import Gibbs
from aloex.kernels.gibbs_with_gradients import GibbsWithGradients
from aloex.kernels.hamming_ball import HammingBall
from aloex.kernels.langevin import DiscreteLangevin
from aloex.kernels.metropolis import RandomWalk
from aloex.kernels.path_auxiliary import PathAuxiliary
from aloex.kernels.search import Backward, Search, SearchMetropolis
from aloex.kernels.tempering import ParallelTempering

__all__ = [
    "Backward",
    "BlockGibbs",
    "ColouredGibbs",
    "Compose",
    "DiscreteLangevin",
    "Gibbs",
    "GibbsWithGradients",
    "HammingBall",
    "Kernel",
    "ParallelTempering",
    "PathAuxiliary",
    "RandomWalk",
    "Search",
    "SearchMetropolis",
    "checkerboard",
    "run",
]
