"""The oracle: exact answers, by enumeration on small spaces and by algebra on some large ones.

Run it inside `float64()`, with models passed through `to_float64`, when rounding matters.
"""

from aloex.exact.enumeration import energies, kl, log_frequencies, log_p, log_z, site_matrix
from aloex.exact.lattices import LatticeAnswers, ising_lattice, potts_lattice
from aloex.exact.precision import float64, to_float64
from aloex.exact.rbm import RBMAnswers, rbm
from aloex.exact.searches import Search, log_marginal, trajectories
from aloex.exact.streamed import streamed_log_z

__all__ = [
    "LatticeAnswers",
    "RBMAnswers",
    "Search",
    "energies",
    "float64",
    "ising_lattice",
    "kl",
    "log_frequencies",
    "log_marginal",
    "log_p",
    "log_z",
    "potts_lattice",
    "rbm",
    "site_matrix",
    "streamed_log_z",
    "to_float64",
    "trajectories",
]
