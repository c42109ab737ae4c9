"""Coverage at equal executions: rows that can be repeated, and what stands in them."""

import shutil
from pathlib import Path

import pytest

from aloex.apps.fuzz.campaign import CampaignSettings, open_campaign
from aloex.apps.fuzz.execute import Executor
from aloex.apps.fuzz.target import Target
from aloex.base.errors import InputError
from studies import results
from studies.fuzz import equal
from studies.fuzz.rivals import libfuzzer

SEED = b"--------"


@pytest.fixture
def folder(stairs, tmp_path):
    """stairs.c as a built target with a seed."""
    (tmp_path / "built/seeds").mkdir(parents=True)
    (tmp_path / "built/seeds/a").write_bytes(SEED)
    files = {
        name: tmp_path / "built" / getattr(stairs, name).name for name in ("library", "fuzzer")
    }
    for name, path in files.items():
        shutil.copy2(getattr(stairs, name), path)
    Target("stairs", seeds=tmp_path / "built/seeds", max_len=4096, **files).save(tmp_path / "built")
    return str(tmp_path / "built")


def make(folder, out, *methods, **changes) -> list:
    told: list[str] = []
    how = {"trials": [3], "cores": [0], "counts": (300, 100), "tell": told.append, **changes}
    assert equal.make([folder], methods, out, **how) == 0
    return told


def test_rows(folder, stairs, tmp_path):
    out = tmp_path / "rows.json"
    assert len(make(folder, out, "aloex", "libfuzzer")) == 4
    rows = {(row["method"], row["inputs"]): row for row in results.read(out)}
    assert {row["mode"] for row in rows.values()} == {"feedback"}
    assert {row["trial"] for row in rows.values()} == {3}
    settings = CampaignSettings(folder, seed=3, out=tmp_path / "campaign", workers=1)
    with open_campaign(settings) as campaign:
        campaign.run(num_inputs=300)
        assert rows["aloex", 300]["edges"] == campaign.record.now.edges
    with Executor(stairs, workers=1) as executor:
        executor.run([SEED, *libfuzzer(campaign.target, 100, seed=4)])
        assert rows["libfuzzer", 100]["edges"] == executor.edges
    assert make(folder, out, "aloex", "libfuzzer") == []  # all was there


def test_mistakes_are_told(folder, tmp_path):
    out = tmp_path / "rows.json"
    for methods, changes, words in (
        (["afl"], {}, r"no fuzzer 'afl'; choose one of aloex, libfuzzer, aflpp"),
        (["aloex+masked"], {}, "needs --models FOLDER"),
        (["aloex+masked"], {"models": Path("none")}, "there is no model none/stairs.masked"),
        (["aloex"], {"counts": (0, 5)}, "must be positive, got"),
    ):
        with pytest.raises(InputError, match=words):
            make(folder, out, *methods, **changes)
