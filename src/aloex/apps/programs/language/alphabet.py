"""The alphabet of the language: constants and regexes, as characters and as numbers for tables.

The paper has 11 characters for ConstStr and ConstTok, `CONSTANTS`, and 9 regexes. A pattern is one
of these 20: first the constants, then the regexes, in this order everywhere. Tasks are written in
these constants, ASCII letters, digits and spaces.
"""

from string import ascii_lowercase, ascii_uppercase, digits

import numpy as np

CONSTANTS = tuple("],-.@'\"():%")
REGEXES = {
    "Proper": "[A-Z]([a-z])+",
    "Caps": "[A-Z]+",
    "Lower": "[a-z]+",
    "Digits": r"\d+",
    "Letters": "[a-zA-Z]+",
    "Alnum": "[a-zA-Z0-9]+",
    "Space": r"\s+",
    "Begin": "^",
    "Finish": "$",
}
NUM_CHARS, NUM_REGEXES = len(CONSTANTS), len(REGEXES)
NUM_PATTERNS = NUM_CHARS + NUM_REGEXES
NUM_ASCII = 128
CHAR_CODES = np.frombuffer("".join(CONSTANTS).encode(), np.uint8)

# What a random word of a regex is made of; of Proper this holds after its first letter.
WORD_CHARS = {
    "Proper": ascii_lowercase,
    "Caps": ascii_uppercase,
    "Lower": ascii_lowercase,
    "Digits": digits,
    "Letters": ascii_uppercase + ascii_lowercase,
    "Alnum": ascii_uppercase + ascii_lowercase + digits,
    "Space": " ",
}


def char_table(classes: dict[str, int], default: int = 0) -> np.ndarray:
    """A number for each ASCII character, from the number of the class that it belongs to."""
    table = np.full(NUM_ASCII, default, np.int64)
    for chars, number in classes.items():
        table[[ord(char) for char in chars]] = number
    return table
