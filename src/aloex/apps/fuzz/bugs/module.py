"""The functions of a program or library, read from its symbol table in this process.

What tells bugs apart must not depend on a helper that may be killed, so it stands on this and not
on llvm-symbolizer. A function that the compiler has inlined is part of the one it is in.
"""

import struct
from bisect import bisect_right
from functools import cache
from pathlib import Path

from aloex.apps.fuzz.inputs import hash_of

SYMTAB, DYNSYM = 2, 11  # types of sections
FUNCTION = 2  # type of a symbol
LOAD = 1  # type of a segment
CALL = 0xE8  # the first of the five bytes of a direct call


class Module:
    """A program or library; empty if it cannot be read."""

    def __init__(self, path: str | Path):
        self.path = Path(path)
        try:
            self.content = self.path.read_bytes()
            symbols = dict(_symbols(self.content))
            self._segments = list(_segments(self.content))
        except (OSError, struct.error, ValueError, IndexError):
            self.content, symbols, self._segments = b"", {}, []
        self.fingerprint = hash_of(self.content)
        self._names = symbols  # by address
        self._starts = sorted(symbols)

    def functions_at(self, offset: int) -> list[str]:
        """All names of the function at an offset, in order; none if there is none before it."""
        i = bisect_right(self._starts, offset)
        return self._names[self._starts[i - 1]] if i else []

    def follows_call(self, offset: int) -> bool:
        """Whether an offset is behind a direct call, as a return address is."""
        for at, address, size in self._segments:
            if address <= offset - 5 < address + size:
                return self.content[at + offset - 5 - address] == CALL
        return False


@cache
def module_at(path: str, size: int, time: int) -> Module:
    """The module in a file of this size and time of change."""
    return Module(path)


def read_module(path: str | Path) -> Module:
    """The module in a file, which is read once unless it changes."""
    try:
        about = Path(path).stat()
    except OSError:
        return Module(path)
    return module_at(str(path), about.st_size, about.st_mtime_ns)


def _header(data: bytes) -> tuple[int, ...]:
    if data[:6] != b"\x7fELF\x02\x01":
        raise ValueError("no 64-bit ELF file")
    return struct.unpack_from("<16xHHIQQQIHHHHHH", data)


def _segments(data: bytes) -> list[tuple[int, int, int]]:
    """Where each part that is loaded is in the file, its address, and its size in the file."""
    header, found = _header(data), []
    start, size, count = header[4], header[8], header[9]
    for i in range(count):
        kind, _, at, address, _, length = struct.unpack_from("<IIQQQQ", data, start + i * size)
        if kind == LOAD:
            found.append((at, address, length))
    return found


def _symbols(data: bytes) -> dict[int, list[str]]:
    """The names of the functions at each address."""
    header, found = _header(data), {}
    start, size, count = header[5], header[10], header[11]
    # name, type, flags, address, offset, size, link, info, alignment, entry size
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, start + i * size) for i in range(count)]
    for section in sections:
        if section[1] not in (SYMTAB, DYNSYM):
            continue
        names = sections[section[6]][4]
        table = data[section[4] : section[4] + section[5]]
        for name, info, index, value, _ in struct.iter_unpack("<IBxHQQ", table):
            if info & 15 == FUNCTION and index:  # and defined here
                end = data.index(b"\0", names + name)
                found.setdefault(value, set()).add(data[names + name : end].decode("latin-1"))
    return {address: sorted(names) for address, names in found.items()}
