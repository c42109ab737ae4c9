"""Filling a column: from Python and from a table in a file."""

import csv
import json
import math
from pathlib import Path

import pytest

from aloex.apps.fill import fill, solve
from aloex.apps.fill.energy.learned import Learned
from aloex.apps.fill.language import parse, run
from aloex.apps.fill.space.score import Prior, of_program
from aloex.apps.fill.space.version_space import VersionSpace
from aloex.apps.fill.tables import table_file
from aloex.base.errors import InputError
from commands import aloex
from studies.synth.frozen import frozen
from studies.synth.statistics import statistics

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
    monkeypatch.setattr(fill.Sampler, "draw", lambda self, rng, num: list(drawn))
    examples = [("Ab Cd", "Cd"), ("Efg Hij", "Hij")]
    row = solve(examples, ["Xy zz Wv"]).rows[0]
    shares = {"zz": 0.25, "Wv": 0.75}
    assert row.share == shares[row.output]
    assert {row.output: row.share, **row.others} == shares


def test_many_examples_are_all_kept():
    """The first ones alone would not tell a number from a word; a later one must."""
    examples = [(f"{a}1 x", f"{a}1") for a in "bcdefghij"] + [("42 k7 x", "42")]
    solution = solve(examples, ["9 a1 x"])
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


TABLES = {  # file, what is read: examples, inputs, header
    "name,short\nAda King,King\nAl Bo,Bo\nCy Dee,\n": (2, ["Cy Dee"], True),
    "Ada King,King\nAl Bo,Bo\nCy Dee\n": (2, ["Cy Dee"], False),
    "input,output\nAda King,King\nCy Dee,\n": (1, ["Cy Dee"], True),
    "\ufeffAda King;King\r\nCy Dee;\r\n\r\n;\r\n": (1, ["Cy Dee"], False),
    "Ada King\tKing\nCy Dee\t\n": (1, ["Cy Dee"], False),
    '"King, Ada","Ada"\n"a ""b"", c",\n': (1, ['a "b", c'], False),
    'Ada King,King,,\n"two\nlines",\n': (1, ["two\nlines"], False),
}


@pytest.mark.parametrize("text", TABLES)
def test_tables_as_people_have_them(text, tmp_path):
    num_examples, inputs, has_header = TABLES[text]
    path = tmp_path / "table.csv"
    path.write_bytes(text.encode())
    table = table_file.read(path)
    assert len(table.examples) == num_examples
    assert table.inputs == inputs
    assert (table.heading is not None) == has_header


def test_a_header_can_be_said(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("Ada King,King\nAl Bo,Bo\nCy Dee,\n")
    assert len(table_file.read(path, header=True).examples) == 1
    path.write_text("input,output\nAda King,King\n")
    assert len(table_file.read(path, header=False).examples) == 2


def test_a_filled_table_keeps_what_was_given(tmp_path):
    path, out = tmp_path / "table.csv", tmp_path / "new" / "filled.csv"
    path.write_text('from,to\n"King, Ada",Ada\n"Bo, Al",Al\n"Dee, Cy",\n,\n"Fo, ""Gi""",\n')
    table = table_file.read(path)
    solution = table_file.fill(table)
    table_file.write(out, table, solution)
    rows = list(csv.reader(out.open(newline="")))
    assert rows[0] == ["from", "to", "agreement"]
    assert rows[1] == ["King, Ada", "Ada", ""]
    assert rows[3][:2] == ["Dee, Cy", "Cy"] and float(rows[3][2]) > 0.5
    assert rows[4][0] == 'Fo, "Gi"'


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


def test_the_prior_is_a_probability():
    """Summed over the positions that all inputs have it is 1: nothing is left out or doubled."""
    inputs = ["ab-3 C", "x-y-42 D"]
    prior = Prior(inputs)
    space = VersionSpace([(x, x) for x in inputs])
    positions = [pos for positions in space.classes for pos in positions]
    assert math.isclose(sum(math.exp(prior.position(pos)) for pos in positions), 1)
    assert math.isclose(11 * math.exp(prior.constant("@")), 0.5)


def test_statistics_of_tasks():
    found = statistics(frozen("validation")[:200])
    assert math.isclose(sum(found["expressions"].values()), 1)
    assert math.isclose(sum(found["positions"].values()), 1)
    assert found["input_max"] <= 20 and found["output_max"] <= 50


def test_scores_add_up():
    program = parse('ConstStr("@") | SubStr(ConstPos(0), RegexTok(Digits, 2, End))')
    score = Prior(["a1b2"])
    parts = [score.constant("@"), *map(score.position, (program[1].p1, program[1].p2))]
    assert math.isclose(of_program(score, program), sum(parts) + score.substring)


def test_the_page_shows_the_committed_results(tmp_path):
    root, page = Path(__file__).parents[3], tmp_path / "page.md"
    done = aloex("synth", "page", "--out", page, cwd=root)
    assert done.returncode == 0, done.stderr
    assert (root / "docs/synth_tasks.md").read_text() == page.read_text()
