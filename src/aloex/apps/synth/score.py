"""A hand-made score of programs: the sum over their parts, higher is better.

Scores are log weights: programs are sampled in proportion to exp(score). Any object with these
methods will do, such as a learned one.
"""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from aloex.apps.synth.dsl.syntax import (
    CONSTANTS,
    ConstPos,
    ConstStr,
    Pos,
    Program,
    RegexTok,
    SubStr,
)


@runtime_checkable
class Score(Protocol):
    """An additive score of programs."""

    @property
    def substring(self) -> float:
        """Of each SubStr, beside its positions."""
        ...

    @property
    def crossed(self) -> float:
        """Of a SubStr whose positions change their order between the examples."""
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
    crossed: float = 0.0

    def constant(self, char: str) -> float:
        return 0.0

    def position(self, pos: Pos) -> float:
        return 0.0


@dataclass(frozen=True)
class Simple:
    """Few expressions, small counts; the values are those that did best on the validation tasks."""

    substring: float = -4.0
    crossed: float = -1.0
    const_str: float = -4.0
    other_char: float = -8.0  # a constant that is none of the paper's
    const_pos: float = -2.5
    regex: float = -3.0
    const_tok: float = -3.0
    per_count: float = -0.3  # for each match that is counted over
    from_end: float = -0.2

    def constant(self, char: str) -> float:
        return self.const_str if char in CONSTANTS else self.other_char

    def position(self, pos: Pos) -> float:
        if isinstance(pos, ConstPos):
            steps, kind = (pos.k if pos.k >= 0 else -pos.k - 1), self.const_pos
        else:
            steps = abs(pos.k) - 1
            kind = self.regex if isinstance(pos, RegexTok) else self.const_tok
        return kind + self.per_count * steps + self.from_end * (pos.k < 0)


def of_program(score: Score, program: Program) -> float:
    """The score of a program, apart from `crossed`, which only examples can tell."""
    total = 0.0
    for expr in program:
        if isinstance(expr, ConstStr):
            total += score.constant(expr.char)
        elif isinstance(expr, SubStr):
            total += score.substring + score.position(expr.p1) + score.position(expr.p2)
    return total
