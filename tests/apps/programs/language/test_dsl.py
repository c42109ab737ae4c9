"""The language: text and tokens are inverses, the mask is the grammar, both modes by hand."""

import contextlib
import re

import jaxtyping
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aloex.apps.programs.language import (
    VOCABULARY,
    ConstPos,
    ConstStr,
    ConstTok,
    RegexTok,
    SubStr,
    canonical,
    detokenize,
    in_words,
    parse,
    run,
    show,
    tokenize,
)
from aloex.apps.programs.language.canonical import faults
from aloex.apps.programs.language.mask import ALLOWED, NEXT, START, STATES
from aloex.base.errors import InputError
from programs import next_words, programs, state_after, texts


@given(programs(chars=st.characters()))
def test_parse_is_the_inverse_of_show(program):
    assert parse(show(program)) == program


@given(programs())
def test_spaces_do_not_matter(program):
    squeezed = re.sub(r"\s+", "", show(program))
    assert parse(squeezed) == parse(f"  {show(program)}\n") == program


@given(programs())
def test_tokens_and_back(program):
    tokens = tokenize(program)
    assert detokenize(tokens) == detokenize([*tokens, 0, 0]) == program
    lengths = [2 if isinstance(expr, ConstStr) else None for expr in program]
    assert len(tokens) <= 12 * len(program)
    if None not in lengths:
        assert len(tokens) == 3 * len(program)


def test_the_vocabulary_has_27_tokens():
    assert len(VOCABULARY) == len(set(VOCABULARY)) == 27
    longest = parse('SubStr(RegexTok(Digits, 1, End), ConstTok("%", -4, Start))')
    assert len(tokenize(longest)) == 11 + 1


def test_a_constant_without_token_is_told():
    with pytest.raises(InputError, match="'/' has no token"):
        tokenize((ConstStr("/"),))


BAD_PARTS = {
    "k must be from -4 to 4, got 5": lambda: ConstPos(5),
    "k must be from -4 to 4, got -5": lambda: RegexTok("Digits", -5, "End"),
    "a constant is one character, got 'ab'": lambda: ConstStr("ab"),
    "a constant is one character, got ''": lambda: ConstTok("", 1, "Start"),
    "there is no regex 'Vowels'": lambda: RegexTok("Vowels", 1, "Start"),
    "a match has a Start and an End, got 'Middle'": lambda: ConstTok("-", 1, "Middle"),
}


@pytest.mark.parametrize("message", BAD_PARTS)
def test_bad_parts_are_told(message, monkeypatch):
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)  # it would speak first
    with pytest.raises(InputError, match=message):
        BAD_PARTS[message]()


BAD_TEXTS = {
    "": "character 1: expected ConstStr or SubStr, the program ends there",
    "ConstStr(x)": "character 10: expected a character in double quotes, got x",
    'ConstStr("ab")': "character 10: expected a character",
    'ConstStr("a") ConstStr("b")': "character 15: expected | or the end, got ConstStr",
    "SubStr(ConstPos(0), ConstPos(5))": "character 30: expected a number from -4 to 4, got 5",
    "SubStr(ConstPos(0), RegexTok(Words, 1, End))": "character 30: expected Proper or",
    "SubStr(ConstPos(0), RegexTok(Digits, 1, Middle))": "character 41: expected Start or End",
    "SubStr(ConstPos(0))": "character 19: expected ,, got )",
    'ConstStr("a") | ': "character 17: expected ConstStr or SubStr, the program ends there",
    "Größe": "character 1: expected ConstStr or SubStr",
}


@pytest.mark.parametrize("text", BAD_TEXTS)
def test_bad_programs_are_told_with_the_place(text):
    with pytest.raises(InputError, match=re.escape(BAD_TEXTS[text])):
        parse(text)


@given(st.text(max_size=30))
def test_any_text_is_a_program_or_an_error(text):
    with contextlib.suppress(InputError):
        assert parse(show(parse(text))) == parse(text)


@given(st.lists(st.integers(0, 26), max_size=14))
def test_any_tokens_are_a_program_or_an_error(tokens):
    try:
        program = detokenize(tokens)
    except InputError as error:
        assert "eos" in str(error) or "token " in str(error)
    else:
        end = tokens.index(1) + 1
        assert tokenize(program) == tokens[:end]


@settings(max_examples=300)
@given(st.data())
def test_what_the_mask_allows_is_a_program_and_nothing_else_is(data):
    """Walk through the automaton; a token that it does not allow makes no program."""
    state, tokens, words = START, [], 0
    while STATES[state] != "done":
        allowed = np.flatnonzero(ALLOWED["paper"][state])
        if words > 2 and STATES[state] == "after":
            allowed = np.array([1])
        token = int(data.draw(st.sampled_from(allowed.tolist())))
        words += VOCABULARY[token] == "|"
        tokens.append(token)
        state = int(NEXT[state, token])
    assert tokenize(detokenize(tokens)) == tokens
    at = data.draw(st.integers(0, len(tokens) - 1))
    before = state_after(tokens[:at])
    for other in np.flatnonzero(~ALLOWED["paper"][before]).tolist():
        with pytest.raises(InputError):
            detokenize([*tokens[:at], other, *tokens[at + 1 :], 1])
        assert state_after([*tokens[:at], other]) is None


@given(programs())
def test_clean_programs_pass_the_clean_mask(program):
    """Where the mask refuses a canonical program, it is for k = 0 or an anchor."""
    state, passes = START, True
    for token in tokenize(program):
        passes = passes and bool(ALLOWED["clean"][state, token])
        state = int(NEXT[state, token])
    bad = [why for _, why in faults(program) if "other order" not in why]
    assert passes == (not bad)


