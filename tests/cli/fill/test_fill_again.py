"""A table filled with `--confidence`, corrected by a person or a spreadsheet, and filled again."""

import re

import pytest

NAMES = (
    "name;short\nAda Lovelace;A. Lovelace\nGrace Hopper;G. Hopper\nAlan Turing;\n"
    "Mary Ann Lee;\nJohn Paul Jones;\nBob Bee;\n"
)
CORRECTED = "corrected since the last time, so examples now: "
MARK = re.compile(r"0\.\d{6}\b")


@pytest.fixture
def path(tmp_path, run):
    """A table that has been filled once, with two rows in doubt."""
    path = tmp_path / "t.csv"
    path.write_text(NAMES)
    assert run("fill", "t.csv", "--confidence", "--in-place")[0] == 0
    return path


def change(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def cells(path):
    return {row.split(";")[0]: row.split(";")[1:] for row in path.read_text().splitlines()}


def test_marks(path):
    marks = [MARK.fullmatch(row[1]) is not None for row in cells(path).values()]
    assert marks == [False, False, False, True, True, True, True]
    assert cells(path)["Alan Turing"][1].startswith("0.99")
    assert cells(path)["Mary Ann Lee"] == ["M. Lee", "0.803611"]
    assert not re.search(r"0\.\d{5}0", path.read_text())  # a spreadsheet would drop the zero


def test_a_correction_that_is_marked_is_the_only_one(path, run):
    change(path, "M. Lee;0.803611", "M. Ann Lee;given")
    _, out, _ = run("fill", "t.csv", "--in-place")
    assert CORRECTED not in out and "from 3 examples" in out
    assert cells(path)["John Paul Jones"][0] == "J. Paul Jones"


def test_only_what_was_changed_is_corrected(path, run):
    change(path, "M. Lee;", "M. Ann Lee;")
    _, out, _ = run("fill", "t.csv", "--in-place")
    assert f"{CORRECTED}line 5\n" in out and "from 3 examples" in out
    assert cells(path)["Mary Ann Lee"] == ["M. Ann Lee", "given"]
    assert cells(path)["John Paul Jones"][0] == "J. Paul Jones"


@pytest.mark.parametrize("row", ["Jo Ann Fox;J. Ann Fox", "Jo Ann Fox;J. Ann Fox;given"])
def test_a_row_is_added(path, run, row):
    path.write_text(f"{path.read_text()}{row}\nCy Dee;\nEd Fo\n")
    _, out, _ = run("fill", "t.csv", "--in-place")
    assert CORRECTED not in out and "from 3 examples" in out
    assert cells(path)["Jo Ann Fox"] == ["J. Ann Fox", "given"]
    assert cells(path)["Mary Ann Lee"][0] == "M. Ann Lee"
    assert cells(path)["Cy Dee"][0] == "C. Dee" and cells(path)["Ed Fo"][0] == "E. Fo"


def test_an_example_is_changed(path, run):
    change(path, "A. Lovelace", "Lovelace A.")
    change(path, "G. Hopper", "Hopper G.")
    _, out, _ = run("fill", "t.csv", "--in-place")
    assert CORRECTED not in out and "from 2 examples" in out
    assert cells(path)["Bob Bee"][0] == "Bee B."


def test_cells_that_are_emptied_are_filled_again(path, run):
    before = path.read_text()
    change(path, "M. Lee;", ";")
    change(path, cells(path)["Bob Bee"][1], "")
    change(path, "B. Bee", "")
    _, out, _ = run("fill", "t.csv", "--in-place")
    assert CORRECTED not in out and path.read_text() == before


@pytest.mark.parametrize(
    "rewritten",
    [
        lambda mark: mark.replace(".", ","),
        lambda mark: f" {mark}  ",
        lambda mark: mark.removeprefix("0"),
        lambda mark: f"{mark[2:4]}.{mark[4:]}%",
        lambda mark: f"{mark[2:4]},{mark[4:]} %",
        lambda mark: f"{float(mark):.5E}",
        lambda mark: f"{mark}0",
    ],
)
def test_what_spreadsheets_make_of_numbers(path, run, rewritten):
    before = path.read_text()
    path.write_text(MARK.sub(lambda match: rewritten(match[0]), before))
    status, out, _ = run("fill", "t.csv", "--in-place")
    assert status == 0 and CORRECTED not in out and "from 2 examples" in out
    assert path.read_text() == before


@pytest.mark.parametrize("mark", ["0.62", "0.6", "1", "62%", "62.48%", "sure", "-0.62"])
def test_what_is_no_mark_is_told_and_nothing_is_written(path, run, mark):
    change(path, "0.803611", mark)
    before = path.read_text()
    status, _, err = run("fill", "t.csv", "--in-place")
    words = (
        f"line 5 of t.csv has '{mark}' in the column 'short confidence', which should have 'given'"
    )
    assert status == 2 and words in err and "write given if" in err and "clear both cells" in err
    assert path.read_text() == before


def test_a_table_that_has_lost_its_examples(path, run):
    change(path, "given", "0.991111")
    assert (
        "from 2 examples" in run("fill", "t.csv")[1]
    )  # their sums do not fit: a person wrote them
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([lines[0], *lines[3:]]))
    status, _, err = run("fill", "t.csv", "--in-place")
    assert status == 2 and "no row is marked 'given' in the column of confidence" in err


