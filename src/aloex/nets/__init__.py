"""Pieces of networks that energies and samplers share."""

from aloex.nets.dense import Dense, Features, Linear, check_condition, elu, on_cpu

__all__ = ["Dense", "Features", "Linear", "check_condition", "elu", "on_cpu"]
