"""Fill the columns of tables: programs on texts, found from a few examples.

The function for data frames and lists is `aloex.fill`.
"""

from aloex.apps.fill.fill import Answer, Filled, Program, fill_column, register_accessor

__all__ = ["Answer", "Filled", "Program", "fill_column", "register_accessor"]
