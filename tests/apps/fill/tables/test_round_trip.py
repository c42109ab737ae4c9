"""Files as people have them: read, one column filled, every other byte as it was."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aloex.apps.fill.tables import filled_bytes, open_source, read_table
from aloex.apps.fill.tables.records import lines_of, quote, read_records, unquote
from aloex.base.errors import InputError

TEXTS = {  # the file, how it is told apart: delimiter, cells of its rows
    "a,b\nx y,y\np q,\n": (",", [["x y", "y"], ["p q", ""]]),
    "a;b\r\nx y;1,5\r\np q;2,5\r\n": (";", [["x y", "1,5"], ["p q", "2,5"]]),
    "a\tb\rx\t\ry\tz": ("\t", [["x", ""], ["y", "z"]]),
    "a|b\n x |y, z\nw| \n\n": ("|", [[" x ", "y, z"], ["w", " "]]),
    '"a","b"\n"x ""y"", z","1\r\n2"\n"w",""\n': (",", [['x "y", z', "1\r\n2"], ["w", ""]]),
    'a,b\n5" pipe,"x"y\n6",z\n': (",", [['5" pipe', "xy"], ['6"', "z"]]),
    "a,b\nDoe, John;\n": (",", [["Doe", " John;"]]),
    "a,b,c\nx\ny,1,2,3\n,,\nz,1\n": (",", [["x"], ["y", "1", "2", "3"], ["z", "1"]]),
}


def table_of(path, content: bytes, **how):
    path.write_bytes(content)
    source = open_source(str(path), **{"header": True, **how})
    with source.file:
        return read_table(source)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("text", TEXTS)
def test_a_table_is_read_and_written_as_it_was(text, encoding, tmp_path):
    delimiter, cells = TEXTS[text]
    content = text.replace("a", "ä").encode(encoding)
    table = table_of(tmp_path / "t.csv", content)
    assert table.delimiter == delimiter
    assert [row.cells for row in table.rows] == cells
    assert filled_bytes(table, []) == content


def test_only_the_target_changes(tmp_path):
    content = b'\xef\xbb\xbfname,"short" , note\r\n"A, B",,x\n C ,"","y"\r\n\r\nD'
    table = table_of(tmp_path / "t.csv", content)
    filled = filled_bytes(table, [(1, {0: "p", 1: 'q,"', 2: "r"}, "")])
    expected = b'\xef\xbb\xbfname,"short" , note\r\n"A, B",p,x\n C ,"q,""","y"\r\n\r\nD,r'
    assert filled == expected


def test_new_cells_are_in_quotes_where_the_others_are(tmp_path):
    table = table_of(tmp_path / "t.csv", b'"a","b"\n"x","y"\n"z",\n')
    assert filled_bytes(table, [(1, {1: "w"}, "")]) == b'"a","b"\n"x","y"\n"z","w"\n'
    new = filled_bytes(table, [(2, {0: "1", 1: "2"}, "c")])
    assert new == b'"a","b","c"\n"x","y","1"\n"z",,"2"\n'


@given(st.lists(st.text('ab,;"\n\r '), min_size=1, max_size=4), st.sampled_from(",;"))
def test_quoting_and_reading_are_inverse(cells, delimiter):
    fields = [quote(cell, delimiter) for cell in cells]
    (record,) = read_records(io.StringIO(delimiter.join(fields) + "\n", newline=""), delimiter)
    assert record.cells == cells


@given(st.lists(st.text('a,"\n\r', max_size=6), max_size=5))
def test_records_hold_every_character(blocks):
    """However the text is cut into blocks."""
    whole = "".join(blocks)
    assert "".join(lines_of(blocks)) == whole
    assert list(lines_of(blocks)) == list(io.StringIO(whole, newline=""))
    try:
        records = list(read_records(lines_of(blocks), ","))
    except InputError as error:
        assert "never closed" in str(error)
    else:
        assert "".join(",".join(r.fields) + r.end for r in records) == whole


def test_a_field_of_any_length_is_read(tmp_path):
    long = "x" * 200_000
    table = table_of(tmp_path / "t.csv", f'a,b\n{long},\n"{long},",\n'.encode())
    assert [row.cells[0] for row in table.rows] == [long, long + ","]


def test_what_is_no_closed_quote_stays():
    assert unquote('"a') == '"a' and unquote('a"') == 'a"' and unquote('"a" b') == "a b"


def test_bytes_of_an_old_encoding_are_guessed_and_kept(tmp_path):
    content = "name,short\nJosé Peña,José\nRenée,\n".encode("cp1252")
    table = table_of(tmp_path / "t.csv", content)
    assert table.encoding.guessed and table.encoding.name == "cp1252"
    assert table.column(0) == ["José Peña", "Renée"]
    assert filled_bytes(table, []) == content
    with pytest.raises(InputError, match=r"'→' \(U\+2192\) cannot be written in cp1252"):
        filled_bytes(table, [(1, {1: "→"}, "")])


WRONG = {
    b"": "is empty",
    b"\n \n,\n": "is empty",
    b"PK\x03\x04\x00\x00": "a spreadsheet or another packed file, .* save it as CSV",
    b"\x1f\x8b\x08\x00": "packed with gzip, .* unpack it first",
    b"a,b\nx\0,y\n": r"NUL bytes, .* \(the first is byte 6\); if it is UTF-16 .* remove them",
    b'a,b\nx,"y\nz,w\n': "line 2: a field begins with a quote that is never closed",
    b"a,b\n": "a header and no rows below it; write some",
}


@pytest.mark.parametrize("content", WRONG)
def test_what_is_no_table_is_told(content, tmp_path):
    with pytest.raises(InputError, match=WRONG[content]):
        table_of(tmp_path / "t.csv", content)


def test_an_endless_line_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr("aloex.apps.fill.tables.records.MAX_RECORD", 2000)
    with pytest.raises(InputError, match=r"line 2 is longer than 2,000 characters"):
        table_of(tmp_path / "t.csv", b"a,b\n" + b"x" * 3000)
    lines = b'x,"' + b"\n" * 3000
    with pytest.raises(InputError, match=r"line 2: .* never closed"):
        table_of(tmp_path / "t.csv", b"a,b\n" + lines)


HOW = {
    ("encoding", "utf-9"): "there is no encoding 'utf-9'",
    ("encoding", "hex"): "there is no encoding 'hex'",
    ("encoding", "utf-8"): r"byte 6 \(0xE9\) is no utf-8",
    ("delimiter", "ab"): "must be one character",
    ("delimiter", '"'): "must be one character",
}


@pytest.mark.parametrize("how", HOW)
def test_what_is_told_wrongly(how, tmp_path):
    with pytest.raises(InputError, match=HOW[how]):
        table_of(tmp_path / "t.csv", b"a,b\nR\xe9,c\n", **dict([how]))


def test_delimiter_and_encoding_can_be_told(tmp_path):
    content = "a b\nč 1\n".encode("cp1250")
    table = table_of(tmp_path / "t.csv", content, delimiter="space", encoding="cp1250")
    assert table.rows[0].cells == ["č", "1"] and filled_bytes(table, []) == content
    wide = table_of(tmp_path / "u.csv", "a,b\nč,1\n".encode("utf-16-le"), encoding="utf-16")
    assert wide.rows[0].cells == ["č", "1"]
