"""Where in a library its edges are: clang writes a table of addresses beside the counters."""

import struct
from array import array
from pathlib import Path

from aloex.apps.fuzz.target.elf import read_elf, read_section

TABLE = "__sancov_pcs"  # an address and flags for each edge, in the order of the counters
RELOCATIONS, SYMBOLS = ".rela.dyn", ".dynsym"  # where a library has what is filled in later
RELOCATION = struct.Struct("<QIIq")  # where, kind, number of a symbol, address relative to it
SYMBOL = struct.Struct("<8xQ8x")  # address


def edge_addresses(library: Path) -> list[int]:
    """The address of each edge in a library or program; none if it has no table of them."""
    start, size = read_elf(library).sections.get(TABLE, (0, 0))
    table = array("Q", read_section(library, TABLE))
    symbols = [address for (address,) in SYMBOL.iter_unpack(read_section(library, SYMBOLS))]
    for at, _, symbol, address in RELOCATION.iter_unpack(read_section(library, RELOCATIONS)):
        if start <= at < start + size:
            table[(at - start) // table.itemsize] = address + (symbols[symbol] if symbol else 0)
    return table[::2].tolist()
