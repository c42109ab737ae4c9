"""Tokens from a binary: what a program compares its input with often stands among its strings."""

import re
from pathlib import Path

from aloex.apps.fuzz.target.elf import read_section

MIN_SIZE, MAX_SIZE = 3, 31  # bytes of a token
MAX_STRINGS = 400
STRING = re.compile(rb"(?:^|(?<=\0))[ -~]+(?=\0)")
WORD = re.compile(rb"[\w.:/=<>!?+-]+")


def strings_of(binary: Path) -> list[bytes]:
    """The strings of a binary that may be tokens of its format, the likeliest first.

    Words come first, then what may be numbers of a table by chance, then messages: text with spaces
    and patterns of printf. Of a kind, short strings come first.
    """
    found = dict.fromkeys(STRING.findall(read_section(binary, ".rodata")))
    tokens = [string for string in found if MIN_SIZE <= len(string) <= MAX_SIZE]
    return sorted(tokens, key=lambda token: (_kind(token), len(token)))[:MAX_STRINGS]


def _kind(token: bytes) -> int:
    if b"%" in token or b" " in token:
        return 2
    return 0 if WORD.fullmatch(token) else 1
