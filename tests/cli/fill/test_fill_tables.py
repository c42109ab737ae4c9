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
    assert status == 0 and "291 columns not read: c0, c1, c2, c3, c4 and 286 more" in out
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


def test_columns_of_one_name(run, tmp_path):
    (tmp_path / "t.csv").write_text("name,name,short\nAda,Bo,AB\nCy,Dee,CD\nEd,Fo,\n")
    _, out, _ = run("fill", "t.csv", "--save-program", "p.json")
    words = "the first character of name (column 1), then the first character of name (column 2)"
    assert words in out
    assert run("fill", "apply", "p.json", "t.csv")[1].endswith("Ed,Fo,EF\n")
    (tmp_path / "u.csv").write_text("name,name\nXi,Yo\n")
    assert run("fill", "apply", "p.json", "u.csv")[1] == "name,name,short\nXi,Yo,XY\n"
    (tmp_path / "v.csv").write_text("x,name\nXi,Yo\n")
    status, _, err = run("fill", "apply", "p.json", "v.csv")
    assert status == 2 and "there is no column 'name (column 1)'" in err


def test_the_target_has_a_name_that_others_have(run, tmp_path):
    text = "x,name,x\n1,Ada King,King\n2,Al Bo,Bo\n3,Cy Dee,\n"
    (tmp_path / "t.csv").write_text(text)
    assert run("fill", "t.csv", "--save-program", "p.json")[0] == 0
    assert run("fill", "apply", "p.json", "t.csv")[1] == text.replace("Dee,", "Dee,Dee")


def test_a_title_keeps_its_bytes(run, tmp_path):
    text = "Report\nname,short\nAda King,King\nAl Bo,Bo\nCy Dee,\n"
    (tmp_path / "t.csv").write_text(text)
    assert run("fill", "t.csv", "--target", "2", "--save-program", "p.json", "--in-place")[0] == 0
    assert (tmp_path / "t.csv").read_text() == text.replace("Dee,", "Dee,Dee")
    (tmp_path / "t.csv").write_text(text)
    assert run("fill", "apply", "p.json", "t.csv", "--target", "2", "--in-place")[0] == 0
    assert (tmp_path / "t.csv").read_text() == text.replace("Dee,", "Dee,Dee")


def test_a_wide_table_is_read_where_the_examples_come_from(run, tmp_path):
    names = ",".join(["name", *(f"c{i}" for i in range(12)), "short"])
    people = {"Ada King": "King", "Al Bo": "Bo", "Cy Dee": "", "Ed Fo": ""}
    rows = [
        ",".join([name, *("zyxw"[k] * (i + 3) for i in range(12)), short])
        for k, (name, short) in enumerate(people.items())
    ]
    (tmp_path / "t.csv").write_text("\n".join([names, *rows]))
    _, out, _ = run("fill", "t.csv", "--out", "o.csv")
    assert "program: name after the first" in out or "of name" in out
    assert "5 columns not read: c0, c1, c2, c3, c4; name others: --source" in out
    filled = [line.rpartition(",")[2] for line in (tmp_path / "o.csv").read_text().splitlines()]
    assert filled == ["short", "King", "Bo", "Dee", "Fo"]


def test_the_only_column_that_is_partly_empty_need_not_be_the_last(run, tmp_path):
    (tmp_path / "t.csv").write_text("name,short,n\nAda King,King,1\nAl Bo,Bo,2\nCy Dee,,3\n")
    status, out, _ = run("fill", "t.csv", "--out", "o.csv")
    assert status == 0 and "short is filled, the only column that is partly empty" in out
    assert "Cy Dee,Dee,3" in (tmp_path / "o.csv").read_text()
    (tmp_path / "t.csv").write_text("name,middle,short\nAda King,X,\nAl Bo,Y,\nCy Dee,,\n")
    status, _, err = run("fill", "t.csv", "--in-place")  # the last is meant, most likely
    assert status == 2 and "partly empty: middle" in err


def test_a_name_with_a_comma(run, tmp_path):
    (tmp_path / "t.csv").write_text('"last, first",out\n"King, Ada",Ada\n"Bo, Al",\n')
    for source in ("last, first", "Last,  first", '"last, first"'):
        status, out, _ = run("fill", "t.csv", "--source", source)
        assert status == 0 and "program: last, first after" in out


def test_rows_without_a_text_get_a_new_column_too(run, tmp_path):
    (tmp_path / "t.csv").write_text("name,short\nAda King,King\nAl Bo,Bo\n,\n\nCy Dee,\n")
    run("fill", "t.csv", "--save-program", "p.json", "--confidence", "--out", "o.csv")
    rows = (tmp_path / "o.csv").read_text().splitlines()
    assert [row.count(",") for row in rows] == [2, 2, 2, 2, 0, 2]
    (tmp_path / "u.csv").write_text("n,name\n1,Ada King\n,\n\n2,Al Bo\n")
    out = run("fill", "apply", "p.json", "u.csv")[1]
    assert out == "n,name,short\n1,Ada King,King\n,,\n\n2,Al Bo,Bo\n"
