"""f: energies, with p(x | z) ~ exp(+f(x, z)). Any callable f(x, z=None) -> scalar will do."""

from aloex.energies.couplings import SparseCouplings, lattice_edges
from aloex.energies.ising import Ising, ising_lattice
from aloex.energies.mlp import MLP
from aloex.energies.plain import as_energy
from aloex.energies.potts import Potts, potts_lattice
from aloex.energies.rbm import RBM
from aloex.energies.tabular import Tabular

__all__ = [
    "MLP",
    "RBM",
    "Ising",
    "Potts",
    "SparseCouplings",
    "Tabular",
    "as_energy",
    "ising_lattice",
    "lattice_edges",
    "potts_lattice",
]
