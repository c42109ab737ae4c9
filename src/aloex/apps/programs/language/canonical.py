"""The canonical form of programs: one of the many ways to write the same thing.

A canonical program has no k = 0, no ^ and no $ as regexes (ConstPos says the same), and the two
positions of a SubStr stand in a fixed order, since it copies what lies between them either way.
"""

from collections.abc import Iterator

from aloex.apps.programs.language.alphabet import CONSTANTS, REGEXES
from aloex.apps.programs.language.syntax import (
    ConstPos,
    ConstStr,
    ConstTok,
    Expr,
    Pos,
    Program,
    RegexTok,
    SubStr,
)
from aloex.base.errors import require

ANCHORS = {"Begin": ConstPos(0), "Finish": ConstPos(-1)}
RANK = {name: rank for rank, name in enumerate((*REGEXES, *CONSTANTS))}


def order(pos: Pos) -> tuple[int, ...]:
    """Sorts positions roughly from left to right: from the start, by count, from the end."""
    if isinstance(pos, ConstPos):
        return (0 if pos.k >= 0 else 3, pos.k)
    what = pos.regex if isinstance(pos, RegexTok) else pos.char
    rank = RANK.get(what, len(RANK) + ord(what[0]))
    return (1 if pos.k > 0 else 2, pos.k, rank, pos.direct != "Start")


def canonical(program: Program) -> Program:
    """The same program in canonical form.

    On inputs of 3 characters or more it writes what the program writes in paper mode, or does not
    apply: where that is empty, or comes from k = -(n + 1) wrapping around.
    """
    return tuple(map(_canonical, program))


def _canonical(expr: Expr) -> Expr:
    if isinstance(expr, ConstStr):
        return expr
    p1, p2 = sorted((_canonical_pos(expr.p1), _canonical_pos(expr.p2)), key=order)
    return SubStr(p1, p2)


def _canonical_pos(pos: Pos) -> Pos:
    if isinstance(pos, RegexTok) and pos.regex in ANCHORS and -2 <= pos.k <= 1:
        return ANCHORS[pos.regex]  # with k = 0 and -2 by wrapping around
    if isinstance(pos, RegexTok) and pos.k == 0:
        return RegexTok(pos.regex, -1, pos.direct)
    if isinstance(pos, ConstTok) and pos.k == 0:
        return ConstTok(pos.char, -1, pos.direct)
    return pos


def faults(program: Program) -> Iterator[tuple[int, str]]:
    """The expressions that are not canonical: (number from 1, why)."""
    for number, expr in enumerate(program, 1):
        if isinstance(expr, ConstStr):
            continue
        for pos in (expr.p1, expr.p2):
            if isinstance(pos, RegexTok) and pos.regex in ANCHORS:
                yield number, f"{pos.regex} is ConstPos({ANCHORS[pos.regex].k}) there"
            elif not isinstance(pos, ConstPos) and pos.k == 0:
                yield number, "k = 0 counts no match"
        if order(expr.p1) > order(expr.p2):
            yield number, "its positions are in the other order there"


def check(program: Program) -> None:
    """Raise `InputError` for a program that is not canonical."""
    for number, why in faults(program):
        require(False, f"expression {number} is not in clean form: {why}; see canonical(program)")
