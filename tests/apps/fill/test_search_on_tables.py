"""What the search finds for small tables, kind by kind; and what every program must keep to."""

import json

import pytest

from aloex.apps.fill.expressions.base import Constant, Row
from aloex.apps.fill.expressions.programs import Join, Lookup, Switch
from aloex.apps.fill.expressions.text import Split
from aloex.apps.fill.fill.column import SURE, Answer, fill_column
from aloex.apps.fill.fill.program import Program
from aloex.apps.fill.search import solve
from aloex.apps.fill.search.solve import search
from aloex.base.errors import InputError

# Examples first (input or inputs -> output), then rows whose output the search must find.
TASKS: dict[str, tuple[list[tuple[Row, str]], list[tuple[Row, str]]]] = {
    "a number after a text": (
        [(("ref=A1;id=77;x=1",), "77"), (("id=8;ref=B2",), "8")],
        [(("x=4;id=901;ref=C3",), "901")],
    ),
    "an address in a sentence": (
        [
            (("write to ann@one.example now",), "ann@one.example"),
            (("mail: b.c@two.example",), "b.c@two.example"),
        ],
        [(("please ask d@three.example, not me",), "d@three.example")],
    ),
    "digits in groups, whatever stands between them": (
        [(("(503) 555-0142",), "503-555-0142"), (("2125550199",), "212-555-0199")],
        [(("907.555.0117",), "907-555-0117")],
    ),
    "a word replaced where it stands": (
        [(("salt and pepper",), "salt & pepper"), (("tea and milk and jam",), "tea & milk & jam")],
        [(("new potatoes and green peas",), "new potatoes & green peas")],
    ),
    "a separator that not all cells have": (
        [
            (("https://a.example/x?id=4",), "https://a.example/x"),
            (("https://a.example/y",), "https://a.example/y"),
        ],
        [(("https://b.example/z/w?q=1&r=2",), "https://b.example/z/w")],
    ),
    "camel case": (
        [(("order number",), "orderNumber"), (("date of birth",), "dateOfBirth")],
        [(("total",), "total")],
    ),
    "a word": (
        [(("Ada Lovelace",), "Lovelace"), (("Alan Turing",), "Turing")],
        [(("Grace Hopper",), "Hopper")],
    ),
    "a part between separators": (
        [(("a/b/c.txt",), "c.txt"), (("etc/rc.local",), "rc.local")],
        [(("x/y/z/my file.pdf",), "my file.pdf")],
    ),
    "an initial and a constant": (
        [(("Ada Lovelace",), "A. Lovelace"), (("Grace Hopper",), "G. Hopper")],
        [(("Zoë Fox",), "Z. Fox")],
    ),
    "case": ([(("OSLO",), "Oslo"), (("PARIS",), "Paris")], [(("SÃO PAULO",), "São Paulo")]),
    "several columns": (
        [(("Ada", "Lovelace"), "Lovelace, Ada"), (("Alan", "Turing"), "Turing, Alan")],
        [(("Grace", "Hopper"), "Hopper, Grace")],
    ),
    "columns that may be empty": (
        [(("a", "b", "c"), "a-b-c"), (("a", "", "c"), "a-c")],
        [(("", "x", "y"), "x-y")],
    ),
    "every word": (
        [(("United Nations",), "UN"), (("World Health Organization",), "WHO")],
        [(("European Space Research Organisation",), "ESRO")],
    ),
    "replace all": (
        [(("a b c",), "a_b_c"), (("one two",), "one_two")],
        [(("x y z w",), "x_y_z_w")],
    ),
    "masked digits": (
        [(("4412-77",), "XXXX-XX"), (("903-1",), "XXX-X")],
        [(("12345-678",), "XXXXX-XXX")],
    ),
    "thousands": (
        [(("1234567",), "1,234,567"), (("34856",), "34,856")],
        [(("987",), "987"), (("1000",), "1,000")],
    ),
    "a date": (
        [(("2021-03-05",), "5 Mar 2021"), (("2020-11-23",), "23 Nov 2020")],
        [(("2019-08-01",), "1 Aug 2019")],
    ),
    "a range of hours": (
        [(("14:05",), "14:00-15:00"), (("9:41",), "9:00-10:00")],
        [(("16:30",), "16:00-17:00")],
    ),
    "a range of numbers": (
        [(("23",), "20-30"), (("47",), "40-50")],
        [(("61",), "60-70"), (("30",), "30-40")],
    ),
    "a condition": (
        [(("-34",), "(34)"), (("12",), "12")],
        [(("-7",), "(7)"), (("250",), "250"), (("3",), "3")],
    ),
    "equal columns": (
        [(("a", "a"), "same"), (("a", "b"), "different")],
        [(("x y", "x y"), "same"), (("q", "r"), "different"), (("c", "c"), "same")],
    ),
}


