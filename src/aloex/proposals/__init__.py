"""s_x: laws of trajectories that end in x, for estimates of log q(x), its gradient and weights."""

from aloex.proposals.base import Proposal
from aloex.proposals.edit_distance import EditDistance
from aloex.proposals.inverse import Inverse
from aloex.proposals.learned_inverse import LearnedInverse
from aloex.proposals.weights import SearchWeight, weigh

__all__ = ["EditDistance", "Inverse", "LearnedInverse", "Proposal", "SearchWeight", "weigh"]
