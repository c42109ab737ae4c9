"""Tables as strangers have them, through `aloex fill`."""

import pytest

# A table, what it says of its header, and what is written at the ends of rows, from the top.
TABLES = {
    "examples at the end": (
        "name,short\nCy Dee,\nEd Fo,\nAda King,King\nAl Bo,Bo\n",
        ["Dee", "Fo"],
    ),
    "examples scattered": ("name,short\nCy Dee,\nA King,King\nEd Fo,\nAl Bo,Bo\n", ["Dee", "Fo"]),
    "the same example": ("name,short\nAda King,King\nAda King,King\nAl Bo,\n", ["Bo"]),
    "the same row": ("name,short\nAda King,King\nAda King,\nAda King,\n", ["King", "King"]),
    "right to left": ("name,short\nשלום עולם,עולם\nאבג דהו,דהו\nזחט יכל,\n", ["יכל"]),
    "emoji": ("name,short\n👩‍👩‍👧 😀,😀\n🎉 🚀🚀,🚀🚀\n🇩🇪 👍🏽,\n", ["👍🏽"]),
    "line breaks": ('"full\nname","short\nname"\nAda King,King\nAl Bo,Bo\nCy Dee,\n', ["Dee"]),
    "a name twice": ("name,x,x,short\nA King,1,2,King\nAl Bo,3,4,Bo\nCy Dee,5,6,\n", ["Dee"]),
    "letters": ("a,b\nx1,yes\ny2,yes\nz3,\n", ["yes"]),
    "years": ("land,2019,2020,change\nPeru,12,15,3\nChile,20,26,6\nCuba,7,9,\n", ["2"]),
    "constants": ("name,greeting\nAda,Hello Ada!\nBo,Hello Bo!\nCy,\n", ["Hello Cy!"]),
    "a lone quote": ('size,unit\n5" pipe,pipe\n6" tube,tube\n7" duct,\n', ["duct"]),
    "no header": ("Cy Dee,\nEd Fo,\nAda King,King\nAl Bo,Bo\n", ["Dee", "Fo"]),
}


@pytest.mark.parametrize("name", TABLES)
def test_tables(run, tmp_path, name):
    text, found = TABLES[name]
    (tmp_path / "t.csv").write_text(text)
    status, out, err = run("fill", "t.csv", "--in-place")
    assert (status, err) == (0, "")
    kind = "data" if name == "no header" else "a header"
    assert f"the first row is taken for {kind}" in out
    before, after = text.splitlines(), (tmp_path / "t.csv").read_text().splitlines()
    assert [b.removeprefix(a) for a, b in zip(before, after, strict=True) if a != b] == found


def test_a_table_of_300_columns(run, tmp_path):
    names = ",".join(f"c{i}" for i in range(299))
    rows = [",".join(f"{k}v{i}" for i in range(299)) for k in range(4)]
    rows = [f"{row},{f'{k}v298!' if k < 2 else ''}" for k, row in enumerate(rows)]
    (tmp_path / "t.csv").write_text("\n".join([f"{names},last", *rows]))
    status, out, _ = run("fill", "t.csv", "--out", "o.csv")
    assert status == 0 and "291 columns farther from it not read" in out
    assert (tmp_path / "o.csv").read_text().endswith(",3v298,3v298!")
    _, _, err = run("fill", "t.csv", "--target", "lost")
    assert "did you mean 'last'?" in err and "and 270 more" in err and len(err) < 600


def test_a_name_goes_before_a_number(run, tmp_path):
    (tmp_path / "t.csv").write_text("name,2,1\nAda King,King,x\nAl Bo,Bo,y\nCy Dee,,z\n")
    _, out, _ = run("fill", "t.csv", "--header", "--target", "2", "--source", "1")
    assert "if 1 is" in out  # the column with that name, not the first
    _, out, _ = run("fill", "t.csv", "--header", "--target", "2", "--source", "column 1")
    assert "program: name after" in out


def test_a_name_with_a_line_break_can_be_typed(run, tmp_path):
    (tmp_path / "t.csv").write_text('"Full\n name",short,x\nAda King,King,1\nAl Bo,,2\n')
    status, out, _ = run("fill", "t.csv", "--target", "short", "--source", "full name")
    assert status == 0 and "1 row filled" in out


def test_it_is_said_that_nothing_is_written(run, tmp_path):
    (tmp_path / "t.csv").write_text("name,short\nAda King,King\nAl Bo,Bo\nCy Dee,\n")
    assert "no table is written: to keep this, add --out FILE" in run("fill", "t.csv")[1]
    for words in (("--out", "o.csv"), ("--out", "-"), ("--json",)):
        status, out, err = run("fill", "t.csv", *words)
        assert status == 0 and "no table is written" not in out + err


def test_long_cells_are_cut_wherever_they_are_shown(run, tmp_path):
    long = "x" * 120_000
    (tmp_path / "t.csv").write_text(f"name,short\nAda {long},{long}\nAda {long},y\nAl Bo,\n")
    status, _, err = run("fill", "t.csv")
    assert status == 2 and "lines 2 and 3 contradict each other" in err and len(err) < 400
    (tmp_path / "t.csv").write_text(f"name,{long}\nAda King,King\nAl Bo,Bo\nCy,\nx {long},\n")
    _, out, _ = run("fill", "t.csv")
    assert "2 rows filled" in out or "1 row filled" in out
    assert max(map(len, out.splitlines())) < 900
    _, _, err = run("fill", "t.csv", "--target", long)
    assert len(err) < 400
