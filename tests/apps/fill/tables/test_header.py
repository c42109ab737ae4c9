"""Headers are guessed from the cells, and columns found by name or number."""

import pytest

from aloex.apps.fill.tables import (
    find_column,
    looks_like_header,
    open_source,
    split_names,
    unique_names,
)
from aloex.base.errors import InputError

TABLES = {  # whether the first row is a header
    "name,short\nAda King,King\nAl Bo,Bo\nCy Dee,": True,
    "name,short\nAda King,\nAl Bo,": True,  # a header over an empty column
    "Ada King,King\nAl Bo,Bo\nCy Dee,": False,  # a first example
    "Ada King,King\nAl Bo,\nCy Dee,": False,
    "Ada King,King\nAl Bo,Bo": False,
    "input,output\nCy Dee,": True,
    " Input ,OUTPUT\nCy Dee,": True,
    "id,amount,rounded\n1,2.50,3\n2,3.10,\n": True,
    "1,2.50,3\n2,3.10,\n3,7.00,": False,
    "Kunde,Datum,Quartal\nMeier,03.05.2021,Q2\nHuber,07.11.2020,": True,
    "Meier,03.05.2021,Q2\nHuber,07.11.2020,": False,
    "ada@x.org,ada\nbo@y.com,": False,
    "mail,user\nada@x.org,ada\nbo@y.com,": True,
    "2021-03-05,March\n2020-11-07,": False,
    "first_name,lastName,Full Name\nAda,King,Ada King\nAl,Bo,": True,
    "Ada,King,Ada King\nAl,Bo,": False,
    "a,a\nb,": False,
    "a,b\nx1,yes\ny2,": True,  # letters
    "a,b\nc,d\ne,": False,
    "name,x,x,short\nAda King,1,2,King\nAl Bo,3,4,": True,  # a name twice
    "Ada,Ada,AA\nBo,Cy,BC\nEd,Fo,": False,
    "land,2019,2020,change\nPeru,12,15,3\nCuba,7,9,": True,  # years
    "Peru,2019,Peru 2019\nCuba,2020,": False,
    "/home/ada/x.txt,x\n/tmp/y.txt,": False,
    "Path,Base\n/home/ada/x.txt,x\n/tmp/y.txt,": True,
    "score,grade\n45,fail\n80,pass\n30,fail\n77,pass\nabsent,\nn/a,\n60,": True,  # numbers, labels
    "flag,v\nY,true\nN,false\nY,\nN,": True,
    "flag,v\nY,true\nN,false\nY,true\nN,false\nY,": True,
    "Ada,F,Ms Ada\nAlan,M,Mr Alan\nGrace,F,\nKurt,M,": False,
    "Berlin,low\nParis,high\nRome,high\nOslo,low\nBern,": False,  # a label that is found again
    "Berlin,mid\nParis,high\nRome,low\nOslo,high\nBern,low\nKiel,": False,  # one of its kind
    "a,b\nx,\ny,": True,  # never one text into every cell of an empty column
    "Ada,staff\nAlan,\nGrace,": True,
    "a,b,c\nx,,p\ny,,q": True,
    "x y,y\np q,\nr s,": False,
    "Ada King,King,vip\nAl Bo,Bo,\nCy Dee,,": False,  # a note in the first row
}


@pytest.mark.parametrize("text", TABLES)
def test_headers(text):
    rows = [line.split(",") for line in text.splitlines()]
    assert looks_like_header(rows) == TABLES[text]


def test_a_header_is_told_or_known_by_the_names_of_columns(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("Ada King,King\nAl Bo,\n")

    def names(**how):
        with (source := open_source(str(path), **how)).file:
            return source.names, source.has_header, source.header_guessed

    assert names() == (["column 1", "column 2"], False, True)
    assert names(header=True) == (["Ada King", "King"], True, False)
    assert names(named=("king",)) == (["Ada King", "King"], True, False)
    assert names(named=("2",)) == (["column 1", "column 2"], False, True)


NAMES = ["Name", "city", "short", "x", "x", "2024", "a,b", "Zip\n code", "1"]


@pytest.mark.parametrize(
    ("told", "column"),
    [
        *[("Name", 0), ("name", 0), (" city ", 1), ("3", 2), ("column 4", 3), ("2024", 5)],
        *[("zip code", 7), ("1", 8), ("column 1", 0)],  # a name goes before a number
    ],
)
def test_columns_by_name_and_number(told, column):
    assert find_column(told, NAMES) == column


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ("shrot", r"no column 'shrot' \(did you mean 'short'\?\); the columns are: 1 Name, 2 city"),
        ("0", "there is no column '0'"),
        ("10", "there is no column '10'"),
        ("zap\ncode", r"no column 'zap code' \(did you mean 'Zip code'\?\); .* 8 Zip code"),
        ("y" * 1000, "no column '[^']{40}';"),
        ("x", "2 columns are called 'x'; say which by its number, 4 or 5"),
    ],
)
def test_columns_that_there_are_not(told, words):
    with pytest.raises(InputError, match=words):
        find_column(told, NAMES)


def test_names_with_commas():
    assert split_names('name, city,"a,b"') == ["name", "city", "a,b"] and split_names("") == []
    assert split_names("Last, first", ["last,  first", "x"]) == ["Last, first"]


def test_columns_of_one_name_are_told_apart_by_their_numbers():
    assert unique_names(["x", "y", "x"]) == ["x (column 1)", "y", "x (column 3)"]
    assert find_column("x (column 3)", ["x", "y", "x"]) == 2
    with pytest.raises(InputError, match=r"no column 'x \(column 2\)'"):
        find_column("x (column 2)", ["x", "y", "x"])
