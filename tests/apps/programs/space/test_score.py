"""Scores of programs: sums over their parts, the generator's prior, and the tuned scores."""

import math
from dataclasses import fields, replace

import pytest

from aloex.apps.programs.language import in_words, parse
from aloex.apps.programs.space import FEWEST, TABLES, Prior, Simple, VersionSpace, best, table_space
from aloex.apps.programs.space.score import of_program


def test_the_prior_is_a_probability():
    """Summed over the positions that all inputs have it is 1: nothing is left out or doubled."""
    inputs = ["ab-3 C", "x-y-42 D"]
    prior = Prior(inputs)
    space = VersionSpace([(x, x) for x in inputs])
    positions = [pos for positions in space.classes for pos in positions]
    assert math.isclose(sum(math.exp(prior.position(pos)) for pos in positions), 1)
    assert math.isclose(11 * math.exp(prior.constant("@")), 0.5)


def test_scores_add_up():
    program = parse('ConstStr("@") | SubStr(ConstPos(0), RegexTok(Digits, 2, End))')
    score = Prior(["a1b2"])
    parts = [score.constant("@"), *map(score.position, (program[1].p1, program[1].p2))]
    assert math.isclose(of_program(score, program), sum(parts) + score.substring)


SCORES = {"TABLES": TABLES, "Simple": Simple()}
EXAMPLES = {
    "second word": [("Ada King", "King"), ("Al Bo", "Bo")],
    "initial and a letter": [("Ada King", "A x"), ("Bo Li", "B x")],
    "user of an address": [("ada@x.org", "ada."), ("bo.li@y.com", "bo.li.")],
    "third character": [("a1bx", "b"), ("c2de", "d")],
    "number before or after": [("ab-12", "12"), ("7-cd", "7")],
    "dash to stop or back": [("q-x y.c", "-x y."), ("e e.z-f", "z")],
}
GOLDEN = {  # what the best program does, and the scores of the best three
    "TABLES": {
        "second word": ("the last capitalised word", [-6.4, -6.4, -6.4]),
        "initial and a letter": ("the 1st run of capitals, then ' x'", [-26.0, -27.0, -28.0]),
        "user of an address": (
            "everything up to the start of the 1st '@', then '.'",
            [-13.5, -13.7, -14.0],
        ),
        "third character": (
            "the text between the end of the 1st number and 1 character before the end",
            [-11.0, -11.2, -11.2],
        ),
        "number before or after": ("the 1st number", [-6.0, -6.4, -10.2]),
        "dash to stop or back": (
            "the text between the start of the 1st '-' and the end of the 1st '.'",
            [-11.0, -11.2, -11.2],
        ),
    },
    "Simple": {
        "second word": (
            "everything from the start of the last capitalised word on",
            [-8.5, -8.5, -8.5],
        ),
        "initial and a letter": ("the first character, then ' x'", [-27.3, -28.5, -28.5]),
        "user of an address": (
            "everything up to the start of the 1st '@', then '.'",
            [-12.0, -12.0, -13.1],
        ),
        "third character": (
            "the text between 2 characters before the end and 1 character before the end",
            [-7.9, -7.9, -8.5],
        ),
        "number before or after": ("the 1st number", [-10.0, -10.0, -10.0]),
        "dash to stop or back": (
            "the text between the start of the 1st '-' and the end of the 1st '.'",
            [-10.0, -10.0, -10.0],
        ),
    },
}


def ranking(score, name):
    found = best(table_space(EXAMPLES[name]), 3, score)
    return in_words(found[0][1]), [round(value, 2) for value, _ in found]


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("score", SCORES)
def test_rankings_of_the_tuned_scores(score, name):
    assert ranking(SCORES[score], name) == GOLDEN[score][name]


@pytest.mark.parametrize("field", [field.name for field in fields(Simple)])
@pytest.mark.parametrize("score", SCORES)
def test_no_number_of_a_tuned_score_can_change_unnoticed(score, field):
    """A quarter more or less changes one of the golden rankings."""
    for change in (0.25,) if field == "whole" else (0.25, -0.25):
        changed = replace(SCORES[score], **{field: getattr(SCORES[score], field) + change})
        assert any(ranking(changed, name) != GOLDEN[score][name] for name in EXAMPLES)


def test_all_that_counts_for_fewest_is_the_number_of_expressions():
    program = parse(
        'ConstStr("x") | ConstStr("@") | SubStr(ConstPos(2), RegexTok(Digits, -3, End))'
        ' | SubStr(ConstTok("-", 1, Start), ConstTok("-", 2, End))'
    )
    scores = [of_program(FEWEST, program[:n]) for n in (1, 2, 3, 4)]
    assert scores == [-20.0, -40.0, -60.0, -80.0]
    found = best(table_space(EXAMPLES["dash to stop or back"]), 1000, FEWEST)
    assert {(score, len(program)) for score, program in found} == {(-20.0, 1)}
