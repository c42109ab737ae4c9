"""Records in blocks are those read line by line, however the file is cut; and work is bounded."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aloex.apps.fill.tables import open_source, read_table, records
from aloex.apps.fill.tables import source as source_file
from aloex.apps.fill.tables.blocks import record_blocks
from aloex.apps.fill.tables.records import is_blank, lines_of, read_records, splitter
from aloex.base.errors import InputError

PIECES = st.sampled_from(['a,"', '"', '""', ",", "\n", "\r", "\r\n", "b", "x y,z\n", "p,q\r\n"])
TEXTS = st.lists(st.lists(PIECES, max_size=6).map("".join), max_size=6)


@given(TEXTS)
def test_blocks_are_the_records_of_all_lines(texts):
    def found(read):
        try:
            return [tuple(record) for record in read()]
        except InputError as error:
            return str(error)

    whole = io.StringIO("".join(texts), newline="")
    by_lines = found(lambda: read_records(whole, ","))
    blocks = found(lambda: (r for b in record_blocks(texts, ",") for r in b.records()))
    assert blocks == by_lines


@given(TEXTS)
def test_a_table_is_its_records(texts):
    content = "".join(texts)
    rows = [r for r in _records(content) if not r.is_blank]
    if not rows:
        return
    table = _table(content)
    number = max(len(row.fields) for row in rows)
    columns = [[(row.cells + [""] * number)[i] for row in rows] for i in range(number)]
    assert [list(row.cells) for row in table.rows] == [row.cells for row in rows]
    assert table.columns(range(number)) == columns
    assert table.column(number + 3) == [""] * len(rows)
    assert list(table.lines) == [row.line for row in rows]
    assert table.has_text == [any(map(str.strip, cells)) for cells in columns]
    assert table.has_blank == [not all(map(str.strip, cells)) for cells in columns]


def _records(content):
    try:
        return list(read_records(lines_of([content]), ","))
    except InputError:
        return []


def _table(content):
    """Read in blocks of five bytes, so that all that can be cut is cut."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source_file, "BLOCK", 5)
        file = io.BytesIO(content.encode())
        patch.setattr(source_file, "_open", lambda path: file)
        return read_table(open_source("t.csv", delimiter=",", header=False))


def test_quotes_that_close_and_open_again_are_read_once(monkeypatch):
    """A record of a thousand lines, each of which ends a field in quotes and begins another."""
    num_chars, split = [], splitter(",")
    monkeypatch.setattr(
        records, "splitter", lambda mark: lambda text: num_chars.append(len(text)) or split(text)
    )
    lines = ['x,"a\n', *['b","c\n'] * 1000, 'd"\n']
    (record,) = read_records(lines, ",")
    assert len(record.fields) == 1002 and record.cells[1:3] == ["a\nb", "c\nb"]
    assert sum(num_chars) < 4 * sum(map(len, lines))


def test_a_quote_that_is_never_closed_stops_at_the_limit(monkeypatch):
    """What comes after it is not read to its end."""
    monkeypatch.setattr(records, "MAX_RECORD", 1000)
    taken = []

    def texts():
        yield 'a,b\nc,"d\n'
        for _ in range(10_000):
            taken.append(1)
            yield "e,f\n" * 10

    with pytest.raises(InputError, match="line 2: a field begins with a quote"):
        list(record_blocks(texts(), ","))
    assert len(taken) < 50


def test_a_block_does_not_grow_where_every_record_goes_on(monkeypatch):
    texts = ['"a', *['\nb","c'] * 200, '"\n']
    texts = [text.replace('","', '"\n"') for text in texts]
    blocks = list(record_blocks(texts, ","))
    assert sum(len(block.fields) for block in blocks) == 201
    assert max(len(block.fields) for block in blocks) <= 2


def test_few_long_lines_show_the_delimiter(tmp_path, monkeypatch):
    """A hundred lines of megabytes are not read for it."""
    monkeypatch.setattr(source_file, "NUM_CHARS", 1000)
    monkeypatch.setattr(source_file, "BLOCK", 100)
    path = tmp_path / "t.csv"
    path.write_text("a;b\n" + f"{'x' * 400};y\n" * 90 + '"never closed')
    with (source := open_source(str(path), header=True)).file:
        assert source.delimiter == ";" and source.names == ["a", "b"]
        assert source.file.tell() < 3000


def test_bytes_that_are_no_text_are_told_wherever_they_are(tmp_path, monkeypatch):
    monkeypatch.setattr("aloex.apps.fill.tables.encoding.BLOCK", 100)
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n" * 1000 + b"\xff\x00\x01")
    with pytest.raises(InputError, match=r"NUL bytes.* \(the first is byte 4002\)"):
        open_source(str(path))


def test_blank_fields():
    assert is_blank(["", ' ""', '" "']) is False and is_blank(["", '" "'])
