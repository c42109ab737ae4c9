"""f: energies, with p(x | z) ~ exp(+f(x, z)). Any callable f(x, z=None) -> scalar will do."""

from aloex.energies.mlp import MLP
from aloex.energies.tabular import Tabular

__all__ = ["MLP", "Tabular"]
