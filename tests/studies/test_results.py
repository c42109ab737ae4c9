"""Result files: what is kept, what is replaced, what is said of files that hold no rows."""

import json

import pytest

from aloex.base.errors import InputError
from studies import results


def test_a_new_row_takes_the_place_of_the_old_one_with_its_keys(tmp_path):
    path = tmp_path / "rows.json"
    row = lambda method, seed, value: {"method": method, "seed": seed, "value": value}
    results.save(path, [row("a", 0, 1), row("a", 1, 2)], ("method", "seed"))
    results.save(path, [row("a", 1, 3), row("b", 0, 4)], ("method", "seed"))
    found = {(r["method"], r["seed"]): r["value"] for r in results.read(path)}
    assert found == {("a", 0): 1, ("a", 1): 3, ("b", 0): 4}
    assert len(results.read(path)) == 3  # no row is there twice


def test_of_rows_with_the_same_keys_in_one_call_the_last_stays(tmp_path):
    path = tmp_path / "rows.json"
    results.save(path, [{"seed": 0, "value": 1}, {"seed": 0, "value": 2}], ("seed",))
    assert [row["value"] for row in results.read(path)] == [2]


def test_rows_of_several_files_are_there_once(tmp_path):
    """A piece of a long run may have the rows of the pieces before."""
    for name, values in {"one": [1, 2], "two": [3]}.items():
        rows = [{"seed": seed, "value": value} for seed, value in enumerate(values)]
        results.save(tmp_path / name, rows, ("seed",), quiet=True)
    joined = results.join([tmp_path / "one", tmp_path / "two"], ("seed",))
    assert [(row["seed"], row["value"]) for row in joined] == [(0, 3), (1, 2)]
    assert all("command" in row for row in joined)


def test_rows_remember_their_sources(tmp_path, capsys):
    path = tmp_path / "deep/rows.json"
    results.save(path, [{"seed": 0}], ("seed",))
    results.save(path, [{"seed": 1, "command": "made elsewhere"}], ("seed",), quiet=True)
    assert capsys.readouterr().out == f"wrote {path}\n"
    first, second = results.read(path)
    assert first["command"] != second["command"] == "made elsewhere"
    assert {"versions", "machine"} <= first.keys()
    assert len(json.loads(path.read_text())["sources"]) == 2


def test_a_command_names_the_file_that_its_rows_are_in(tmp_path):
    row = {"k": 1, "command": "python -m studies.x run 'a b' --out elsewhere/rows.json --seed 1"}
    path = tmp_path / "rows.json"
    results.save(path, [row, {"k": 2, "command": "x --out"}], ("k",), quiet=True)
    found = [row["command"] for row in results.read(path)]
    assert found == [f"python -m studies.x run 'a b' --out {path} --seed 1", "x --out"]


@pytest.mark.parametrize(
    "text", ["", "[]", '{"rows": [{}]}', '{"sources": [], "rows": [{"source": 3}]}']
)
def test_files_without_rows(tmp_path, text):
    path = tmp_path / "rows.json"
    with pytest.raises(InputError, match="no results in"):
        results.read(path)
    path.write_text(text)
    with pytest.raises(InputError, match="holds no rows of results"):
        results.read(path)