def test_a_table_without_a_header(path, run):
    path.write_text(NAMES.partition("\n")[2])
    words = ("fill", "t.csv", "--no-header", "--target", "2", "--in-place")
    run(*words, "--confidence")
    first = path.read_text()
    assert "M. Lee;0.803611\n" in first
    assert "from 2 examples" in run(*words)[1] and path.read_text() == first
    change(path, "M. Lee;", "M. Ann Lee;")
    assert f"{CORRECTED}line 4\n" in run(*words)[1]
    change(path, "M. Ann Lee;given", "M. Ann Lee;0.62")
    status, _, err = run(*words)
    assert status == 2 and "line 4 of t.csv has '0.62'" in err


def test_rows_without_an_answer(tmp_path, run):
    path = tmp_path / "t.csv"
    path.write_text("name,short\nAda King,King\nAl Bo,Bo\n?,\n,\n")
    run("fill", "t.csv", "--confidence", "--in-place")
    assert path.read_text().endswith("?,,0.000001\n,,\n")  # as wide as the other rows
    change(path, "0.000001", "1E-06")
    _, out, _ = run("fill", "t.csv", "--in-place")
    assert CORRECTED not in out and "from 2 examples" in out


@pytest.mark.parametrize("marks", [("high", "low", "high"), ("0.9", "0.8", "0.7"), ("1", "", "x")])
def test_a_column_of_that_name_that_is_the_users_own(tmp_path, run, marks):
    path = tmp_path / "t.csv"
    rows = zip(("Ada King,King", "Al Bo,Bo", "Cy Dee,"), marks, strict=True)
    text = "name,short,short confidence\n" + "".join(f"{row},{mark}\n" for row, mark in rows)
    path.write_text(text)
    assert run("fill", "t.csv", "--target", "short", "--source", "name", "--in-place")[0] == 0
    assert path.read_text() == text.replace("Dee,,", "Dee,Dee,")
    path.write_text(text)
    status, _, err = run("fill", "t.csv", "--target", "short", "--confidence", "--in-place")
    assert (
        status == 2 and "has a column 'short confidence' of its own" in err and "rename it" in err
    )
    assert path.read_text() == text


def test_it_is_read_like_any_other(tmp_path, run):
    (tmp_path / "t.csv").write_text("n,x,x confidence\n1,H!,h\n2,L!,l\n3,,h\n4,,l\n")
    _, out, _ = run("fill", "t.csv", "--target", "x", "--out", "o.csv")
    assert "x confidence" in out
    assert (tmp_path / "o.csv").read_text().endswith("3,H!,h\n4,L!,l\n")


def test_an_empty_column_of_that_name_is_written(tmp_path, run):
    path = tmp_path / "t.csv"
    path.write_text("name,short,short confidence\nAda King,King,\nAl Bo,Bo,\nCy Dee,,\n")
    assert run("fill", "t.csv", "--target", "short", "--confidence", "--in-place")[0] == 0
    assert path.read_text().count("given") == 2 and re.search("Dee,Dee,0.99", path.read_text())


AGAIN = "of t.csv, and run this again"
BY_HAND = (
    "next: correct short for Mary Ann Lee in line 5 of t.csv by hand; for other rows to follow "
    "from a correction, fill with --confidence from the start"
)


def test_the_advice_fits_what_was_written(tmp_path, run):
    for words, advice in {
        (): AGAIN,
        ("--out", "o.csv"): AGAIN,  # the table itself has its examples only
        ("--confidence", "--out", "o.csv"): "and run aloex fill o.csv --in-place",
        ("--in-place",): BY_HAND,
    }.items():
        (tmp_path / "t.csv").write_text(NAMES)
        last = run("fill", "t.csv", *words)[1].splitlines()[-1]
        assert last.startswith("next: ") and last.endswith(advice)
