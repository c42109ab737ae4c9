"""`--in-place` on a table that somebody else changes meanwhile: nothing is lost."""

import os
import threading

import pytest

from aloex.apps.fill import tables

NAMES = "name,short\nAda King,King\nAl Bo,Bo\nCy Dee,\n"
MINE = "name,short\nAda King,King\nAl Bo,Bo\nCy Dee,D!\n"


@pytest.fixture
def folder(tmp_path, run):
    """A folder with a table and a program."""
    (tmp_path / "t.csv").write_text(NAMES)
    assert run("fill", "t.csv", "--save-program", "p.json")[0] == 0
    return tmp_path


def written(path):
    path.write_text(MINE)


def replaced(path):
    new = path.with_name("new")
    new.write_text(MINE)
    os.replace(new, path)


def of_the_same_size(path):
    path.write_text(MINE.replace("!\n", "\n"))
    path.write_text(NAMES.replace("Al", "Ed"))


def removed(path):
    path.unlink()


@pytest.mark.parametrize("words", [("fill",), ("fill", "apply", "p.json")])
@pytest.mark.parametrize("change", [written, replaced, of_the_same_size, removed])
def test_a_change_meanwhile_stays(folder, run, monkeypatch, words, change):
    path, opened = folder / "t.csv", tables.open_output

    def after_a_change(*given):
        change(path)
        return opened(*given)

    monkeypatch.setattr(tables, "open_output", after_a_change)
    monkeypatch.setattr("aloex.apps.fill.tables.output.open_output", after_a_change)
    status, _, err = run(*words, "t.csv", "--in-place")
    assert status == 2 and err.count("\n") == 1
    assert "t.csv has changed since it was read: it is left as it is now" in err
    other = {written: MINE, replaced: MINE, of_the_same_size: NAMES.replace("Al", "Ed")}
    assert (path.read_text() if path.exists() else None) == other.get(change)
    assert sorted(each.name for each in folder.iterdir() if each != path) == ["p.json"]


def test_another_file_may_change(folder, run):
    (folder / "o.csv").write_text("old")
    assert run("fill", "t.csv", "--out", "o.csv")[0] == 0
    assert (folder / "o.csv").read_text().endswith("Cy Dee,Dee\n")


def test_two_at_once(folder):
    """Of two that have read a table, the second to end is told."""
    path, errors = folder / "t.csv", []
    state = tables.open_source(str(path)).state

    def write(text):
        try:
            tables.write_output(str(path), [text.encode()], state)
        except OSError as error:
            errors.append(str(error))

    for text in ("one", "two"):
        thread = threading.Thread(target=write, args=(text,))
        thread.start()
        thread.join()
    assert path.read_text() == "one" and len(errors) == 1
