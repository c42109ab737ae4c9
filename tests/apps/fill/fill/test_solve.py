"""Filling a column from Python: programs, outputs, votes, and when a row is in doubt."""

import json
import math
from collections import Counter

import pytest

from aloex.apps.fill import Row, solve
from aloex.apps.fill.energy import Learned
from aloex.apps.fill.fill import solver
from aloex.apps.fill.language import parse, run
from aloex.apps.fill.space import TABLES, behaviours, table_space
from aloex.base.errors import InputError

NAMES = [("Ada Lovelace", "Lovelace, A."), ("Alan Turing", "Turing, A.")]


def test_one_call_fills_a_column():
    solution = solve(NAMES, ["Grace Hopper", "Edsger Dijkstra", "Mary Ann Lee"])
    assert solution.outputs[:2] == ["Hopper, G.", "Dijkstra, E."]
    assert [row.in_doubt for row in solution.rows] == [False, False, True]
    assert solution.rows[2].others and solution.alternatives
    assert solution.num_programs > 1000
    program, outputs = solution.alternatives[0]
    assert outputs == [run(program, row.input) for row in solution.rows] != solution.outputs
    for row in solution.rows:
        assert 0 <= row.share + sum(row.others.values()) <= 1 + 1e-9


def test_the_same_seed_gives_the_same_answer():
    first, again = (solve(NAMES, ["Mary Ann Lee"], seed=3) for _ in range(2))
    assert first == again


def test_the_answer_as_json():
    answer = json.loads(json.dumps(solve(NAMES, ["Grace Hopper"]).to_json()))
    assert run(parse(answer["program"]), "Grace Hopper") == answer["rows"][0]["output"]
    assert answer["rows"][0]["in_doubt"] is False


def test_shares_are_those_of_the_drawn_programs(monkeypatch):
    """With a stated draw: three programs of four agree with the one that is shown."""
    texts = ["Letters, 2, Start", "Letters, -1, Start", "Proper, 2, Start", "Proper, -1, Start"]
    ends = [text.replace("Start", "End") for text in texts]
    drawn = [
        parse(f"SubStr(RegexTok({a}), RegexTok({b}))") for a, b in zip(texts, ends, strict=True)
    ]
    monkeypatch.setattr(solver.Sampler, "draw", lambda self, rng, num: list(drawn))
    examples = [("Ab Cd", "Cd"), ("Efg Hij", "Hij")]
    row = solve(examples, ["Xy zz Wv"]).rows[0]
    shares = {"zz": 0.25, "Wv": 0.75}
    assert row.share == shares[row.output]
    assert {row.output: row.share, **row.others} == shares


@pytest.mark.parametrize("num_agreeing, in_doubt", [(20, False), (18, False), (17, True)])
def test_a_row_is_sure_from_nine_tenths_on(num_agreeing, in_doubt, monkeypatch):
    """Of 20 programs so many write the output that is shown."""
    word = "SubStr(RegexTok(Letters, {k}, Start), RegexTok(Letters, {k}, End))"
    first, last = (parse(word.format(k=k)) for k in (2, -1))
    drawn = [last] * num_agreeing + [first] * (20 - num_agreeing)
    monkeypatch.setattr(solver.Sampler, "draw", lambda self, rng, num: drawn)
    monkeypatch.setattr(solver, "behaviours", lambda *_: [])
    monkeypatch.setattr(solver, "best", lambda space, k, score: [(0.0, last)])
    (row,) = solve([("Ab Cd", "Cd"), ("Efg Hij", "Hij")], ["Xy zz Wv"]).rows
    assert (row.output, row.share, row.in_doubt) == ("Wv", num_agreeing / 20, in_doubt)


def test_a_row_reports_the_four_most_frequent_other_outputs(monkeypatch):
    """Six words are written by 6, 5, ..., 1 of 21 programs; all write the same in the example."""
    word = "SubStr(RegexTok(Letters, {k}, Start), RegexTok(Letters, {k}, End))"
    words = [parse(word.format(k=k)) for k in (1, 2, 3, 4, -1, -2)]
    drawn = [program for i, program in enumerate(words) for _ in range(6 - i)]
    monkeypatch.setattr(solver.Sampler, "draw", lambda self, rng, num: drawn)
    monkeypatch.setattr(solver, "behaviours", lambda *_: [])
    monkeypatch.setattr(solver, "best", lambda space, k, score: [(0.0, words[0])])
    (row,) = solve([("a a a a a a", "a")], ["b c d e f g"]).rows
    assert (row.output, row.share) == ("b", 6 / 21)
    assert list(row.others.items()) == [("c", 5 / 21), ("d", 4 / 21), ("e", 3 / 21), ("g", 2 / 21)]


