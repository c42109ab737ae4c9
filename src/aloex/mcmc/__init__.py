"""Sample an energy by chains: algorithms, `sample` with a warm-up, draws with diagnostics."""

from aloex.mcmc.algorithm import SamplingAlgorithm, algorithm
from aloex.mcmc.algorithms import (
    block_gibbs,
    coloured_gibbs,
    dmala,
    dula,
    gibbs,
    gwg,
    hamming_ball,
    learned_search,
    parallel_tempering,
    path_auxiliary,
    random_walk,
)
from aloex.mcmc.draws import Draws, Seconds
from aloex.mcmc.sample import sample
from aloex.mcmc.summary import Row, Summary

__all__ = [
    "Draws",
    "Row",
    "SamplingAlgorithm",
    "Seconds",
    "Summary",
    "algorithm",
    "block_gibbs",
    "coloured_gibbs",
    "dmala",
    "dula",
    "gibbs",
    "gwg",
    "hamming_ball",
    "learned_search",
    "parallel_tempering",
    "path_auxiliary",
    "random_walk",
    "sample",
]
