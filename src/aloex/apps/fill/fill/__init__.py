"""Fill a column from its examples; keep the program that does it."""

from aloex.apps.fill.fill.column import SURE, Answer, Filled, fill_column
from aloex.apps.fill.fill.frames import fill, register_accessor
from aloex.apps.fill.fill.program import Program

__all__ = ["SURE", "Answer", "Filled", "Program", "fill", "fill_column", "register_accessor"]
