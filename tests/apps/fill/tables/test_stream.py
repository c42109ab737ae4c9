"""Tables of any length through a function, and where they are written."""

import io

import pytest

from aloex.apps.fill.expressions import many_rows
from aloex.apps.fill.tables import apply_to_table, open_output, open_source
from aloex.apps.fill.tables import source as source_file
from aloex.apps.fill.tables.output import check_output, is_formula
from aloex.base.errors import InputError


def applied(path, content, function, columns=(0,), target=1, **how):
    path.write_bytes(content)
    source, out = open_source(str(path), **{"header": True, **how}), io.BytesIO()
    with source.file:
        done = apply_to_table(source, out, function, columns, target, "new")
    return out.getvalue(), done


def first_letter(row):
    return row[0][:1] or None


def test_empty_cells_are_filled_and_all_else_stays(tmp_path):
    content = b'\xef\xbb\xbfa;b;c\r\nxx;;"1"\r\nyy;kept;2\n\r\n;;\r\n;;3\r\nzz\r\n"q;q"; ;'
    expected = b'\xef\xbb\xbfa;b;c\r\nxx;x;"1"\r\nyy;kept;2\n\r\n;;\r\n;;3\r\nzz;z\r\n"q;q";q;'
    out, done = applied(tmp_path / "t.csv", content, first_letter)
    assert out == expected
    assert (done.num_filled, done.num_kept, done.num_empty, done.first_empty) == (3, 1, 1, 6)


def test_a_new_column_goes_to_the_end_of_every_row(tmp_path):
    content = b'\n"a","b"\n"x, y","1"\n\n"","2"\n'
    out, done = applied(tmp_path / "t.csv", content, first_letter, target=2)
    assert out == b'\n"a","b","new"\n"x, y","1","x"\n\n"","2",\n'
    assert (done.num_filled, done.num_empty) == (1, 1)


def test_several_columns_and_outputs_that_need_quotes(tmp_path):
    out, done = applied(tmp_path / "t.csv", b"a,b,c\n1,,2\n3,,4\n", ", ".join, columns=(0, 2))
    assert out == b'a,b,c\n1,"1, 2",2\n3,"3, 4",4\n'
    assert done.num_filled == 2


def test_blocks_and_the_memory_of_outputs_change_nothing(tmp_path, monkeypatch):
    rows = [f'"{i % 7}\nx, ü",,{i}\r\n' for i in range(50)]
    content = "".join(["a,b,c\r\n", *rows]).encode()
    whole, calls = applied(tmp_path / "t.csv", content, first_letter), []
    limits = [(many_rows, "MAX_SIZE"), (many_rows, "TRIAL"), (source_file, "BLOCK")]
    for limit in (limits[:1], limits[1:2], limits[2:], limits):
        for place, name in limit:
            monkeypatch.setattr(place, name, 3)
        assert applied(tmp_path / "t.csv", content, first_letter) == whole
        monkeypatch.undo()
    applied(tmp_path / "t.csv", content, lambda row: calls.append(row))
    assert len(calls) == 7  # cells that repeat are computed once


def test_cells_that_are_not_read(tmp_path):
    out, _ = applied(tmp_path / "t.csv", b"a,b\n1,\n2,\n", "|".join, columns=(None, 0, None))
    assert out == b"a,b\n1,|1|\n2,|2|\n"
    out, done = applied(tmp_path / "t.csv", b"a,b\r\n1,\r\n,\r\n\r\n2,x\r\n", lambda row: "c", ())
    assert out == b"a,b\r\n1,c\r\n,\r\n\r\n2,x\r\n"  # even a constant leaves blank rows alone
    assert (done.num_filled, done.num_kept, done.num_empty, done.num_rows) == (1, 1, 0, 2)


def test_progress_ends_with_all_bytes_and_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(source_file, "BLOCK", 8)
    path, told = tmp_path / "t.csv", []
    path.write_text("a,b\n" + "x,\n" * 20)
    with (source := open_source(str(path), header=True)).file:
        tell = lambda *done: told.append(done)
        apply_to_table(source, io.BytesIO(), first_letter, (0,), 1, "", progress=tell)
    assert told[-1] == (path.stat().st_size, 20) and len(told) > 5 and told == sorted(told)


def test_formulas_are_noted(tmp_path):
    out, done = applied(tmp_path / "t.csv", b"a,b\n-1,\n=A1,\n@x,\n", lambda row: row[0])
    assert done.first_formula == (3, "=A1") and b"=A1,=A1" in out


@pytest.mark.parametrize("text", ["=1+2", "+x", "-x", "@sum", "-(3)", "=5"])
def test_formulas(text):
    assert is_formula(text)


@pytest.mark.parametrize("text", ["", "-", "-1", "+1,000.50", "-3%", "a=b", "+49 170 123"])
def test_no_formulas(text):
    assert not is_formula(text)


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    old = tmp_path / "old.csv"
    old.write_text("old")
    old.chmod(0o640)
    link = tmp_path / "link.csv"
    link.symlink_to(old)
    for error in (KeyboardInterrupt, InputError):
        with pytest.raises(error), open_output(str(link)) as file:
            file.write(b"half")
            raise error
        assert old.read_text() == "old"
    with open_output(str(link)) as file:
        file.write(b"new")
    assert old.read_text() == "new" and link.is_symlink() and old.stat().st_mode & 0o777 == 0o640
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.csv", "old.csv"]


def test_the_table_itself_is_not_touched_unasked(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a")
    (tmp_path / "link").symlink_to(path)
    with pytest.raises(InputError, match="give --in-place"):
        check_output(str(tmp_path / "link"), str(path), in_place=False)
    check_output(str(path), str(path), in_place=True)
    check_output(str(tmp_path / "new.csv"), str(path), in_place=False)
