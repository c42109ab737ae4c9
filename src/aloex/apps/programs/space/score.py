"""Scores of programs: sums over their parts, higher is better.

Scores are log weights: programs are sampled in proportion to exp(score). Any object with these
methods will do, such as a learned one.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

import numpy as np

from aloex.apps.programs.language.alphabet import CONSTANTS, NUM_CHARS, REGEXES
from aloex.apps.programs.language.run import matches
from aloex.apps.programs.language.syntax import (
    MAX_K,
    ConstPos,
    ConstStr,
    Pos,
    Program,
    RegexTok,
    SubStr,
)
from aloex.apps.programs.space.version_space import Pairs


@runtime_checkable
class Score(Protocol):
    """An additive score of programs."""

    @property
    def substring(self) -> float:
        """Of each SubStr, beside its positions, as far as it does not depend on the examples."""
        ...

    @property
    def whole(self) -> float:
        """More for a SubStr that is one match, from its start to its end; not negative."""
        ...

    def pairs(self, pairs: Pairs) -> np.ndarray:
        """Of the SubStr of each pair of classes, beside its positions."""
        ...

    def constant(self, char: str) -> float:
        """Of a ConstStr."""
        ...

    def position(self, pos: Pos) -> float:
        """Of a position."""
        ...


@dataclass(frozen=True)
class Flat:
    """The same for all programs: samples are uniform."""

    substring: float = 0.0
    whole: float = 0.0

    def pairs(self, pairs: Pairs) -> np.ndarray:
        return np.full(len(pairs.first), self.substring)

    def constant(self, char: str) -> float:
        return 0.0

    def position(self, pos: Pos) -> float:
        return 0.0


@dataclass(frozen=True)
class Simple:
    """Few expressions, small counts; the defaults did best on the validation tasks."""

    substring: float = -4.0
    crossed: float = -1.0
    whole: float = 0.0
    const_str: float = -4.0
    letter: float = -16.0  # a constant letter or digit, which most often comes from the input
    const_pos: float = -1.5
    inner: float = 0.0  # more for a ConstPos that is neither the beginning nor the end
    regex: float = -3.0
    const_tok: float = -2.5
    per_count: float = -0.3  # for each match or character that is counted over
    from_end: float = 0.0

    def pairs(self, pairs: Pairs) -> np.ndarray:
        return self.substring + self.crossed * pairs.crossed

    def constant(self, char: str) -> float:
        return self.letter if char.isalnum() else self.const_str

    def position(self, pos: Pos) -> float:
        if isinstance(pos, ConstPos):
            steps = pos.k if pos.k >= 0 else -pos.k - 1
            kind = self.const_pos + self.inner * (steps > 0)
        else:
            steps = abs(pos.k) - 1
            kind = self.regex if isinstance(pos, RegexTok) else self.const_tok
        return kind + self.per_count * steps + self.from_end * (pos.k < 0)


# Nothing but the number of expressions counts.
FEWEST = Simple(
    substring=-20.0,
    crossed=0.0,
    const_str=-20.0,
    letter=-20.0,
    const_pos=0.0,
    regex=0.0,
    const_tok=0.0,
    per_count=0.0,
)

# People take words and numbers from their tables, seldom what lies so many characters in.
TABLES = Simple(const_pos=-2.5, inner=-1.0, const_tok=-3.0, from_end=-0.2, whole=4.0)


class Prior:
    """The log probability that the task generator draws a program, given its inputs.

    A position is a ConstPos, ConstTok or RegexTok with probability 1/2, 1/4, 1/4, and uniform among
    those that all inputs have. k = 0 adds to k = -1, and ^ and $ to the two ends.
    """

    substring: float = 0.0  # a half for the kind of expression, twice for either order
    whole: float = 0.0

    def __init__(self, inputs: Sequence[str]):
        ways = lambda counts: 2 * sum(2 * min(MAX_K, n) + 1 for n in counts if n)
        chars = ways(min(text.count(char) for text in inputs) for char in CONSTANTS)
        found = ways(min(len(matches(name, text)) for text in inputs) for name in REGEXES)
        self.const_tok, self.regex = -math.log(4 * max(chars, 1)), -math.log(4 * found)
        self.const_pos, self.const_str = -math.log(2 * (2 * MAX_K + 1)), -math.log(2 * NUM_CHARS)
        self.end = math.log(math.exp(self.const_pos) + 6 * math.exp(self.regex))

    def pairs(self, pairs: Pairs) -> np.ndarray:
        return np.full(len(pairs.first), self.substring)

    def constant(self, char: str) -> float:
        return self.const_str

    def position(self, pos: Pos) -> float:
        if isinstance(pos, ConstPos):
            return self.end if pos.k in (0, -1) else self.const_pos
        kind = self.regex if isinstance(pos, RegexTok) else self.const_tok
        return kind + math.log(2) * (pos.k == -1)


def of_program(score: Score, program: Program) -> float:
    """The score of a program, apart from what only examples can tell, such as `crossed`."""
    total = 0.0
    for expr in program:
        if isinstance(expr, ConstStr):
            total += score.constant(expr.char)
        else:
            total += score.substring + score.position(expr.p1) + score.position(expr.p2)
            total += score.whole * is_whole(expr)
    return total


def is_whole(expr: SubStr) -> bool:
    """Whether it is the k-th match of something, from its start to its end."""
    p1, p2 = expr.p1, expr.p2
    if isinstance(p1, ConstPos) or p1.direct == "End":
        return False
    return replace(p1, direct="End") == p2
