"""The methods that ALOE is compared with, as learners that `fit` can train."""
