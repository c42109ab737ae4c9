"""What x is: bits, categories or variable-length token sequences.

A space draws uniformly (`sample`), names the single-site neighbours of a state (`neighbours`), and
when it is small lists all its states (`enumerate`), with `index` as the inverse of that list.
States are integer arrays of one fixed shape, so everything can be compiled and batched; a sequence
shorter than `max_length` is padded with the symbol `num_values`, which is no token.
"""

from aloex.spaces.check import check_table
from aloex.spaces.mixed import Mixed, contains, values_per_site
from aloex.spaces.sequences import Sequences, num_symbols, require_fixed_length
from aloex.spaces.sites import Bits, Categorical
from aloex.spaces.space import Space

__all__ = [
    "Bits",
    "Categorical",
    "Mixed",
    "Sequences",
    "Space",
    "check_table",
    "contains",
    "num_symbols",
    "require_fixed_length",
    "values_per_site",
]
