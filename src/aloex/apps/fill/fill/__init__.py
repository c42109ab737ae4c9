"""Find a program for some examples, and fill the outputs that are missing."""

from aloex.apps.fill.fill.solver import SURE, Row, Solution, solve
from aloex.apps.fill.fill.table import FilledTable, fill_table

__all__ = ["SURE", "FilledTable", "Row", "Solution", "fill_table", "solve"]
