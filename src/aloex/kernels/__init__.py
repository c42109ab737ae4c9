"""k_f: Markov kernels that leave p_f unchanged: `init(key, x, f, z)` and `step(key, state, f)`."""

from aloex.kernels.base import Kernel, run
from aloex.kernels.compose import Compose
from aloex.kernels.gibbs import Gibbs

__all__ = ["Compose", "Gibbs", "Kernel", "run"]