def test_the_twelve_most_disputed_inputs_are_compared():
    """Programs agree least on the last inputs; those to which most programs apply come first."""
    votes = [Counter({"x": 30 - i, "y": i - i % 2, None: i % 2}) for i in range(13)]
    even, odd = ([f"row {i}" for i in range(12, 0, -1) if i % 2 == rest] for rest in (0, 1))
    assert solver._most_disputed([f"row {i}" for i in range(13)], votes) == even + odd


def test_a_row_without_an_output_is_in_doubt():
    assert Row("x", None, 1.0, {}).in_doubt
    assert not Row("x", "y", 0.9, {}).in_doubt and Row("x", "y", 0.899, {}).in_doubt


@pytest.mark.parametrize("share, is_compared", [(0.0101, True), (0.0099, False)])
def test_an_input_is_left_out_if_less_than_a_hundredth_of_the_weight_applies(share, is_compared):
    """The weight of the space is stated so that programs for all inputs have a given share of it.

    The heaviest behaviour differs with and without the last input, and so does the first program.
    """
    pairs = [("ab 1", "ab"), ("cd 2", "cd")]
    space, inputs = table_space(pairs), ["ab1 2", "7 8"]
    ranked = {n: behaviours(space, TABLES, inputs[:n]) for n in (1, 2)}
    assert ranked[1][0].program != ranked[2][0].program
    total = sum(each.weight for each in ranked[2])
    found = solver._Found(space, TABLES, [], math.log(total / share))
    chosen = solver._candidates(found, pairs, inputs)[0]
    assert chosen == ranked[2 if is_compared else 1][0].program


def test_many_examples_are_all_kept(monkeypatch):
    """The first six alone would not tell a number from a word; a later one must, and is added."""
    sizes = []
    build = lambda pairs: sizes.append(len(pairs)) or table_space(pairs)
    monkeypatch.setattr(solver, "table_space", build)
    examples = [(f"{a}1 x", f"{a}1") for a in "bcdefghij"] + [("42 k7 x", "42")]
    solution = solve(examples, ["9 a1 x"])
    assert sizes == [6, 7]
    assert all(run(solution.program, x) == y for x, y in examples)
    assert solution.outputs == ["9"]


MISTAKES = [
    ([], "there are no examples"),
    ([("a", "b"), ("a", "c")], "two outputs, 'b' and 'c'"),
    ([("a", "")], "empty"),
    ([("abc", "x"), ("abd", "y")], "no program fits all of 2 examples"),
    ([("a b", "b"), ("c d", "d"), ("e f", "Q")], "without 'e f' -> 'Q' there would be one"),
]


@pytest.mark.parametrize("examples, message", MISTAKES)
def test_mistakes_are_told(examples, message):
    with pytest.raises(InputError, match=message):
        solve(examples, ["x"])


def test_odd_characters_and_long_inputs():
    long = "wörd " * 200
    solution = solve([(long + "end1", "1—"), ("début 22", "22—")], ["x 333", "no number here"])
    assert solution.outputs[0] == "333—"
    assert solution.rows[1].in_doubt


def test_odd_rows_do_not_decide():
    """Next to no program applies to an empty row or to one letter; the others are filled alike."""
    examples = [("Ada Lovelace", "Lovelace"), ("Alan Turing", "Turing")]
    names = ["Grace Hopper", "Mary Ann Lee", "Kurt Friedrich Otto"]
    plain, odd = solve(examples, names), solve(examples, ["?", *names, "-"])
    assert plain.outputs[0] == "Hopper" and odd.outputs[1:4] == plain.outputs
    assert odd.rows[0].in_doubt and odd.rows[4].in_doubt


def test_programs_that_apply_to_all_rows_are_preferred():
    """The third number is there in the examples only: in the rows it is the last that counts."""
    examples = [("a 1 2 3", "3"), ("b 4 5 6", "6")]
    assert solve(examples, ["c 7 8", "d 9", "e 1 2 3 4"]).outputs == ["8", "9", "4"]


def test_the_learned_energy_fills_tables_too():
    examples = [("a-1@x", "1"), ("bc-23@y", "23")]
    learned = solve(examples, ["d-4@z"], score=lambda space: Learned(space, ["d-4@z"]))
    assert learned.outputs == ["4"]
