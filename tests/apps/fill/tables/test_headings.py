"""Words that are headings by themselves, where no example could tell; folders for the output."""

import pytest

from aloex.apps.fill import fill_table
from aloex.apps.fill.tables import read, split_header

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
