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
# Emoji and their like, with the selectors and joiners between them.
_PICTURES = re.compile("[\u200d\u2190-\u2bff\ufe0f\U0001f000-\U0001faff]+")


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
    return re.sub(r"\s+", " ", _PICTURES.sub("☺", text))


_NUMBERS = re.compile(r"0(?:[.,:/-]0)+")
_WORDS = re.compile(r"[Aa]+(?:[ '’.-]+[Aa]+)*")


def loose_shape(text: str) -> str:
    """The shape of a text in which names of several words are one, and so are 1,200.50 or 9:30."""
    return _WORDS.sub("a", _NUMBERS.sub("0", shape(text)))


def case_of(run: str) -> str:
    """The case of a run of letters: a, A or Aa."""
    if run.islower():
        return "a"
    return "A" if run.isupper() else "Aa"


def kind_of(char: str) -> str:
    """The kind of a character: a for letters, 0 for digits, ☺ for pictures; a mark is its own."""
    if char.isalpha():
        return "a"
    if char.isascii():
        return "0" if char.isdigit() else " " if char.isspace() else char
    return "0" if char.isdigit() else " " if char.isspace() else _PICTURES.sub("☺", char)
