"""Tables at the border of what can be read, and examples at the border of what can be told."""

import pytest

from aloex.apps.fill import fill_table, solve
from aloex.apps.fill.tables import read, split_header
from aloex.base.errors import InputError

CASES = {  # first row; whether it is a header, with no example below it
    "input,output": True,
    " Input ,OUTPUT": True,
    "input,": True,
    "input,King": False,
    "Ada,output": False,
}


@pytest.mark.parametrize("first", CASES)
def test_words_that_are_headings_by_themselves(first, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(f"{first}\nCy Dee,\n")
    assert (split_header(read(path)).heading is not None) == CASES[first]


def test_all_folders_above_the_output_are_made(tmp_path):
    path, out = tmp_path / "table.csv", tmp_path / "two" / "folders" / "filled.csv"
    path.write_text("Ada King,King\nAl Bo,Bo\nCy Dee,\n")
    fill_table(path, out)
    assert out.read_text().splitlines()[2].startswith("Cy Dee,Dee")


def test_one_example_tells_a_header(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("name,short\nAda King,King\n")
    assert split_header(read(path)).heading == ("name", "short")


@pytest.mark.parametrize(
    ("text", "words"),
    [("", "is empty"), (",\n\n", "is empty"), ("a,b\nc,d,e\n", "line 2: 3 columns")],
)
def test_tables_that_cannot_be_read(text, words, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=words):
        read(path)


def test_a_table_of_one_row_can_be_read(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("Ada King,King\n")
    assert read(path).rows == [("Ada King", "King")]


def test_the_example_in_the_way_is_named_only_if_it_is_one():
    good = [("Ada King", "King"), ("Al Bo", "Bo"), ("Cy Dee", "Dee")]
    bad = ("Ed Fo", "xyz")
    with pytest.raises(InputError, match=r"without 'Ed Fo' -> 'xyz' there would be one"):
        solve([good[0], bad, *good[1:]], [])
    with pytest.raises(InputError) as error:
        solve([good[0], bad], [])
    assert "without" not in str(error.value)
