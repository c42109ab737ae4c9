"""Features of labels and of people's names, by hand; and what they settle."""

from aloex.apps.fill.expressions.base import Constant, Row
from aloex.apps.fill.expressions.cases import Case
from aloex.apps.fill.expressions.conditions import AtLeast, Contains
from aloex.apps.fill.expressions.programs import Join
from aloex.apps.fill.expressions.several_cells import JoinColumns, TwoCells
from aloex.apps.fill.expressions.slices import Position, Slice
from aloex.apps.fill.expressions.text import Cell, Match
from aloex.apps.fill.fill.column import fill_column
from aloex.apps.fill.search.atoms import atom
from aloex.apps.fill.search.labels import features_of_name, label_features
from aloex.apps.fill.search.texts.names import with_names

NAMES = ["Ada Lovelace", "Alan M. Turing", "Jean-Luc O'Neil"]


def test_a_label_is_all_that_a_case_writes():
    label = Join((Constant("in stock"),))
    assert label_features(label, [("12 in a box",), ("x",)]) == {
        "label": 1.0,
        "label_letters": 7.0,
        "label_words": 1.0,
        "label_copied": 0.0,  # "in" is too short to be a copy
        "label_again": 0.5,
    }
    assert (label_features(label, [("stock: 12",)]) or {})["label_copied"] == 1.0
    assert label_features(Join((Constant("no "), Cell(0))), [("x",)]) is None


def test_a_label_that_says_what_is_asked():
    cash = Join((Constant("Cash"),))
    assert features_of_name(Contains(0, "cash"), cash) == {"if_named": 1.0}
    assert features_of_name(Contains(0, "card"), cash) == {"if_named": 0.0}
    assert features_of_name(AtLeast(0, 1.0), cash) == {}
    assert features_of_name(Contains(0, "cash"), Join((Cell(0),))) == {}


def test_the_last_word_of_a_name_and_the_rest():
    last, first = Match(0, "word", -1), Match(0, "word", 1)
    rest = Case("upper", Slice(0, Position("= ", 1, True), Position("", -1)))
    parts = [atom(part, ("x",)) for part in (last, first, rest)]
    found = [
        {k for k in each.features if k.startswith("name_")} for each in with_names(parts, NAMES)
    ]
    assert found == [{"name_last"}, set(), {"name_rest"}]
    assert with_names(parts, ["12 apples", "7 pears", "Ada Lovelace"]) == parts


def test_cells_that_nothing_is_joined_to():
    rows: list[Row] = [("a", ""), ("", "b")]
    assert JoinColumns((0, 1), "-").is_idle(rows)
    assert not JoinColumns((0, 1), "-").is_idle([*rows, ("a", "b")])
    assert TwoCells(0, 1, "first_filled").is_idle([("a", "b"), ("c", "")])
    assert not TwoCells(0, 1, "first_filled").is_idle(rows)
    assert not TwoCells(0, 1, "without").is_idle([("ab", "b")])


def test_surnames_and_labels_are_found():
    people: list[Row] = [("Ida Brandt",), ("Olaf Moe",), ("Ann Mary Lee",), ("Jo P. Fox",)]
    filled = fill_column(people, ["BRANDT", "MOE", None, None], ["name"])
    assert filled.values[2:] == ["LEE", "FOX"]
    versions: list[Row] = [("1.0.0",), ("1.1.0-rc1",), ("2.0.0-beta.2",), ("2.0.1",), ("2.1.0",)]
    filled = fill_column(versions, ["stable", "pre-release", None, None, None], ["version"])
    assert filled.values[2:] == ["pre-release", "stable", "stable"]
