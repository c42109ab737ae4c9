"""Mistakes with `aloex fill`: one line each, and no file is touched."""

import gzip
import os
import zipfile

from commands import assert_mistakes_are_one_line

GOOD = b"name,short\na b,b\nc d,\n"
CSV = "save it as CSV (or read it with pandas, and use aloex.fill)"
NO_COLUMN = "no column has some cells with a text to learn from and some empty ones to fill"


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def test_what_is_read(tmp_path):
    contents = {
        "good.csv": GOOD,
        "old.xls": bytes.fromhex("d0cf11e0a1b11ae1") + bytes(100),
        "t.parquet": b"PAR1\x15\x04",
        "t.pdf": b"%PDF-1.7\n",
        "t.csv.gz": gzip.compress(GOOD),
        "nul.csv": b"a,b\nx\0y,y\nz,\n",
        "wide.csv": GOOD.decode().encode("utf-16-le"),
        "header.csv": b"name,short\n",
        "none.csv": b"name,short\na b,\nc d,\n",
        "one.csv": b"name,short\na b,b\n",
        "broken.csv": b'"full\nname","short\nname"\na b,b\nc d,\n',
        "twice.csv": b"name,x,x\na b,1,b\nc d,2,\n",
        "lone.csv": b'a,b\n"x y,y\np q,\n',
        "cut.csv": b'a,b\nx y,y\np q,"q',
        "excel.csv": b"sep=;\r\nname;short\r\na b;b\r\nc d;\r\n",
        "alone.csv": b"a,b\nx,\ny,\n",
    }
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    with zipfile.ZipFile(tmp_path / "book.xlsx", "w") as book:
        book.writestr("xl/workbook.xml", "<workbook/>")
    (tmp_path / "loop.csv").symlink_to("loop.csv")
    before = files(tmp_path)
    never = (
        "a field begins with a quote that is never closed; close it, or write a quote of the text"
    )
    cases = {
        ("",): "the path of the table is empty; give a file, or - for standard input",
        ("loop.csv",): "there is no file loop.csv; check the path",
        ("x" * 300,): "File name too long; choose a shorter path",
        ("/dev/null",): "/dev/null is empty",
        ("book.xlsx",): f"is a spreadsheet or another packed file, no table of text; {CSV}",
        ("old.xls",): f"old.xls is a spreadsheet in an old format, no table of text; {CSV}",
        ("t.parquet",): f"t.parquet is a Parquet file, no table of text; {CSV}",
        ("t.pdf",): "t.pdf is a PDF file, no table of text; save its table as CSV",
        ("t.csv.gz",): "t.csv.gz is packed with gzip, no table of text; unpack it first: gunzip",
        ("nul.csv",): "nul.csv has NUL bytes, so it is no table of text (the first is byte 6)",
        ("wide.csv",): "give --encoding utf-16",
        ("/dev/zero",): "/dev/zero, line 1 is longer than 67,108,864 bytes: this is no table",
        ("excel.csv",): "excel.csv begins with a line for Excel, 'sep=;'; remove that line",
        ("alone.csv",): f"{NO_COLUMN} (if the first row is no header: --no-header)",
        ("header.csv",): "header.csv has a header and no rows below it; write some, two or three",
        ("none.csv",): NO_COLUMN,
        ("one.csv",): NO_COLUMN,
        ("lone.csv",): f"lone.csv, line 2: {never}",
        ("cut.csv",): f"cut.csv, line 3: {never}",
        ("broken.csv", "--target", "fool\nname"): "there is no column 'fool name' (did you mean "
        "'full name'?); the columns are: 1 full name, 2 short name",
        ("twice.csv", "--target", "x"): "2 columns are called 'x'; say which by its number, 2 or 3",
        ("good.csv", "--target", ""): "there is no column ''; the columns are: 1 name, 2 short",
        ("good.csv", "--source", ""): "--source must name columns such as name,city; got ''",
    }
    assert_mistakes_are_one_line(("fill",), cases, tmp_path)
    assert files(tmp_path) == before


def test_what_is_written(tmp_path):
    (tmp_path / "t.csv").write_bytes(GOOD)
    (tmp_path / "link.csv").symlink_to("t.csv")
    (tmp_path / "loop.csv").symlink_to("loop.csv")
    program = b'{"aloex_fill": 1, "columns": ["name"], "program": {"op": "Cell", "column": 0}}'
    (tmp_path / "p.json").write_bytes(program)
    os.mkfifo(tmp_path / "pipe")
    before = files(tmp_path)
    over = "--save-program would write over the table"
    cases = {
        ("t.csv", "--out", ""): "--out is empty; give the path of a file, or - for standard output",
        ("t.csv", "--out", "."): "cannot write .: Is a directory",
        (
            "t.csv",
            "--out",
            "link.csv",
        ): "link.csv is the table itself; give --in-place to change it",
        ("t.csv", "--out", "loop.csv"): "the link leads back to itself; choose another path",
        ("t.csv", "--out", "o.XLSX"): "give --out a name that ends in .csv rather than .xlsx",
        ("t.csv", "--out", "x" * 300): "File name too long; choose a shorter path",
        ("pipe", "--in-place"): "--in-place needs a file, and pipe is none; give --out",
        ("t.csv", "--save-program", "t.csv"): f"{over} t.csv; give it another name",
        ("t.csv", "--save-program", "link.csv"): f"{over} t.csv; give it another name",
        ("t.csv", "--out", "o", "--save-program", "./o"): f"{over} o; give it another name",
        ("t.csv", "--in-place", "--save-program", "t.csv/p"): "cannot make the folder t.csv",
        ("t.csv", "--save-program", "-"): "--save-program needs a file, not standard output",
        ("apply", "p.json", "t.csv", "--out", "./p.json"): "./p.json is the program itself",
        ("apply", "p.json", "pipe", "--in-place"): "--in-place needs a file",
        ("apply", "p.json", "t.csv", "--target", "9"): "there is no column '9'",
        ("apply", ".", "t.csv"): "cannot read .: Is a directory",
    }
    assert_mistakes_are_one_line(("fill",), cases, tmp_path)
    assert files(tmp_path) == before
