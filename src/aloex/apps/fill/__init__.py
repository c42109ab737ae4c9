"""Program synthesis: string programs from examples, for filling the columns of tables."""

from aloex.apps.fill.fill import Row, Solution, solve

__all__ = ["Row", "Solution", "solve"]