def test_words_that_may_follow():
    assert next_words([]) == ["ConstStr", "SubStr"]
    tokens = tokenize(parse("SubStr(RegexTok(Digits, 1, End), ConstPos(2))"))
    assert next_words(tokens[:3], "clean") == ["1", "2", "3", "4", "5", "6", "7"]
    assert "0" in next_words(tokens[:4]) and "0" not in next_words(tokens[:4], "clean")
    assert next_words(tokens[:-1]) == ["eos", "|"]
    assert next_words([0]) == []


DIGITS = lambda k, direct: RegexTok("Digits", k, direct)
PAPER = [
    (SubStr(ConstPos(0), ConstPos(2)), "abcd", "ab"),
    (SubStr(ConstPos(2), ConstPos(0)), "abcd", "ab"),  # swapped
    (SubStr(ConstPos(1), ConstPos(4)), "ab", "b"),  # slices end where the text does
    (SubStr(ConstPos(-1), ConstPos(-3)), "abcd", "cd"),
    (SubStr(ConstPos(-4), ConstPos(4)), "ab", "b"),  # -1 as Python slices
    (SubStr(DIGITS(1, "Start"), DIGITS(1, "End")), "a12b345", "12"),
    (SubStr(DIGITS(-1, "Start"), DIGITS(-1, "End")), "a12b345", "345"),
    (SubStr(DIGITS(-2, "Start"), DIGITS(-2, "End")), "a12b345", "12"),
    (SubStr(DIGITS(3, "Start"), DIGITS(1, "End")), "a12b345", ""),  # out of range
    (SubStr(DIGITS(0, "Start"), DIGITS(0, "End")), "a12b345", "345"),  # wraps around
    (SubStr(DIGITS(-3, "Start"), DIGITS(-3, "End")), "a12b345", "345"),  # wraps around
    (SubStr(DIGITS(-4, "Start"), DIGITS(-4, "End")), "a12b345", ""),
    (SubStr(DIGITS(0, "Start"), DIGITS(0, "End")), "ab", ""),
    (SubStr(ConstTok("-", 1, "End"), ConstTok("-", 2, "Start")), "a-b-c", "b"),
    (SubStr(ConstTok(".", 1, "Start"), ConstPos(-1)), "a.b", ".b"),  # a dot, not any character
    (SubStr(RegexTok("Begin", 1, "End"), RegexTok("Finish", 1, "Start")), "ab", "ab"),
    (SubStr(RegexTok("Proper", 1, "Start"), RegexTok("Proper", 1, "End")), "ABcD", "Bc"),
    (SubStr(RegexTok("Space", 1, "Start"), RegexTok("Space", 1, "End")), "a  b", "  "),
    (SubStr(ConstPos(1), ConstPos(1)), "ab", ""),
]
CLEAN = [
    (SubStr(ConstPos(0), ConstPos(2)), "abcd", "ab"),
    (SubStr(ConstPos(1), ConstPos(4)), "ab", "b"),
    (SubStr(ConstPos(0), ConstPos(-4)), "ab", None),
    (SubStr(ConstPos(2), ConstPos(-4)), "ab", "ab"),  # the nearest end
    (SubStr(DIGITS(1, "Start"), DIGITS(1, "End")), "a12b345", "12"),
    (SubStr(DIGITS(3, "Start"), DIGITS(-1, "End")), "a12b345", None),
    (SubStr(DIGITS(-3, "Start"), DIGITS(-3, "End")), "a12b345", None),
    (SubStr(RegexTok("Lower", 1, "Start"), DIGITS(1, "Start")), "12b", "12"),  # either way
    (SubStr(ConstPos(1), DIGITS(1, "Start")), "a12b345", None),
]


@pytest.mark.parametrize("mode, cases", [("paper", PAPER), ("clean", CLEAN)])
def test_by_hand(mode, cases):
    for expr, text, written in cases:
        assert run((expr,), text, mode) == written, (expr, text)
        whole = None if written is None else f"({written}("
        assert run((ConstStr("("), expr, ConstStr("(")), text, mode) == whole


def test_clean_mode_refuses_other_programs():
    cases = {
        "SubStr(ConstPos(0), RegexTok(Digits, 0, End))": "k = 0",
        "SubStr(ConstPos(0), RegexTok(Finish, 1, End))": "Finish is ConstPos(-1)",
        'ConstStr(",") | SubStr(ConstPos(-1), ConstPos(0))': "expression 2 is not in clean form",
    }
    for text, message in cases.items():
        with pytest.raises(InputError, match=re.escape(message)):
            run(parse(text), "abc")
    with pytest.raises(InputError, match="modes"):
        run(parse('ConstStr(",")'), "abc", "other")


@settings(max_examples=500)
@given(programs(regexes=("Lower", "Alnum", "Begin", "Finish"), ks=st.integers(-2, 1)), texts)
def test_the_canonical_program_writes_the_same_or_nothing(program, text):
    clean = canonical(program)
    assert canonical(clean) == clean
    assert not list(faults(clean))
    if len(text) >= 3:
        assert run(clean, text) in (None, run(program, text, "paper"))


@given(programs())
def test_every_program_has_words(program):
    assert in_words(program)


def test_in_words():
    program = parse(
        'SubStr(RegexTok(Letters, 2, Start), RegexTok(Letters, 2, End)) | ConstStr(",") |'
        'ConstStr("-") | SubStr(ConstPos(0), ConstPos(1)) | '
        'SubStr(ConstTok("@", 1, End), ConstPos(-1)) |'
        "SubStr(ConstPos(2), RegexTok(Digits, -1, Start))"
    )
    assert in_words(program) == (
        "the 2nd word, then ',-', then the first character, "
        "then everything from the end of the 1st '@' on, "
        "then the text between the 2nd character's end and the start of the last number"
    )
