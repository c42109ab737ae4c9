"""What a campaign leaves: a report, lists of bugs, and line coverage. No JAX, no matplotlib."""

from aloex.apps.fuzz.report.coverage import write_line_coverage
from aloex.apps.fuzz.report.report import write_report

__all__ = ["write_line_coverage", "write_report"]
