"""Fuzzing: build instrumented targets, run inputs in them, keep what makes them fail."""
