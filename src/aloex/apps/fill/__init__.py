"""Fill the columns of tables: programs on strings, found from a few examples."""

from aloex.apps.fill.fill import FilledTable, Row, Solution, fill_table, solve

__all__ = ["FilledTable", "Row", "Solution", "fill_table", "solve"]
