"""Programs as text: `SubStr(ConstPos(0), RegexTok(Digits, 1, End)) | ConstStr("@")`.

`parse` is the inverse of `show`; white space between words does not matter.
"""

import json
import re
from typing import NoReturn

from aloex.apps.programs.language.alphabet import REGEXES
from aloex.apps.programs.language.syntax import (
    MAX_K,
    ConstPos,
    ConstStr,
    ConstTok,
    Direct,
    Expr,
    Pos,
    Program,
    RegexTok,
    SubStr,
)
from aloex.base.errors import InputError

WORD = re.compile(r'\s*(?:("(?:[^"\\]|\\.)*")|([A-Za-z]+)|(-?[0-9]+)|([(),|])|(\S))')
SHOWN = 40  # characters of a bad program around the fault


def show(program: Program) -> str:
    """The program as text."""
    return " | ".join(map(_show, program))


def _show(part: Expr | Pos) -> str:
    match part:
        case ConstStr(char):
            return f"ConstStr({_quoted(char)})"
        case SubStr(p1, p2):
            return f"SubStr({_show(p1)}, {_show(p2)})"
        case ConstPos(k):
            return f"ConstPos({k})"
        case ConstTok(char, k, direct):
            return f"ConstTok({_quoted(char)}, {k}, {direct})"
        case RegexTok(regex, k, direct):
            return f"RegexTok({regex}, {k}, {direct})"


def _quoted(char: str) -> str:
    return json.dumps(char, ensure_ascii=not char.isprintable())


def parse(text: str) -> Program:
    """The program that `text` shows, or an `InputError` with the place of the fault."""
    parser = _Parser(text)
    program = [parser.expr()]
    while parser.word == "|":
        parser.next()
        program.append(parser.expr())
    if parser.word:
        parser.fail("expected | or the end")
    return tuple(program)


class _Parser:
    """A recursive descent over the words of a text; `word` is the next one, "" at the end."""

    def __init__(self, text: str):
        self.text, self.end = text, 0
        self.next()

    def next(self) -> str:
        """Step over the next word, which is returned."""
        seen = getattr(self, "word", "")
        found = WORD.match(self.text, self.end)
        self.word = found[0].lstrip() if found else ""
        self.end = found.end() if found else len(self.text)
        return seen

    def fail(self, message: str) -> NoReturn:
        start = self.end - len(self.word)
        got = f"got {self.word}" if self.word else "the program ends there"
        before = self.text[max(0, start - SHOWN) : start]
        marked = f"{before} >>>{self.text[start : start + SHOWN]}"
        raise InputError(f"bad program, character {start + 1}: {message}, {got}: {marked}")

    def expect(self, *words: str) -> str:
        if self.word not in words:
            self.fail("expected " + " or ".join(words))
        return self.next()

    def expr(self) -> Expr:
        kind = self.expect("ConstStr", "SubStr")
        self.expect("(")
        if kind == "ConstStr":
            made = ConstStr(self.char())
        else:
            p1 = self.pos()
            self.expect(",")
            made = SubStr(p1, self.pos())
        self.expect(")")
        return made

    def pos(self) -> Pos:
        kind = self.expect("ConstPos", "ConstTok", "RegexTok")
        self.expect("(")
        if kind == "ConstPos":
            made = ConstPos(self.number())
        elif kind == "ConstTok":
            made = ConstTok(self.char(), *self.count_and_end())
        else:
            made = RegexTok(self.expect(*REGEXES), *self.count_and_end())
        self.expect(")")
        return made

    def count_and_end(self) -> tuple[int, Direct]:
        self.expect(",")
        k = self.number()
        self.expect(",")
        return k, "Start" if self.expect("Start", "End") == "Start" else "End"

    def number(self) -> int:
        if not re.fullmatch("-?[0-9]+", self.word) or abs(int(self.word)) > MAX_K:
            self.fail(f"expected a number from {-MAX_K} to {MAX_K}")
        return int(self.next())

    def char(self) -> str:
        try:
            char = json.loads(self.word) if self.word.startswith('"') else ""
        except ValueError:
            char = ""
        if len(char) != 1:
            self.fail("expected a character in double quotes")
        self.next()
        return char
