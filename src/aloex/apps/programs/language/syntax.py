"""Programs as typed trees: the grammar of the paper's appendix (`app:exp_robustfill`).

    program := expr | expr program              what the expressions write, one after the other
    expr    := ConstStr char | SubStr pos pos
    pos     := ConstPos k | ConstTok char k direct | RegexTok regex k direct

The tree takes any character for ConstStr and ConstTok, so that tables of any kind can be filled;
the tokens of the models know only the paper's, `alphabet.CONSTANTS`.
"""

from dataclasses import dataclass
from typing import Literal

from aloex.apps.programs.language.alphabet import REGEXES
from aloex.base.errors import require

MAX_K = 4
MAX_EXPRESSIONS = 10  # of the paper's tasks; the language itself has no bound

Direct = Literal["Start", "End"]


@dataclass(frozen=True, slots=True)
class ConstPos:
    """The gap after k characters; for k < 0, -k - 1 characters before the end."""

    k: int

    def __post_init__(self):
        _check_k(self.k)


@dataclass(frozen=True, slots=True)
class ConstTok:
    """Where the k-th `char` starts or ends; for k < 0 counted from the last."""

    char: str
    k: int
    direct: Direct

    def __post_init__(self):
        _check_char(self.char)
        _check_k(self.k)
        _check_direct(self.direct)


@dataclass(frozen=True, slots=True)
class RegexTok:
    """Where the k-th match of a regex starts or ends; `regex` is a name in `REGEXES`."""

    regex: str
    k: int
    direct: Direct

    def __post_init__(self):
        names = ", ".join(REGEXES)
        require(self.regex in REGEXES, f"there is no regex {self.regex!r}; known: {names}")
        _check_k(self.k)
        _check_direct(self.direct)


@dataclass(frozen=True, slots=True)
class ConstStr:
    """Write one character."""

    char: str

    def __post_init__(self):
        _check_char(self.char)


Pos = ConstPos | ConstTok | RegexTok


@dataclass(frozen=True, slots=True)
class SubStr:
    """Copy what lies between two positions of the input."""

    p1: Pos
    p2: Pos


Expr = ConstStr | SubStr
Program = tuple[Expr, ...]


def _check_k(k: int) -> None:
    require(-MAX_K <= k <= MAX_K, f"k must be from {-MAX_K} to {MAX_K}, got {k}")


def _check_char(char: str) -> None:
    require(len(char) == 1, f"a constant is one character, got {char!r}")


def _check_direct(direct: str) -> None:
    require(direct in ("Start", "End"), f"a match has a Start and an End, got {direct!r}")
