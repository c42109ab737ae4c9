"""The language of string programs: trees, text, tokens, grammar mask, interpreter, plain words."""

from aloex.apps.fill.language.alphabet import CONSTANTS, REGEXES
from aloex.apps.fill.language.canonical import canonical
from aloex.apps.fill.language.run import Outputs, run
from aloex.apps.fill.language.syntax import (
    ConstPos,
    ConstStr,
    ConstTok,
    Expr,
    Pos,
    Program,
    RegexTok,
    SubStr,
)
from aloex.apps.fill.language.text import parse, show
from aloex.apps.fill.language.tokens import VOCABULARY, detokenize, tokenize
from aloex.apps.fill.language.words import in_words

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
