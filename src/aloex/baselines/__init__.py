"""The methods that ALOE is compared with, as learners that `fit` can train."""

from aloex.baselines.ade import ADE, reinforce_gradient
from aloex.baselines.likelihood import MaximumLikelihood
from aloex.baselines.pcd import CD, PCD
from aloex.baselines.vae import VAE

__all__ = ["ADE", "CD", "PCD", "VAE", "MaximumLikelihood", "reinforce_gradient"]
