"""Patterns find the same in texts of any length, in time that grows with the length only."""

import pytest

from aloex.apps.fill.expressions.patterns import PATTERNS, compiled


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_long_word_that_does_not_match_takes_no_time(pattern):
    text = "wé" * 5000 + "\n1"  # would take years if runs of letters were cut up in all ways
    assert compiled(pattern).fullmatch(text) is None


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("word", "Éle\u0301ve हिन्दी 12ab", ["Éle\u0301ve", "हिन्दी", "ab"]),
        ("name", "Ann-Marie O'Brien-", ["Ann-Marie", "O'Brien"]),
        ("alnum", "a1_b2 \u0301c", ["a1", "b2", "\u0301c"]),
    ],
)
def test_words(pattern, text, found):
    assert compiled(pattern).findall(text) == found
