"""Numbers for positions and expressions, so that arrays can hold programs.

There are 369 positions: 9 ConstPos, then 20 patterns (11 constants, 9 regexes) times 9 counts times
2 ends. An expression is a number, too: 0 for none, 1 to 11 for a ConstStr, 12 + 369 p1 + p2 for a
SubStr. A program is a row of 10 of them, padded with 0. `EXPR_TOKENS` and `EXPR_LENGTH` give the
tokens of each, `CANON` and `RANK` say how positions are written and ordered in canonical form.

The automaton of `language.mask` has one more state here, `FULL`: after the last expression that has
room, where only eos may follow. So programs of up to that many expressions are the whole
language, and the probabilities of a q0 add up to 1.
"""

import numpy as np
from jaxtyping import Integer

from aloex.apps.programs.language import (
    CONSTANTS,
    REGEXES,
    ConstPos,
    ConstStr,
    ConstTok,
    Pos,
    Program,
    RegexTok,
)
from aloex.apps.programs.language.alphabet import NUM_CHARS, NUM_PATTERNS
from aloex.apps.programs.language.canonical import canonical, order
from aloex.apps.programs.language.mask import ALLOWED, NEXT, STATES
from aloex.apps.programs.language.syntax import MAX_K, SubStr
from aloex.apps.programs.language.tokens import EOS, INDEX, MAX_EXPR_TOKENS, tokenize

NUM_KS = 2 * MAX_K + 1
NUM_POS = NUM_KS + 2 * NUM_KS * NUM_PATTERNS
FIRST_SUBSTR = 1 + NUM_CHARS
NUM_EXPRS = FIRST_SUBSTR + NUM_POS**2


def positions() -> list[Pos]:
    """All of them, by number."""
    ks = range(-MAX_K, MAX_K + 1)
    found: list[Pos] = [ConstPos(k) for k in ks]
    found += [ConstTok(char, k, end) for char in CONSTANTS for k in ks for end in ("Start", "End")]
    found += [RegexTok(name, k, end) for name in REGEXES for k in ks for end in ("Start", "End")]
    return found


def program_of(codes: Integer[np.ndarray, " expressions"]) -> Program:
    """The program that numbers stand for."""
    one = lambda code: (
        ConstStr(CONSTANTS[code - 1])
        if code < FIRST_SUBSTR
        else SubStr(*(POSITIONS[i] for i in divmod(code - FIRST_SUBSTR, NUM_POS)))
    )
    return tuple(one(code) for code in codes.tolist() if code > 0)


def _canon() -> np.ndarray:
    number = {pos: i for i, pos in enumerate(POSITIONS)}
    # Beside itself a position keeps its place, whatever the order of the two.
    canon = [canonical((SubStr(pos, pos),))[0] for pos in POSITIONS]
    return np.array([number[expr.p1] for expr in canon if isinstance(expr, SubStr)], np.int32)


def _expr_tokens() -> tuple[np.ndarray, np.ndarray]:
    """The tokens of every expression, padded, and how many they are."""
    words = [tokenize((SubStr(pos, pos),))[1:-1] for pos in POSITIONS]
    size = np.array([len(both) // 2 for both in words])
    text = np.zeros((NUM_POS, MAX_EXPR_TOKENS // 2), np.int8)
    for row, both in zip(text, words, strict=True):
        row[: len(both) // 2] = both[: len(both) // 2]
    p1, p2 = (a.ravel() for a in np.indices((NUM_POS, NUM_POS)))
    tokens = np.zeros((NUM_EXPRS, MAX_EXPR_TOKENS), np.int8)
    tokens[1:FIRST_SUBSTR, 0] = INDEX["ConstStr"]
    tokens[1:FIRST_SUBSTR, 1] = INDEX["1"] + np.arange(NUM_CHARS)
    pairs = tokens[FIRST_SUBSTR:]
    pairs[:, 0], pairs[:, 1:6] = INDEX["SubStr"], text[p1]
    rows = np.arange(len(pairs))
    for i in range(text.shape[1]):
        there = i < size[p2]
        pairs[rows[there], (1 + size[p1] + i)[there]] = text[p2, i][there]
    return tokens, (tokens > 0).sum(axis=1).astype(np.int8)


POSITIONS = positions()
CANON = _canon()
RANK = np.empty(NUM_POS, np.int32)
RANK[sorted(range(NUM_POS), key=lambda i: order(POSITIONS[i]))] = np.arange(NUM_POS)
EXPR_TOKENS, EXPR_LENGTH = _expr_tokens()

AFTER, FULL = STATES.index("after"), len(STATES)


def _with_full(table: np.ndarray) -> np.ndarray:
    """A table by states, with a row more for FULL."""
    row = np.where(np.arange(table.shape[1]) == EOS, table[AFTER], 0)
    return np.concatenate([table, row[None]])


FOLLOWING = _with_full(NEXT)
MASKS = {mode: _with_full(table.astype(np.float32)) for mode, table in ALLOWED.items()}
