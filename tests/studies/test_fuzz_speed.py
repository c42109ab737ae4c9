"""Where the time of a campaign goes: the rows, and what of a campaign is replayed."""

from itertools import pairwise

import numpy as np
import pytest

from aloex.apps.fuzz.campaign import Campaign
from aloex.apps.fuzz.execute import run_together
from aloex.apps.fuzz.inputs import ExitStatus
from fuzz_targets import build_small, with_seeds
from studies import results
from studies.fuzz import speed
from studies.fuzz.__main__ import app


@pytest.fixture(scope="module")
def target(clang, tmp_path_factory):
    return with_seeds(build_small("heavy", tmp_path_factory.mktemp("heavy")))


def test_rows_of_a_target(target, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(speed, "NUM_TIMED", 200)
    out, folder = tmp_path / "rows.json", str(target.library.parent)
    words = ["speed", "--targets", folder, "--seconds", "1", "--trials", "2", "--out", str(out)]
    app(words, standalone_mode=False)
    rows = results.read(out)
    assert [(row["case"], row["target"], row["trial"]) for row in rows] == [
        *(("outside", "heavy", trial) for trial in range(2)),
        *(("workers", "heavy", trial) for trial in range(2)),
    ]
    for row in rows[:2]:
        assert 0 < row["replayed"] <= row["mutants"] and row["outside"] < 1
        assert 0 <= row["costly"] <= 1 and 0 <= row["time_of_costly"] <= 1
    for row in rows[2:]:
        assert row["mutants"] > 0 and row["ratio"] == round(row["one"] / row["two"], 3)
    outside = speed.medians(rows, "outside", "outside")["heavy"]
    assert outside == pytest.approx((rows[0]["outside"] + rows[1]["outside"]) / 2)
    assert "heavy, outside, trial 0: " in capsys.readouterr().err


def test_replayed_are_mutants_of_the_campaign_that_end_well(target, tmp_path, monkeypatch):
    ran = list[bytes]()
    with (
        Campaign(target, target.read_seeds(), tmp_path / "out", workers=1, timeout=0.1) as campaign,
        speed.Replay(campaign) as replay,
    ):
        run_given = replay._worker.run_given

        def note(data, bounds, **how):
            ran.extend(data[a:b] for a, b in pairwise(bounds))
            run_given(data, bounds, **how)

        monkeypatch.setattr(replay._worker, "run_given", note)
        campaign.run(num_inputs=0)
        ((lane,),) = run_together([replay.lanes([(0, 2 * speed.MIN_SAMPLE)])], 1)
        made = [campaign.engine.mutate(number)[0] for number in range(speed.MIN_SAMPLE)]
        outcomes = campaign.executor.run(made)
    well = np.flatnonzero(outcomes.status == ExitStatus.OK).tolist()
    assert ran == [made[i] for i in well]
    assert (
        replay.num_replayed == speed.MIN_SAMPLE and replay.seconds > replay.seconds_in_function > 0
    )
    assert lane.counts.num_mutants == 2 * speed.MIN_SAMPLE
    assert 0 < replay.seconds < 2 * replay.own_seconds  # of all of the lane


def test_which_mutants_are_costly(target, tmp_path, monkeypatch):
    """heavy.c allocates as many blocks as the first byte says."""
    monkeypatch.setattr(speed, "NUM_TIMED", 300)
    seeds = [b"\0abcd", b"\1abcd"]
    with (
        Campaign(target, seeds, tmp_path / "out", workers=1, timeout=0.1) as campaign,
        speed.Replay(campaign) as replay,
    ):
        campaign.run(num_inputs=100)
        found = replay.costly(100)
        made = [campaign.engine.mutate(number) for number in range(100, 400)]
        outcomes = campaign.executor.run([data for data, _ in made])
    block = 25 + (1 << 16) // 16
    well = [made[i] for i in np.flatnonzero(outcomes.status == ExitStatus.OK).tolist()]
    costly = [len(data) > 1 and block * data[0] > how.costly for data, how in well]
    assert found["costly"] == pytest.approx(np.mean(costly)) and any(costly)
    assert found["costly"] < found["time_of_costly"] <= 1
