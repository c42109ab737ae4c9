"""Tables in files: read as they are, headers guessed apart, written with what was filled."""

import csv

import pytest

from aloex.apps.fill import fill_table
from aloex.apps.fill.space import VersionSpace
from aloex.apps.fill.tables import read, split_header

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
    table = split_header(read(path))
    assert len(table.examples) == num_examples
    assert table.inputs == inputs
    assert (table.heading is not None) == has_header


def test_a_header_can_be_said(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("Ada King,King\nAl Bo,Bo\nCy Dee,\n")
    assert len(split_header(read(path), True).examples) == 1
    path.write_text("input,output\nAda King,King\n")
    assert len(split_header(read(path), False).examples) == 2


def test_reading_runs_no_synthesiser(tmp_path, monkeypatch):
    """All rows are read, the first too; only the guess looks for programs."""

    def refuse(self, *args, **options):
        raise AssertionError("a version space was built")

    monkeypatch.setattr(VersionSpace, "__init__", refuse)
    path = tmp_path / "table.csv"
    path.write_text("name,short\nAda King,King\nAl Bo,Bo\n")
    table = read(path)
    assert table.heading is None and table.rows[0] == ("name", "short")
    assert split_header(table, True).heading == ("name", "short")
    with pytest.raises(AssertionError, match="was built"):
        split_header(table)


def test_a_filled_table_keeps_what_was_given(tmp_path):
    path, out = tmp_path / "table.csv", tmp_path / "new" / "filled.csv"
    path.write_text('from,to\n"King, Ada",Ada\n"Bo, Al",Al\n"Dee, Cy",\n,\n"Fo, ""Gi""",\n')
    fill_table(path, out)
    rows = list(csv.reader(out.open(newline="")))
    assert rows[0] == ["from", "to", "agreement"]
    assert rows[1] == ["King, Ada", "Ada", ""]
    assert rows[3][:2] == ["Dee, Cy", "Cy"] and float(rows[3][2]) > 0.5
    assert rows[4][0] == 'Fo, "Gi"'
