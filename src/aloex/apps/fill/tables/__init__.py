"""Tables in files: read with every byte kept, one column filled, written as they were."""

from aloex.apps.fill.tables.choice import columns_to_read
from aloex.apps.fill.tables.columns import (
    find_column,
    listed,
    split_names,
    unique_names,
)
from aloex.apps.fill.tables.header import looks_like_header
from aloex.apps.fill.tables.output import (
    check_output,
    formulas,
    is_in_new_folder,
    is_same_file,
    open_output,
    output_path,
    write_output,
)
from aloex.apps.fill.tables.source import STANDARD, Source, open_source
from aloex.apps.fill.tables.stream import Applied, apply_to_table
from aloex.apps.fill.tables.table import Table, filled_bytes, filled_parts, read_table

__all__ = [
    "STANDARD",
    "Applied",
    "Source",
    "Table",
    "apply_to_table",
    "check_output",
    "columns_to_read",
    "filled_bytes",
    "filled_parts",
    "find_column",
    "formulas",
    "is_in_new_folder",
    "is_same_file",
    "listed",
    "looks_like_header",
    "open_output",
    "open_source",
    "output_path",
    "read_table",
    "split_names",
    "unique_names",
    "write_output",
]
