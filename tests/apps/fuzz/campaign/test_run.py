"""A campaign from its settings: when reports are written, and what ends it."""

import os
import signal

import pytest

from aloex.apps.fuzz.campaign import CampaignSettings, run_campaign
from aloex.apps.fuzz.campaign import run as runs
from aloex.base.errors import InputError


class Reports:
    """Stands for the report: remembers when it was asked for."""

    def __init__(self):
        self.asked: list[tuple[int, bool]] = []

    def __call__(self, campaign, is_final):
        self.asked.append((campaign.record.num_run, is_final))
        return {"inputs": campaign.record.num_run}


@pytest.fixture
def settings(stairs, tmp_path):
    (tmp_path / "seed").write_bytes(b"--------")

    def settings(**changed):
        values = {"target": str(stairs.library), "out": tmp_path / "out", "num_inputs": 1500}
        return CampaignSettings(**{**values, "seeds": tmp_path / "seed", "workers": 1, **changed})

    return settings


@pytest.mark.parametrize(
    ("first", "between", "share", "expected"),
    [
        (0.0, 0.0, float("inf"), "after the seeds and each epoch"),
        (0.0, 1e9, 1.0, "once"),
        (0.0, 0.0, 1e-12, "once"),  # the first has used up its share of the time for years
        (1e9, 0.0, 1.0, "never"),
    ],
)
def test_the_report_is_written_as_it_goes(settings, monkeypatch, first, between, share, expected):
    for name, value in (
        ("FIRST_REPORT", first),
        ("SECONDS_BETWEEN_REPORTS", between),
        ("MAX_SHARE", share),
    ):
        monkeypatch.setattr(runs, name, value)
    reports = Reports()
    end = run_campaign(settings(), reports)
    *before, last = reports.asked
    assert last == (1500, True) and end.numbers == {"inputs": 1500} and end.signal is None
    assert not any(is_final for _, is_final in before)
    numbers = [num_run for num_run, _ in before]
    rows = (end.out / "journal.jsonl").read_bytes().count(b"\n") - 1
    wanted = {"once": [0], "never": []}.get(expected, numbers)
    assert numbers == wanted and (wanted is not numbers or len(numbers) == rows > 4)
    assert {bug.kind for bug in end.bugs} <= {"abort", "SEGV"}


def test_reports_are_due_after_seconds_and_then_every_minute():
    assert (runs.FIRST_REPORT, runs.SECONDS_BETWEEN_REPORTS, runs.MAX_SHARE) == (10, 60, 0.02)


def test_a_signal_does_not_cost_the_last_report(settings):
    class Interrupted(Reports):
        def __call__(self, campaign, is_final):
            os.kill(os.getpid(), signal.SIGTERM)
            return super().__call__(campaign, is_final)

    reports = Interrupted()
    end = run_campaign(settings(), reports)
    assert reports.asked == [(1500, True)] and end.signal is None  # it came as all was over
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_what_cannot_be_is_told_before_there_is_a_folder(settings, tmp_path):
    for changed, words in (
        ({"num_inputs": -1}, "--inputs must not be negative"),
        ({"max_seconds": -1.0}, "--seconds must not be negative"),
        ({"dictionary": tmp_path / "none"}, "cannot read the dictionary"),
        ({"target": "nothing"}, "there is no target nothing"),
        (
            {"target": __file__, "seeds": tmp_path / "none"},
            "is no 64-bit program or shared library",
        ),
        ({"keep": 100}, "the first 100 bytes are to stay, the longest seed has 8"),
        ({"workers": 0}, "--workers must be at least 1, got 0"),
        ({"timeout": 0.0}, "--timeout must be more than 0 seconds, got 0.0"),
        ({"memory_mb": -1}, "--memory must be at least 1 MiB, got -1"),
    ):
        with pytest.raises(InputError, match=words):
            run_campaign(settings(**changed), Reports())
    assert not (tmp_path / "out").exists()


def test_without_seeds_it_begins_with_zeros(settings, capsys):
    reports = Reports()
    run_campaign(settings(seeds=None, num_inputs=300), reports)
    assert "no seeds: starting from zeros; name some inputs: --seeds FOLDER" in (
        capsys.readouterr().err
    )
    assert reports.asked[-1] == (300, True)
