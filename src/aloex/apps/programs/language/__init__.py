"""The language of string programs: trees, text, tokens, grammar mask, interpreter, plain words."""

from aloex.apps.programs.language.alphabet import CONSTANTS, REGEXES
from aloex.apps.programs.language.canonical import canonical
from aloex.apps.programs.language.run import Outputs, run
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
from aloex.apps.programs.language.text import parse, show
from aloex.apps.programs.language.tokens import VOCABULARY, detokenize, tokenize
from aloex.apps.programs.language.words import in_words

__all__ = [
    "CONSTANTS",
    "REGEXES",
    "VOCABULARY",
    "ConstPos",
    "ConstStr",
    "ConstTok",
    "Expr",
    "Outputs",
    "Pos",
    "Program",
    "RegexTok",
    "SubStr",
    "canonical",
    "detokenize",
    "in_words",
    "parse",
    "run",
    "show",
    "tokenize",
]