@pytest.mark.parametrize("name", TASKS)
def test_tables_are_filled(name: str):
    examples, others = TASKS[name]
    rows = [row for row, _ in [*examples, *others]]
    columns = [f"column {i}" for i in range(len(rows[0]))]
    outputs = [text for _, text in examples] + [None] * len(others)
    filled = fill_column(rows, outputs, columns)
    assert filled.values == [text for _, text in [*examples, *others]]
    again = Program.from_json(json.dumps(filled.program.to_json()))
    assert again == filled.program
    assert [again.run(row) or "" for row in rows] == filled.values
    assert filled.program.explain()


@pytest.mark.parametrize("name", TASKS)
def test_every_program_found_fits_the_examples_and_survives_json(name: str):
    examples, others = TASKS[name]
    rows = [row for row, _ in [*examples, *others]]
    found = search(rows, [text for _, text in examples])
    assert found
    for each in found:
        assert each.texts == tuple(each.program.run(row) for row in rows)
        assert list(each.texts[: len(examples)]) == [text for _, text in examples]
        program = Program(each.program, tuple("abc"[: len(rows[0])]))
        assert Program.from_json(program.to_json()) == program
        for odd in ("", " ", "\n", "é", "12", "-", "١٢", "👩‍👩‍👧", "a" * 500):
            text = each.program.run((odd,) * len(rows[0]))
            assert text is None or isinstance(text, str)


def test_the_same_table_gets_the_same_answer_twice():
    examples, others = TASKS["an initial and a constant"]
    rows = [row for row, _ in [*examples, *others]]
    outputs = [text for _, text in examples] + [None]
    assert fill_column(rows, outputs, ["name"]) == fill_column(rows, outputs, ["name"])


def test_a_constant_is_never_sure():
    rows: list[Row] = [("a1",), ("b2",), ("c3",)]
    filled = fill_column(rows, ["yes", "yes", None], ["x"])
    assert filled.values == ["yes"] * 3
    assert not filled.sure and filled.confidence[2] < SURE and filled.ask_next == 2


def test_where_sure_begins():
    assert not Answer("a", 0.85, {}).in_doubt and Answer("a", 0.849, {}).in_doubt
    assert Answer(None, 1.0, {}).in_doubt


def test_one_odd_row_does_not_change_the_others():
    rows: list[Row] = [("Ada Lovelace",), ("Alan Turing",), ("",), ("Grace Hopper",), ("n/a",)]
    filled = fill_column(rows, ["Lovelace", "Turing", None, None, None], ["name"])
    assert filled.values[3] == "Hopper"
    assert 2 in filled.in_doubt


def test_contradictions_name_the_rows():
    with pytest.raises(InputError, match="rows 1 and 3 contradict each other"):
        fill_column([("a",), ("b",), ("a",)], ["x", "y", "z"], ["c"])


def test_no_example_is_a_mistake():
    with pytest.raises(InputError, match="no row has an output"):
        fill_column([("a",), ("b",)], [None, None], ["c"])


def test_what_nothing_explains_is_memorised():
    rows: list[Row] = [("five",), ("six",), ("six",), ("seven",)]
    (found, *_) = search(rows, ["prime", "composite"])
    assert isinstance(found.program, Switch | Lookup)


def test_the_work_on_conditions_is_bounded(monkeypatch):
    searched = []
    found = solve.joined
    monkeypatch.setattr(solve, "joined", lambda *pair: searched.append(pair) or found(*pair))
    rows: list[Row] = [(f"{word} {i}",) for i, word in enumerate("abcdefgh")]
    solve.search(rows, ["q", "w7", "e", "r!", "t", "yy", "u"])
    assert 2 < len(searched) <= 1 + solve.MAX_DEPTH * solve.MAX_BRANCHES


def test_spaces_at_the_ends_of_a_cell_separate_nothing():
    assert Split(0, " ", -1).run((" Emmy Noether ",)) == "Noether"
    assert Split(0, " ", -1).span(" Emmy Noether ") == (6, 13)


def test_more_examples_than_are_searched_with_are_all_kept():
    names = [(f"{a} {b}",) for a in ("Ada", "Bo", "Cy") for b in ("Lee", "Moe", "Nye")]
    outputs: list[str | None] = [name[0].split()[1] for name in names]
    outputs[4] = None
    filled = fill_column(names, outputs, ["name"])
    assert filled.values[4] == "Moe" and filled.confidence[0] == 1


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"aloex_fill": 1}',
        '{"aloex_fill": 1, "columns": ["a"], "program": {"op": "os"}}',
    ],
)
def test_what_is_no_program_is_told(text: str):
    with pytest.raises(InputError, match="program"):
        Program.from_json(text)


def test_a_program_that_reads_more_columns_than_it_has_is_told():
    values = Program(Join((Constant("x"),)), ("a",)).to_json()
    values["program"] = {"op": "Cell", "column": 3}
    with pytest.raises(InputError, match="damaged"):
        Program.from_json(values)
