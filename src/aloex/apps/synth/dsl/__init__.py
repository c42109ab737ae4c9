"""The language of string programs: trees, text, tokens, grammar mask, interpreter, plain words."""

from aloex.apps.synth.dsl.canonical import canonical
from aloex.apps.synth.dsl.run import run
from aloex.apps.synth.dsl.syntax import (
    CONSTANTS,
    REGEXES,
    ConstPos,
    ConstStr,
    ConstTok,
    Expr,
    Pos,
    Program,
    RegexTok,
    SubStr,
)
from aloex.apps.synth.dsl.text import parse, show
from aloex.apps.synth.dsl.tokens import VOCABULARY, detokenize, tokenize
from aloex.apps.synth.dsl.words import in_words

__all__ = [
    "CONSTANTS",
    "REGEXES",
    "VOCABULARY",
    "ConstPos",
    "ConstStr",
    "ConstTok",
    "Expr",
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
