"""Kinds of text that expressions look for: words, numbers, marks, of any script.

A pattern is a name from `PATTERNS`, or "=" and a text that is meant literally ("=, "). Letters
include the marks that combine with them, so that words of Indic scripts are whole.
"""

import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import cache
from typing import TypeVar

Item = TypeVar("Item")


LAST = 0x1FFFF  # no character behind it has a case or combines, but for selectors of variants


def _char_class(belongs: Callable[[str], bool]) -> str:
    """A set of all characters with a property, as ranges, without its brackets."""
    ranges: list[list[int]] = []
    for code in range(LAST + 1):
        if belongs(chr(code)):
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    escaped = lambda code: re.escape(chr(code))
    return "".join(escaped(a) if a == b else f"{escaped(a)}-{escaped(b)}" for a, b in ranges)


@cache
def _upper() -> str:
    return _char_class(lambda char: char.isupper() or unicodedata.category(char) == "Lt")


@cache
def _lower() -> str:
    return _char_class(str.islower)


@cache
def _marks() -> str:
    return _char_class(lambda char: unicodedata.category(char) in ("Mn", "Mc"))


def _letters() -> str:
    # Possessive, as nothing else can match a letter: a run that fails is not cut up in all ways.
    return rf"(?:[^\W\d_]++|[{_marks()}]++)++"


# Name -> (a function that makes the regular expression, one match in words, several in words).
PATTERNS: dict[str, tuple[Callable[[], str], str, str]] = {
    "word": (_letters, "word", "words"),
    "name": (lambda: rf"{_letters()}(?:['’.-]{_letters()})*", "name", "names"),
    "number": (lambda: r"\d+", "number", "numbers"),
    "decimal": (lambda: r"\d+(?:[.,]\d+)*", "decimal number", "decimal numbers"),
    "alnum": (lambda: rf"(?:[^\W_]++|[{_marks()}]++)++", "word or number", "words and numbers"),
    "capitalized": (
        lambda: rf"[{_upper()}](?:[{_lower()}]|[{_marks()}])+",
        "capitalized word",
        "capitalized words",
    ),
    "upper": (lambda: f"[{_upper()}]+", "run of capitals", "runs of capitals"),
    "lower": (lambda: f"[{_lower()}]+", "run of small letters", "runs of small letters"),
    "nonspace": (lambda: r"\S+", "part without spaces", "parts without spaces"),
    "space": (lambda: r"\s+", "space", "spaces"),
    "mark": (lambda: r"[^\w\s]", "mark", "marks"),
    "nonalnum": (lambda: r"[\W_]+", "gap between words", "gaps between words"),
    "code": (
        lambda: r"[^\W_]+(?:[-_./:+][^\W_]+)*",
        "code",
        "codes",
    ),
    "signed": (lambda: r"[-+−]?\d+(?:[.,]\d+)*", "signed number", "signed numbers"),
    "email": (
        lambda: r"[^\s@<>()\[\],;:\"]+@[^\s@<>()\[\],;:\"]*[^\W_]",
        "e-mail address",
        "e-mail addresses",
    ),
    "url": (
        lambda: r"(?:https?://|www\.)[^\s<>\"')\]]*[^\s<>\"')\].,;:!?]",
        "web address",
        "web addresses",
    ),
    "tag": (lambda: r"[#@]\w+", "word with # or @", "words with # or @"),
    "bracketed": (
        lambda: r"\s*(?:\([^()]*\)|\[[^\[\]]*\])",
        "text in brackets",
        "texts in brackets",
    ),
    "html": (lambda: r"<[^<>]*>", "HTML tag", "HTML tags"),
    "nondigit": (lambda: r"\D+", "text between digits", "all but digits"),
    "camel": (lambda: f"(?<=[{_lower()}])(?=[{_upper()}])", "camel hump", "camel humps"),
    "digit": (lambda: r"\d", "digit", "digits"),
    "letter": (lambda: r"[^\W\d_]", "letter", "letters"),
    "run": (lambda: rf"{_letters()}|\d+", "run of letters or digits", "runs of letters or digits"),
    "line": (lambda: r"[^\r\n]+", "line", "lines"),
}


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """The regular expression of a pattern."""
    if pattern.startswith("="):
        return re.compile(re.escape(pattern[1:]))
    return re.compile(PATTERNS[pattern][0]())


def spans(pattern: str, text: str) -> tuple[tuple[int, int], ...]:
    """Start and end of every match, from the left."""
    return tuple(match.span() for match in compiled(pattern).finditer(text))


def nth_span(pattern: str, text: str, k: int) -> tuple[int, int] | None:
    """Start and end of the k-th match, from 1, or from -1 at the end."""
    if k < 0:
        return nth(spans(pattern, text), k)
    if k == 1:  # by far the usual one
        found = compiled(pattern).search(text)
        return None if found is None else found.span()
    for number, match in enumerate(compiled(pattern).finditer(text), 1):
        if number == k:
            return match.span()
    return None


def nth(items: Sequence[Item], k: int) -> Item | None:
    """The k-th item from 1, or from -1 at the end; None where there is none."""
    i = k - 1 if k > 0 else len(items) + k
    return items[i] if 0 <= i < len(items) else None


def in_words(pattern: str, plural: bool = False) -> str:
    """A pattern in English."""
    if pattern.startswith("="):
        return f'"{pattern[1:]}"'
    _, one, several = PATTERNS[pattern]
    return several if plural else one


def ordinal(k: int) -> str:
    """1 -> first, -1 -> last, -2 -> second to last."""
    names = {1: "first", 2: "second", 3: "third", 4: "fourth", 5: "fifth"}
    if k == -1:
        return "last"
    if k < 0:
        return f"{ordinal(-k)} to last"
    return names.get(k, f"{k}th")


def first_number(text: str, comma: bool = False) -> float | None:
    """The first number in a text, with its sign.

    Args:
        text: it may have other words.
        comma: whether the decimal mark is a comma, and thousands are marked by points if at all.
    """
    found = compiled("decimal").search(text)
    if found is None:
        return None
    group, mark = (".", ",") if comma else (",", ".")
    whole, _, fraction = found.group().replace(group, "").partition(mark)
    sign = -1 if text[: found.start()].rstrip(" $€£").endswith(("-", "−", "(")) else 1
    return sign * float(whole if mark in fraction else f"{whole}.{fraction or 0}")  # 1.2.3 is 1
