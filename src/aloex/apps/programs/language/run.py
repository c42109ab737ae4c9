"""What programs write, in two modes.

`paper` is what the authors' program does. A position is a gap of the input: ConstPos k is gap k, or
len + k + 1 for k < 0; RegPos takes the k-th of the matches found from the left without overlap, or
counts from the last for k < 0. There k = 0 and k = -(n + 1) give the last of n matches, as their
index wraps around; further out there is no position, and a SubStr without one is empty. Positions
in the wrong order are swapped, and positions below 0 count from the end, as Python's slices do.

`clean` is the same language without quirks and duplicates. A SubStr is what lies between its two
positions; where one is missing, or nothing lies between them, the program does not apply: None. A
ConstPos outside the input is its nearest end. Programs must be canonical (`canonical.py`).
"""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

from aloex.apps.programs.language.alphabet import REGEXES
from aloex.apps.programs.language.canonical import check
from aloex.apps.programs.language.syntax import ConstPos, ConstStr, Expr, Pos, Program, RegexTok
from aloex.base.errors import require

COMPILED = {name: re.compile(regex) for name, regex in REGEXES.items()}


def run(program: Program, text: str, mode: str = "clean") -> str | None:
    """What the program writes for `text`; None where a clean program does not apply."""
    require(mode in RUN, f"the modes are paper and clean, got {mode!r}")
    if mode == "clean":
        check(program)
    pieces = [RUN[mode](expr, text) for expr in program]
    return None if None in pieces else "".join(piece for piece in pieces if piece)


def _paper(expr: Expr, text: str) -> str:
    if isinstance(expr, ConstStr):
        return expr.char
    p1, p2 = _paper_pos(expr.p1, text), _paper_pos(expr.p2, text)
    if p1 is None or p2 is None:
        return ""
    return text[p1:p2] if p1 < p2 else text[p2:p1]


def _paper_pos(pos: Pos, text: str) -> int | None:
    if isinstance(pos, ConstPos):
        return pos.k if pos.k >= 0 else len(text) + pos.k + 1
    found = spans(pos, text)
    k = pos.k if pos.k >= 0 else len(found) + pos.k + 1
    if not 0 <= k <= len(found) or not found:
        return None
    return found[k - 1][pos.direct == "End"]  # k = 0 wraps around


def _clean(expr: Expr, text: str) -> str | None:
    if isinstance(expr, ConstStr):
        return expr.char
    return between(text, clean_pos(expr.p1, text), clean_pos(expr.p2, text))


def between(text: str, p1: int | None, p2: int | None) -> str | None:
    """What lies between two gaps, in any order; None for nothing, and where one is missing."""
    if p1 is None or p2 is None or p1 == p2:
        return None
    return text[p1:p2] if p1 < p2 else text[p2:p1]


def clean_pos(pos: Pos, text: str) -> int | None:
    """The gap of `text` that a position means, or None."""
    if isinstance(pos, ConstPos):
        return min(pos.k, len(text)) if pos.k >= 0 else max(len(text) + pos.k + 1, 0)
    found = spans(pos, text)
    if not 1 <= abs(pos.k) <= len(found):
        return None
    return found[pos.k - 1 if pos.k > 0 else pos.k][pos.direct == "End"]


class Outputs:
    """What programs write for some inputs; each position is looked up once for each input."""

    def __init__(self, inputs: Sequence[str]):
        self.inputs = inputs
        self.gaps: dict[Pos, list[int | None]] = {}
        self.pieces: dict[Expr, list[str | None]] = {}

    def __call__(self, program: Program) -> list[str | None]:
        columns = [self._piece(expr) for expr in program]
        return [None if None in row else "".join(row) for row in zip(*columns, strict=True)]

    def _piece(self, expr: Expr) -> list[str | None]:
        if expr not in self.pieces:
            if isinstance(expr, ConstStr):
                self.pieces[expr] = [expr.char] * len(self.inputs)
            else:
                ends = zip(self.inputs, self._gap(expr.p1), self._gap(expr.p2), strict=True)
                self.pieces[expr] = [between(text, a, b) for text, a, b in ends]
        return self.pieces[expr]

    def _gap(self, pos: Pos) -> list[int | None]:
        if pos not in self.gaps:
            self.gaps[pos] = [clean_pos(pos, text) for text in self.inputs]
        return self.gaps[pos]


def spans(pos: Pos, text: str) -> tuple[tuple[int, int], ...]:
    """Starts and ends of the matches of a position's character or regex."""
    if isinstance(pos, RegexTok):
        return matches(pos.regex, text)
    assert not isinstance(pos, ConstPos)
    return occurrences(pos.char, text)


@lru_cache(maxsize=1 << 16)
def matches(regex: str, text: str) -> tuple[tuple[int, int], ...]:
    """Spans of the matches of a regex, by its name."""
    return tuple(match.span() for match in COMPILED[regex].finditer(text))


def occurrences(char: str, text: str) -> tuple[tuple[int, int], ...]:
    """Spans of a character."""
    return tuple((i, i + 1) for i, other in enumerate(text) if other == char)


RUN: dict[str, Callable[[Expr, str], str | None]] = {"paper": _paper, "clean": _clean}
