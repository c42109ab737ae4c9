"""What the executor needs to know of an ELF file: its sections, its functions, and its kind."""

import struct
from dataclasses import dataclass
from pathlib import Path

from aloex.base.errors import InputError

SYMTAB, DYNSYM = 2, 11  # types of sections
FUNCTION = 2  # type of a symbol
INTERP = 3  # type of a program header that only programs have


@dataclass(frozen=True)
class Binary:
    """A program or a shared library. Addresses are relative to where it is loaded."""

    path: Path
    is_program: bool
    sections: dict[str, tuple[int, int]]  # address and size
    symbols: dict[str, int]  # of functions


def read_elf(path: Path) -> Binary:
    """Read a 64-bit ELF file."""
    return _read(path)[0]


def read_section(path: Path, name: str) -> bytes:
    """The content of a section of a 64-bit ELF file; nothing if it has no such section."""
    return _read(path)[1].get(name, b"")


def _read(path: Path) -> tuple[Binary, dict[str, bytes]]:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None
    if data[:6] != b"\x7fELF\x02\x01":
        is_source = path.suffix in (".c", ".cc", ".cpp", ".cxx")
        advice = f"; build it: aloex fuzz build --harness {path}" if is_source else ""
        raise InputError(f"{path} is no 64-bit program or shared library (ELF){advice}")
    try:
        return _parse(path, data)
    except (struct.error, ValueError, IndexError) as error:
        raise InputError(f"{path} is a damaged ELF file: {error}") from None


def _parse(path: Path, data: bytes) -> tuple[Binary, dict[str, bytes]]:
    header = struct.unpack_from("<16xHHIQQQIHHHHHH", data)
    segments_at, sections_at = header[4], header[5]
    segment_size, num_segments, section_size, num_sections, names_in = header[8:13]
    segments = [
        struct.unpack_from("<I", data, segments_at + i * segment_size)[0]
        for i in range(num_segments)
    ]
    # name, type, flags, address, offset, size, link, info, alignment, entry size
    raw = [
        struct.unpack_from("<IIQQQQIIQQ", data, sections_at + i * section_size)
        for i in range(num_sections)
    ]
    text = lambda table, at: data[
        raw[table][4] + at : data.index(b"\0", raw[table][4] + at)
    ].decode()
    symbols = {}
    for section in raw:
        if section[1] in (SYMTAB, DYNSYM):
            table = data[section[4] : section[4] + section[5]]
            for name, info, index, value, _ in struct.iter_unpack("<IBxHQQ", table):
                if info & 15 == FUNCTION and index:  # and defined here
                    symbols[text(section[6], name)] = value
    named = {text(names_in, section[0]): section for section in raw}
    binary = Binary(
        path,
        is_program=INTERP in segments,
        sections={name: (s[3], s[5]) for name, s in named.items()},
        symbols=symbols,
    )
    return binary, {name: data[s[4] : s[4] + s[5]] for name, s in named.items()}
