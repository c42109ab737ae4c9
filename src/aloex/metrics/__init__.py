"""How good a model is: two-sample tests and likelihoods, each with its uncertainty."""
