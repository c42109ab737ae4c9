"""Parts of cells: near a text, digits alone, cases, and patterns of words."""

import pytest

from aloex.apps.fill.expressions.cases import Case
from aloex.apps.fill.expressions.patterns import compiled
from aloex.apps.fill.expressions.rewrite import CamelCase, ReplaceAll
from aloex.apps.fill.expressions.several_cells import JoinColumns
from aloex.apps.fill.expressions.slices import Position, Slice
from aloex.apps.fill.expressions.text import Cell, Digits, MatchNear

LINE = "host=a1;id=77&id=80"


@pytest.mark.parametrize(
    ("part", "text"),
    [
        (MatchNear(0, "number", "id="), "77"),
        (MatchNear(0, "number", "id=", last=True), "80"),
        (MatchNear(0, "word", "=", after=False), "host"),
        (MatchNear(0, "number", "id=", after=False, last=True), "77"),
        (MatchNear(0, "number", "port="), None),
        (MatchNear(0, "number", "80"), None),
        (MatchNear(0, "number", "host", after=False), None),
    ],
)
def test_a_match_near_a_text(part: MatchNear, text: str | None):
    assert part.run((LINE,)) == text


@pytest.mark.parametrize(
    ("start", "end", "text", "words"),
    [
        (0, None, "15550123", "the digits of phone"),
        (-4, None, "0123", "the last 4 digits of phone"),
        (0, 1, "1", "the first 1 digits of phone"),
        (1, 4, "555", "digits 2 to 4 of phone"),
        (-7, -4, "555", "digits 7 to 5 of phone, counted from the end"),
        (1, None, "5550123", "the digits of phone without the first 1"),
        (1, -4, "555", "the digits of phone without the first 1 and the last 4"),
        (0, 9, None, "the first 9 digits of phone"),
        (-9, None, None, "the last 9 digits of phone"),
    ],
)
def test_digits_alone(start: int, end: int | None, text: str | None, words: str):
    part = Digits(0, start, end)
    assert part.run(("+1 (555) 01-23",)) == text
    assert part.explain(["phone"]) == words


def test_the_first_letter_a_capital_and_the_rest_kept():
    assert Case("first", Cell(0)).run(("open on Monday",)) == "Open on Monday"
    assert Case("sentence", Cell(0)).run(("open on Monday",)) == "Open on monday"


def test_camel_case():
    assert CamelCase(Cell(0)).run(("date of BIRTH 2",)) == "dateOfBirth2"
    assert CamelCase(Cell(0)).run(("--",)) is None


def test_the_first_column_that_is_filled():
    assert JoinColumns((0, 1, 2), "", "first").run((" ", "b", "c")) == "b"


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("email", "write to <a.b@c.example>, or d@e.example.", ["a.b@c.example", "d@e.example"]),
        (
            "url",
            "(https://a.example/b?c=1), www.d.example.",
            ["https://a.example/b?c=1", "www.d.example"],
        ),
        ("tag", "#one and @two_3, a#b", ["#one", "@two_3", "#b"]),
        ("code", "v2.4.0-rc1 of AB/12, x", ["v2.4.0-rc1", "of", "AB/12", "x"]),
        ("signed", "-18 to +4.5", ["-18", "+4.5"]),
    ],
)
def test_patterns(pattern: str, text: str, found: list[str]):
    assert compiled(pattern).findall(text) == found


def test_brackets_and_tags_are_removed():
    assert ReplaceAll(Cell(0), "bracketed", "").run(("Oslo (NO) [1]",)) == "Oslo"
    assert ReplaceAll(Cell(0), "html", "").run(("<b>New</b> tea",)) == "New tea"


@pytest.mark.parametrize(
    ("start", "end", "words", "text"),
    [
        (Position("", 0), Position("", 1), "the first character of x", "a"),
        (Position("", 0), Position("", 4), "the first 4 characters of x", "ab, "),
        (Position("", 0), Position("", -3), "x without its last 2 characters", "ab, 12 (cd) "),
        (Position("", -3), Position("", -1), "the last 2 characters of x", "34"),
        (Position("", 4), Position("", -1), "x without its first 4 characters", "12 (cd) 34"),
        (Position("", 4), Position("", 6), "characters 5 to 6 of x", "12"),
        (Position("", 1), Position("", 2), "character 2 of x", "b"),
        (Position("=, ", 1, True), Position("", -1), 'x after the first ", "', "12 (cd) 34"),
        (Position("=(", 1), Position("", -1), 'x from the first "("', "(cd) 34"),
        (Position("", 0), Position("= ", -1), 'x before the last " "', "ab, 12 (cd)"),
        (Position("", 0), Position("number", 1, True), "x up to the first number", "ab, 12"),
        (
            Position("=(", 1, True),
            Position("=)", 1),
            'x between the first "(" and the first ")"',
            "cd",
        ),
        (
            Position("number", 1),
            Position("=)", 1, True),
            'x from before the first number to after the first ")"',
            "12 (cd)",
        ),
    ],
)
def test_slices_in_words(start: Position, end: Position, words: str, text: str):
    part = Slice(0, start, end)
    assert part.explain(["x"]) == words and part.run(("ab, 12 (cd) 34",)) == text
