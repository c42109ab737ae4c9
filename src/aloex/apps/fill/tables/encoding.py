"""Which encoding a file of text has: told, read from its first bytes, or guessed.

A byte order mark decides. Without one a file is UTF-8 if all of its bytes are. Else
charset-normalizer looks at a sample, and the user is told what it found.
"""

import codecs
from io import BufferedIOBase
from typing import NamedTuple

from aloex.base.errors import InputError, require

try:
    from charset_normalizer import from_bytes  # pyright: ignore[reportMissingImports]
except ModuleNotFoundError:  # then the commonest is assumed
    from_bytes = None

BLOCK = 2**20  # bytes read at once
SAMPLE = 2**16  # bytes that a guess looks at
ENOUGH = 24  # bytes beyond ASCII that a guess needs; with fewer it is no better than `COMMONEST`
COMMONEST = "cp1252"
MARKS = (  # that of UTF-32 begins with that of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
FORMATS = (  # the first bytes of files that are taken for tables, and are none of text
    (
        b"PK\x03\x04",
        "a spreadsheet or another packed file",
        "save it as CSV",
    ),  # Excel, OpenDocument
    (b"\xd0\xcf\x11\xe0", "a spreadsheet in an old format", "save it as CSV"),
    (b"PAR1", "a Parquet file", "save it as CSV"),
    (b"%PDF", "a PDF file", "save its table as CSV"),
    (b"\x1f\x8b", "packed with gzip", "unpack it first: gunzip"),
    (b"BZh", "packed with bzip2", "unpack it first: bunzip2"),
    (b"\xfd7zXZ", "packed with xz", "unpack it first: unxz"),
    (b"\x28\xb5\x2f\xfd", "packed with zstd", "unpack it first: unzstd"),
)
LONGEST = 8  # bytes that tell a mark or a format
UNMARKED = {"utf-16": "utf-16-le", "utf-32": "utf-32-le", "utf-8-sig": "utf-8"}


class Encoding(NamedTuple):
    """How bytes are text."""

    name: str
    mark: bytes = b""  # the byte order mark, which is no part of the text
    guessed: bool = False

    def encode(self, text: str) -> bytes:
        """The bytes of a text; an `InputError` if a character has none."""
        try:
            return text.encode(self.name)
        except UnicodeEncodeError as error:
            char = text[error.start]
            raise InputError(
                f"the character {char!r} (U+{ord(char):04X}) cannot be written in {self.name}, the "
                "encoding of the table; save the table as UTF-8 first"
            ) from None


def find_encoding(file: BufferedIOBase, name: str, told: str | None = None) -> Encoding:
    """The encoding of a file that can be read twice; `told` is what the user says it is."""
    file.seek(0)
    start = file.read(LONGEST)
    mark, marked = next(((m, n) for m, n in MARKS if start.startswith(m)), (b"", None))
    if told is not None:
        known = _known(told)
        same = marked is not None and known in (marked, marked[:6], "utf-8-sig")
        return Encoding(marked, mark) if same and marked else Encoding(UNMARKED.get(known, known))
    if marked is not None:
        return Encoding(marked, mark)
    _check_format(start, name)
    _check_bytes(file, name)
    wrong = _first_wrong_byte(file)
    return Encoding("utf-8") if wrong is None else Encoding(_guess(file, wrong), guessed=True)


def _check_format(start: bytes, name: str) -> None:
    """An `InputError` if a file does not begin as one of text does."""
    for first, kind, advice in FORMATS:
        also = " (or read it with pandas, and use aloex.fill)" if "CSV" in advice else ""
        require(not start.startswith(first), f"{name} is {kind}, no table of text; {advice}{also}")


def _check_bytes(file: BufferedIOBase, name: str) -> None:
    """An `InputError` if there is a byte, anywhere, that no text has."""
    file.seek(0)
    before = 0
    while block := file.read(BLOCK):
        require(
            b"\0" not in block,
            f"{name} has NUL bytes, so it is no table of text (the first is byte "
            f"{before + block.find(0) + 1}); if it is UTF-16 without a byte order mark, give "
            "--encoding utf-16; if it is a table with a few bytes too many, remove them",
        )
        before += len(block)


def _known(told: str) -> str:
    try:
        name = codecs.lookup(told).name
        b"x".decode(name, "replace")  # some codecs are not for text
    except (LookupError, UnicodeError):
        raise InputError(
            f"there is no encoding {told!r}; some that there are: utf-8, utf-16, cp1252, latin-1, "
            "cp1250, cp1251, shift_jis, gb18030"
        ) from None
    return name


def _first_wrong_byte(file: BufferedIOBase) -> int | None:
    """Where the file is not UTF-8, counted from its start; None if it is."""
    decoder, end = codecs.getincrementaldecoder("utf-8")(), 0
    file.seek(0)
    while True:
        block = file.read(BLOCK)
        pending = len(decoder.getstate()[0])
        try:
            decoder.decode(block, final=not block)
        except UnicodeDecodeError as error:
            return end - pending + error.start
        if not block:
            return None
        end += len(block)


def _guess(file: BufferedIOBase, wrong: int) -> str:
    """From the bytes around the first one that is not UTF-8."""
    file.seek(max(wrong - 1000, 0))
    sample = file.read(SAMPLE)
    if from_bytes is not None and sum(byte > 127 for byte in sample) >= ENOUGH:
        found = from_bytes(sample).best()
        if found is not None and found.encoding not in ("ascii", "utf_8"):
            return codecs.lookup(found.encoding).name
    try:
        sample.decode(COMMONEST)
    except UnicodeDecodeError:
        return "iso8859-1"  # every byte is a character of it
    return COMMONEST
