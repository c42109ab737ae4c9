"""Durations: how cells write them, the time between two moments, and how they are written."""
