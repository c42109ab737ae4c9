"""What a run says of its progress where there is no terminal."""

from types import SimpleNamespace

import pytest

from aloex.base import progress
from aloex.base.progress import Progress


@pytest.fixture
def clock(monkeypatch):
    """Time that a test sets, in seconds."""
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: clock.now))
    return clock


def test_a_line_every_ten_seconds_and_the_last(clock, capsys):
    """The time left counts from the first row on, which comes after the compilation."""
    with Progress(0, 100) as bar:
        for seconds, step in ((30, 10), (35, 20), (45, 40), (50, 60), (60, 100)):
            clock.now = seconds
            bar.update({"step": step, "loss": [1.0, 3.0]}, ", a note")
    assert capsys.readouterr().err.splitlines() == [
        "step 20 of 100, loss 2, a note, 40 s left",  # 5 s for 10 steps
        "step 40 of 100, loss 2, a note, 30 s left",  # 15 s for 30 steps
        "step 100 of 100, loss 2, a note, 0 s left",
    ]


def test_a_quiet_run_says_what_must_be_said(clock, capsys):
    with Progress(0, 100, enabled=False) as bar:
        bar.update({"step": 100, "loss": 1.0})
        bar.say("stopped")
    assert capsys.readouterr().err == "stopped\n"
