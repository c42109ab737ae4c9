"""What a text looks like: kinds of characters, not the characters themselves."""

import re
import string
from functools import lru_cache

MAX_SHAPED = 5_000  # characters of a text that its shape tells of
MAX_MASK = 200  # characters of a text whose shape is remembered
KINDS = bytes.maketrans(
    (string.ascii_uppercase + string.ascii_lowercase + string.digits).encode(),
    b"A" * 26 + b"a" * 26 + b"0" * 10,
)


def shape(text: str) -> str:
    """Kinds of characters one after the other, runs as one: "A. Turing" -> "A. Aa"."""
    if not text.isascii() or len(text) > MAX_MASK:
        return _shape(text[:MAX_SHAPED])
    return _shape_of_mask(text.encode().translate(KINDS))


@lru_cache(maxsize=1 << 14)
def _shape_of_mask(mask: bytes) -> str:
    """Many texts have the same mask, all of whose letters are A or a and digits 0."""
    return _shape(mask.decode())


def _shape(text: str) -> str:
    text = re.sub(r"\d+", "0", text)
    text = re.sub(r"[^\W\d_]+", lambda m: case_of(m.group()), text)
    return re.sub(r"\s+", " ", text)


def case_of(run: str) -> str:
    """The case of a run of letters: a, A or Aa."""
    if run.islower():
        return "a"
    return "A" if run.isupper() else "Aa"


def kind_of(char: str) -> str:
    """The kind of a character: a for letters, 0 for digits; a mark is its own kind."""
    if char.isalpha():
        return "a"
    return "0" if char.isdigit() else " " if char.isspace() else char
