"""Capitals and small letters: cases, and an expression in another case."""

from collections.abc import Sequence
from dataclasses import dataclass

from aloex.apps.fill.expressions.base import Expression, Row

CASES = {
    "lower": (str.lower, "in small letters"),
    "upper": (str.upper, "in capitals"),
    "title": (lambda text: title(text), "with every word capitalized"),
    "sentence": (lambda text: text[:1].upper() + text[1:].lower(), "with a capital first"),
    "first": (lambda text: text[:1].upper() + text[1:], "with its first letter a capital"),
    "headline": (lambda text: headline(text), "with every word but small ones capitalized"),
    "swap": (str.swapcase, "with capitals and small letters swapped"),
}


def title(text: str) -> str:
    """Every word with a capital first: O'Brien, but Tom's."""
    out, inside = [], False
    for i, char in enumerate(text):
        out.append(char.lower() if inside else char.upper())
        one_letter_follows = text[i + 1 : i + 2].isalpha() and not text[i + 2 : i + 3].isalpha()
        inside = char.isalnum() or (inside and char in "'’" and one_letter_follows)
    return "".join(out)


# fmt: off
SMALL_WORDS = {
    "a", "an", "and", "as", "at", "but", "by", "for", "from", "in", "nor", "of", "on", "or",
    "the", "to", "with",
}
# fmt: on


def headline(text: str) -> str:
    """Every word with a capital first, but for articles and the like behind the first word."""
    words = title(text).split(" ")
    return " ".join(
        word.lower() if i and word.lower() in SMALL_WORDS else word for i, word in enumerate(words)
    )


def in_case(form: str, text: str) -> str:
    """A text in a case; "" leaves it as it is."""
    return CASES[form][0](text) if form else text


@dataclass(frozen=True)
class Case(Expression):
    """Another expression in another case."""

    form: str
    part: Expression

    def run(self, row: Row) -> str | None:
        text = self.part.run(row)
        return None if text is None else CASES[self.form][0](text)

    def features(self) -> dict[str, float]:
        return {**self.part.features(), "case": 1.0, f"case_{self.form}": 1.0}

    def explain(self, columns: Sequence[str]) -> str:
        return f"{self.part.explain(columns)} {CASES[self.form][1]}"
