"""s_x: proposals of trajectories that end in x, for the importance estimate of grad log q(x)."""

from aloex.proposals.base import Proposal
from aloex.proposals.edit_distance import EditDistance
from aloex.proposals.inverse import Inverse

__all__ = ["EditDistance", "Inverse", "Proposal"]
