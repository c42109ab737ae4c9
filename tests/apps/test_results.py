"""Files of results: rows come back as they were, and what they share is written once."""

import json

import pytest

from aloex.apps import results
from aloex.errors import InputError

MADE = {"command": "aloex x", "versions": {"python": "3"}, "machine": "m"}
ROWS = [
    {"method": "a", "trial": 0, "edges": 5, "on": True, **MADE},
    {"method": "b", "trial": 0, "edges": 6, "loss": None, "parts": [1, 2], **MADE},
    {"method": "a", "trial": 1, "edges": 7, "on": False, **MADE},
]
KEYS = ("method", "trial")


def by_key(rows):
    return {(row["method"], row["trial"]): row for row in rows}


def test_rows_come_back(tmp_path):
    path = tmp_path / "r.json"
    results.save(path, ROWS, KEYS, quiet=True)
    assert by_key(results.read(path)) == by_key(ROWS)
    text = path.read_text()
    assert text.count("aloex x") == 2 and text.count("edges") == 2  # once for each method
    assert "\n   [1, 7, false]" in text  # a line a row
    results.save(path, results.read(path), KEYS, quiet=True)
    assert path.read_text() == text

    results.save(path, [{**ROWS[0], "edges": 9}], KEYS, quiet=True)
    changed = by_key([{**ROWS[0], "edges": 9}, *ROWS[1:]])
    assert by_key(results.read(path)) == changed
    results.save(path, [{"method": "c", "trial": 0}], KEYS, quiet=True)
    new = by_key(results.read(path))["c", 0]
    assert {"command", "versions", "machine"} < new.keys() and len(results.read(path)) == 4

    results.save(tmp_path / "none.json", [], KEYS, quiet=True)
    assert results.read(tmp_path / "none.json") == []


def test_files_as_they_were_written_at_first(tmp_path):
    old = [{k: v for k, v in row.items() if k not in MADE} | {"source": 0} for row in ROWS]
    (tmp_path / "r.json").write_text(json.dumps({"sources": [MADE], "rows": old}))
    assert by_key(results.read(tmp_path / "r.json")) == by_key(ROWS)


def test_no_rows(tmp_path):
    with pytest.raises(InputError, match="there are no results in"):
        results.read(tmp_path / "r.json")
    for text in ("[]", "{", '{"blocks": [{"all": {}, "columns": ["a"], "rows": [[1, 2]]}]}'):
        (tmp_path / "r.json").write_text(text)
        with pytest.raises(InputError, match="holds no rows of results"):
            results.read(tmp_path / "r.json")
