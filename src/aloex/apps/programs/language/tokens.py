"""Programs as tokens, for models: 27 of them, as in the paper.

Integers stand for positions, counts and the numbers of constants and regexes (from 1) alike. An
expression takes 2 to 11 tokens; `|` stands between two of them, `eos` at the end.
"""

from collections.abc import Iterable, Sequence

from aloex.apps.programs.language.alphabet import CONSTANTS, NUM_CHARS, REGEXES
from aloex.apps.programs.language.syntax import (
    MAX_K,
    ConstPos,
    ConstStr,
    ConstTok,
    Expr,
    Pos,
    Program,
    RegexTok,
    SubStr,
)
from aloex.base.errors import InputError, require

INTEGERS = tuple(range(-MAX_K, NUM_CHARS + 1))
WORDS = ("ConstStr", "SubStr", "ConstPos", "RegPos", "ConstTok", "RegexTok", "Start", "End")
VOCABULARY = ("pad", "eos", "|", *map(str, INTEGERS), *WORDS)
INDEX = {word: token for token, word in enumerate(VOCABULARY)}
PAD, EOS, BAR = 0, 1, 2
ZERO = INDEX["0"]  # integer n is token ZERO + n
T_CONSTSTR, T_SUBSTR, T_CONSTPOS = INDEX["ConstStr"], INDEX["SubStr"], INDEX["ConstPos"]
T_REGPOS, T_CONSTTOK, T_REGEXTOK = INDEX["RegPos"], INDEX["ConstTok"], INDEX["RegexTok"]
T_START = INDEX["Start"]  # End is the next one
MAX_EXPR_TOKENS = 11
NAMES = tuple(REGEXES)
KS = [str(k) for k in range(-MAX_K, MAX_K + 1)]
CHARS = [str(i + 1) for i in range(NUM_CHARS)]
REGEX_IDS = [str(i + 1) for i in range(len(NAMES))]


def tokenize(program: Program) -> list[int]:
    """The tokens, with eos. A constant outside the paper's vocabulary is an `InputError`."""
    words: list[str] = []
    for expr in program:
        words += [*_words(expr), "|"]
    words[-1:] = ["eos"]
    return [INDEX[word] for word in words]


def _words(part: Expr | Pos) -> list[str]:
    match part:
        case ConstStr(char):
            return ["ConstStr", _number(char)]
        case SubStr(p1, p2):
            return ["SubStr", *_words(p1), *_words(p2)]
        case ConstPos(k):
            return ["ConstPos", str(k)]
        case ConstTok(char, k, direct):
            return ["RegPos", "ConstTok", _number(char), str(k), direct]
        case RegexTok(regex, k, direct):
            return ["RegPos", "RegexTok", str(NAMES.index(regex) + 1), str(k), direct]


def _number(char: str) -> str:
    known = "".join(CONSTANTS)
    require(char in CONSTANTS, f"{char!r} has no token; the models know {known} as constants")
    return str(CONSTANTS.index(char) + 1)


def detokenize(tokens: Iterable[int]) -> Program:
    """The inverse of `tokenize`; what follows eos is left out. Says which token is wrong."""
    words = [VOCABULARY[int(token)] for token in tokens]
    if "eos" not in words:
        raise InputError(f"the program of {len(words)} tokens has no eos")
    at, program = 0, []
    while True:
        expr, at = _expr(words, at)
        program.append(expr)
        if words[at] == "eos":
            return tuple(program)
        _expect(words, at, ("|", "eos"))
        at += 1


def _expr(words: Sequence[str], at: int) -> tuple[Expr, int]:
    _expect(words, at, ("ConstStr", "SubStr"))
    if words[at] == "ConstStr":
        return ConstStr(CONSTANTS[_one_of(words, at + 1, CHARS)]), at + 2
    p1, at = _pos(words, at + 1)
    p2, at = _pos(words, at)
    return SubStr(p1, p2), at


def _pos(words: Sequence[str], at: int) -> tuple[Pos, int]:
    _expect(words, at, ("ConstPos", "RegPos"))
    if words[at] == "ConstPos":
        return ConstPos(_k(words, at + 1)), at + 2
    _expect(words, at + 1, ("ConstTok", "RegexTok"))
    is_const = words[at + 1] == "ConstTok"
    number = _one_of(words, at + 2, CHARS if is_const else REGEX_IDS)
    k = _k(words, at + 3)
    _expect(words, at + 4, ("Start", "End"))
    direct = "Start" if words[at + 4] == "Start" else "End"
    if is_const:
        return ConstTok(CONSTANTS[number], k, direct), at + 5
    return RegexTok(NAMES[number], k, direct), at + 5


def _k(words: Sequence[str], at: int) -> int:
    _expect(words, at, KS)
    return int(words[at])


def _one_of(words: Sequence[str], at: int, ids: Sequence[str]) -> int:
    _expect(words, at, ids)
    return ids.index(words[at])


def _expect(words: Sequence[str], at: int, allowed: Sequence[str]) -> None:
    listed = " or ".join(allowed) if len(allowed) < 4 else f"{allowed[0]} to {allowed[-1]}"
    if words[at] not in allowed:
        raise InputError(f"bad program, token {at + 1}: expected {listed}, got {words[at]}")
