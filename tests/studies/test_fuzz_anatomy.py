"""What one fuzzer reaches and another does not, by function."""

import os
from pathlib import Path

import numpy as np
import pytest

from aloex.apps.fuzz.execute import Executor
from aloex.apps.fuzz.target import TargetRecipe, build_target
from aloex.base.errors import InputError
from fuzz_targets import HERE, with_seeds
from studies import results
from studies.fuzz import anatomy
from studies.fuzz.__main__ import app

CORE = min(os.sched_getaffinity(0))


@pytest.fixture(scope="module")
def target(clang, tmp_path_factory):
    """stairs.c, for libFuzzer and us."""
    recipe = TargetRecipe(name="stairs", folder=HERE, harness=["stairs.c"], max_len=64)
    folder = tmp_path_factory.mktemp("stairs")
    return with_seeds(build_target(recipe, folder, sanitizers=False))


def test_each_edge_has_a_function(target):
    names = anatomy.functions_of(target.library)
    with Executor(target, workers=1) as executor:
        assert len(names) == executor.num_edges
    assert "LLVMFuzzerTestOneInput" in names
    with pytest.raises(InputError, match="does not say where its edges are; build it again"):
        anatomy.functions_of(Path("/bin/sh"))


def test_functions_by_hand():
    seen = lambda text: np.array([letter == "x" for letter in text])
    assert anatomy.by_function([*"aabbcc"], seen("xx-x-x"), seen("xx--xx")) == [
        {"name": "b", "edges": 2, "ours": 1, "theirs": 0},
        {"name": "c", "edges": 2, "ours": 1, "theirs": 2},
    ]


def test_rows_add_up(target, tmp_path, capsys):
    out = tmp_path / "rows.json"
    words = ["anatomy", "--targets", str(target.library.parent), "--seconds", "2"]
    app([*words, "--cores", str(CORE), "--out", str(out)], standalone_mode=False)
    (row,) = results.read(out)
    assert f"stairs: {row['both']} by both" in capsys.readouterr().err
    more = sum(f["ours"] - f["theirs"] for f in row["functions"])
    assert row["both"] > 0 and more == row["ours"] - row["theirs"]
    assert all(max(f["ours"], f["theirs"]) <= f["edges"] for f in row["functions"])
