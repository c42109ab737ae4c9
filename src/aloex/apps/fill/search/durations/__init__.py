"""Durations that the outputs show."""
