r"""Dictionaries: tokens of a format, in the syntax that AFL and libFuzzer share.

    # a comment
    "IHDR"
    name="\x89PNG"
    name@2="a \"quoted\" \\ word"

A token is in double quotes. Within it \\ and \" stand for themselves and \xNN for a byte. A name,
and the level that AFL gives it after @, are for the reader.
"""

import re
from pathlib import Path

from aloex.base.errors import InputError, require

LINE = re.compile(rb'\s*(?:[\w.+\- ]+?(?:@\d+)?\s*=\s*)?"(.*)"\s*(?:#.*)?')
MAX_SHOWN = 60  # characters of a line in a message
PARTS = re.compile(rb'\\x([0-9a-fA-F]{2})|\\([\\"])|([^\\"])')


def read_dictionary(path: Path) -> list[bytes]:
    """The tokens of a dictionary, each once, in the order of the file."""
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise InputError(f"cannot read the dictionary {path}: {error.strerror}") from None
    found: dict[bytes, None] = {}
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.lstrip().startswith(b"#"):
            found[_token(line, f"{path}:{number}")] = None
    require(len(found) > 0, f'there is no token in the dictionary {path}; an example: name="abc"')
    return list(found)


def _token(line: bytes, where: str) -> bytes:
    """The token of one line."""
    shown = line.strip().decode(errors="backslashreplace")
    if len(shown) > MAX_SHOWN:  # it may be no text at all
        shown = f"{shown[:MAX_SHOWN]}..."
    outer = LINE.fullmatch(line)
    require(outer is not None, f'{where}: a line must be "token" or name="token", got {shown}')
    assert outer is not None
    text, token, at = outer[1], bytearray(), 0
    require(len(text) > 0, f"{where}: a token must have at least one byte, got {shown}")
    while at < len(text):
        part = PARTS.match(text, at)
        if part is None:
            raise InputError(
                f'{where}: within the quotes \\ must be one of \\\\ \\" \\xNN, and " must be '
                f'\\", got {shown}'
            )
        if part[3] is not None and not b" " <= part[3] <= b"~":
            raise InputError(f"{where}: write the byte \\x{part[3][0]:02x} so, got {shown}")
        token += bytes([int(part[1], 16)]) if part[1] else part[2] or part[3]
        at = part.end()
    return bytes(token)
