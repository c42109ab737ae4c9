"""Hypothesis with fixed seeds and without a time limit, which a busy machine would break."""

from hypothesis import settings

settings.register_profile("synth", deadline=None, derandomize=True)
settings.load_profile("synth")
