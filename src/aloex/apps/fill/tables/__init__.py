"""Tables of two columns, input and output: CSV files, and their headers."""

from aloex.apps.fill.tables.csv_file import Table, read, write
from aloex.apps.fill.tables.header import looks_like_header, split_header

__all__ = ["Table", "looks_like_header", "read", "split_header", "write"]
