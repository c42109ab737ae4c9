"""Programs in plain words, for people who do not want to read programs."""

from itertools import groupby

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

NOUNS = {
    "Proper": "capitalised word",
    "Caps": "run of capitals",
    "Lower": "run of small letters",
    "Digits": "number",
    "Letters": "word",
    "Alnum": "word or number",
    "Space": "space",
    "Begin": "beginning",
    "Finish": "end",
}


def in_words(program: Program) -> str:
    """The program as a phrase; characters written one after the other become one text."""
    phrases = []
    for is_text, run in groupby(program, key=lambda expr: isinstance(expr, ConstStr)):
        exprs = list(run)
        if is_text:
            phrases.append(repr("".join(e.char for e in exprs if isinstance(e, ConstStr))))
        else:
            phrases += map(_piece, exprs)
    return ", then ".join(phrases)


def _piece(expr: Expr) -> str:
    assert isinstance(expr, SubStr)
    p1, p2 = expr.p1, expr.p2
    match p1, p2:
        case ConstPos(0), ConstPos(-1):
            return "all of the text"
        case ConstPos(0), ConstPos(k) if k > 0:
            return "the first character" if k == 1 else f"the first {k} characters"
        case ConstPos(k), ConstPos(-1) if k < -1:
            return "the last character" if k == -2 else f"the last {-k - 1} characters"
        case ConstPos(k), ConstPos(l) if k >= 0 and l == k + 1:
            return f"the {_ordinal(l)} character"
        case RegexTok(a, k, "Start"), RegexTok(b, l, "End") if (a, k) == (b, l):
            return f"the {_ordinal(k)} {NOUNS[a]}"
        case ConstTok(a, k, "Start"), ConstTok(b, l, "End") if (a, k) == (b, l):
            return f"the {_ordinal(k)} {a!r}"
        case ConstPos(0), _:
            return f"everything up to {_place(p2)}"
        case _, ConstPos(-1):
            return f"everything from {_place(p1)} on"
        case _:
            return f"the text between {_place(p1)} and {_place(p2)}"


def _place(pos: Pos) -> str:
    match pos:
        case ConstPos(0):
            return "the beginning"
        case ConstPos(-1):
            return "the end"
        case ConstPos(k) if k > 0:
            return f"the {_ordinal(k)} character's end"
        case ConstPos(k):
            return f"{-k - 1} character{'s' if k < -2 else ''} before the end"
        case ConstTok(char, k, direct):
            return f"the {direct.lower()} of the {_ordinal(k)} {char!r}"
        case RegexTok(regex, k, direct):
            return f"the {direct.lower()} of the {_ordinal(k)} {NOUNS[regex]}"


def _ordinal(k: int) -> str:
    """1st, 2nd, 3rd, 4th; last, 2nd last, ... for k < 0."""
    plain = {0: "0th", 1: "1st", 2: "2nd", 3: "3rd"}.get(abs(k), f"{abs(k)}th")
    return plain if k >= 0 else "last" if k == -1 else f"{plain} last"
