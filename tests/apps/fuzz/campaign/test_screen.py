"""What a campaign shows while it runs, on a terminal and elsewhere."""

import io
import json
from collections import Counter
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console

from aloex.apps.fuzz.campaign import BugCount, Campaign, Status, Wins, clock, status_of
from aloex.apps.fuzz.campaign.progress import screen as screens
from aloex.apps.fuzz.campaign.progress.draw import MAX_BUGS, MAX_OPERATORS, cut, draw
from aloex.apps.fuzz.campaign.progress.limits import Limits
from aloex.apps.fuzz.campaign.progress.pace import FIRST_LINE, LAST_WAIT
from aloex.apps.fuzz.campaign.progress.screen import SECONDS_OF_SPEED, Screen, line_of
from aloex.apps.fuzz.campaign.progress.status import Paying, bits_of
from aloex.apps.fuzz.campaign.record import Record
from aloex.base.errors import InputError

SEEDS = [b"--------", b"abcdefghijkl"]
OPERATORS = [Paying(f"operator {i}", 0.3 / (i + 1), 1234 * i) for i in range(MAX_OPERATORS + 2)]
STACKS = [Paying(name, share, 7) for name, share in (("1", 0.25), ("4", 0.5), ("16", 0.25))]
LONG = "heap-buffer-overflow in a_function_with_a_very_long_name_that_has_no_end (file.c:1234)"


def status(num_bugs: int = 0, **changed) -> Status:
    bugs = [BugCount(LONG, 1), *(BugCount(f"SEGV in f{i} (f.c:{i})", i) for i in range(2, 99))]
    values = {
        **{
            "target": "libx",
            "out": Path("runs/x"),
            "seconds": 83.0,
            "inputs": 1_203_331,
            "per_second": 14_512.3,
        },
        **{
            "num_workers": 2,
            "seeds": 170,
            "seeds_run": 170,
            "corpus": 612,
            "edges": 1345,
            "edges_of_target": 6008,
        },
        **{"since_find": 7.0, "bugs": tuple(bugs[:num_bugs]), "operators": tuple(OPERATORS)},
        "stacks": tuple(STACKS),
    }
    return Status(**{**values, **changed})


def split(words: str) -> list[str]:
    return words.split()


def fake(known: list, failed: list, **fields) -> Campaign:
    """A campaign that says what a test wants it to say."""
    campaign = object.__new__(Campaign)
    campaign.record = Record(1, failed=failed, **fields)
    campaign.bugs = SimpleNamespace(known=known)
    return campaign


@pytest.fixture(scope="module")
def campaign(stairs, tmp_path_factory):
    with Campaign(stairs, SEEDS, tmp_path_factory.mktemp("campaign"), workers=1) as campaign:
        campaign.run(num_inputs=4000)
        yield campaign


# ---- the numbers


def test_the_status_is_that_of_the_journal(campaign):
    rows = [json.loads(x) for x in (campaign.out / "journal.jsonl").read_text().splitlines()[1:]]
    found = [x for row in rows for x in row["found"] if x["new_features"]]
    shown = status_of(campaign, Wins(), [BugCount("bug", 3)])
    assert (shown.inputs, shown.seeds, shown.corpus) == (4000, len(SEEDS), len(found))
    assert shown.edges == sum(x["new_edges"] for x in found) <= shown.edges_of_target
    last = max(row["seconds"] for row in rows if any(x["new_features"] for x in row["found"]))
    assert shown.since_find == pytest.approx(rows[-1]["seconds"] - last)
    assert shown.per_second == pytest.approx(4000 / rows[-1]["seconds"])
    assert shown.per_worker == shown.per_second / shown.num_workers
    assert shown.bugs == (BugCount("bug", 3),)
    winners = [x for x in found if x["new_edges"] and x["number"] >= 0]
    names = [arm.name for arm in campaign.engine.operators()]
    wins = Counter(names[bit] for x in winners for bit in bits_of(x["operators"]))
    assert len(wins) > 3 and {a.name: a.wins for a in shown.operators if a.wins} == dict(wins)
    assert sum(arm.wins for arm in shown.stacks) == len(winners)
    assert sum(arm.share for arm in shown.operators) == pytest.approx(1)
    shares = [arm.share for arm in shown.operators]
    assert shares == sorted(shares, reverse=True)


def test_wins_are_counted_once_and_again_after_going_back():
    found = lambda operators, stack, new_edges=1: {
        **{"new_edges": new_edges, "new_features": 1, "number": 5},
        **{"operators": operators, "stack": stack},
    }
    record = Record(1, found=[{"new_edges": 1, "number": -1}, found(0b101, 1)])
    wins = Wins()
    for _ in range(2):
        wins.count(record)
        assert (wins.operators, wins.stacks) == ({0: 1, 2: 1}, {1: 1})
    record.found += [found(0b100, 2), found(0b1000, 3, new_edges=0)]
    wins.count(record)
    assert (wins.operators, wins.stacks) == ({0: 1, 2: 2}, {1: 1, 2: 1})
    record.found = record.found[:2]
    wins.count(record)
    assert (wins.operators, wins.stacks) == ({0: 1, 2: 1}, {1: 1})


def test_limits():
    assert Limits().seconds_left(status()) is None
    assert Limits(max_seconds=100.0).seconds_left(status(seconds=83.0)) == 17
    assert Limits(num_inputs=1500).seconds_left(status(inputs=1000, per_second=50.0)) == 10
    both = status(inputs=1000, per_second=50.0, seconds=98.0)
    assert Limits(1500, 100.0).seconds_left(both) == 2
    assert Limits(10, 10.0).seconds_left(status()) == 0
    assert Limits(10).seconds_left(status(per_second=0.0)) is None
    for limits in ({"num_inputs": -1}, {"max_seconds": -0.5}):
        with pytest.raises(InputError, match=r"must not be negative, got -"):
            Limits(**limits)


def test_clock():
    times = {0.0: "0:00", 7.9: "0:07", 754.0: "12:34", 3723.0: "1:02:03", -5.0: "0:00"}
    assert {seconds: clock(seconds) for seconds in times} == times


# ---- lines


class Times:
    """A clock that is set by hand."""

    def __init__(self, monkeypatch):
        self.now = 1000.0
        monkeypatch.setattr(screens.time, "monotonic", lambda: self.now)


def test_lines_come_at_widening_intervals(campaign, capsys, monkeypatch):
    times, lines = Times(monkeypatch), []
    with Screen(Limits(num_inputs=8000)) as screen:
        for second in range(400):
            times.now = 1000.0 + second
            screen.show(campaign)
            if said := capsys.readouterr().err:
                lines.append(second)
                assert said.count("\n") == 1
    assert lines[:6] == [2, 6, 14, 30, 62, 122] and FIRST_LINE == 2
    assert {b - a for a, b in pairwise(lines[4:])} == {LAST_WAIT}
    assert said == "" and "1 bug" not in said


def test_a_line_says_what_the_screen_does():
    assert line_of(status(2), Limits(max_seconds=100.0)) == (
        "1:23 · 1,203,331 inputs · 14,512/s · 612 in the corpus · 1,345 of 6,008 edges · "
        "last find 0:07 ago · 2 bugs · 0:17 left"
    )
    assert line_of(status(1), Limits()).endswith(" · last find 0:07 ago · 1 bug")
    assert line_of(status(seeds_run=64, inputs=0), Limits()).startswith("1:23 · 64 of 170 seeds · ")


def test_a_new_bug_is_told_at_once(campaign, capsys, monkeypatch):
    """Once, and not if it was there when the campaign was resumed."""
    bug = lambda id: SimpleNamespace(name=f"bug {id}", inputs=1, id=id)
    Times(monkeypatch)
    with Screen(Limits()) as screen:
        for num_failed, known, said in (
            (1, "a", ""),
            (2, "a", ""),
            (3, "abc", "bug: bug b\nbug: bug c\n"),
            (3, "abcd", ""),  # nothing failed since: it is not even asked
            (4, "abc", ""),
        ):
            screen.show(fake([bug(id) for id in known], [{}] * num_failed))
            assert capsys.readouterr().err == said


def test_the_speed_is_that_of_the_last_seconds(monkeypatch):
    times, shown = Times(monkeypatch), []
    monkeypatch.setattr(screens, "status_of", lambda *given: shown.append(given[-1]) or status())
    with Screen(Limits()) as screen:
        screen._pace.is_due = lambda: True
        for second in range(60):
            times.now += 100
            num_run = 10 * second if second <= 40 else 400 + 30 * (second - 40)
            screen.show(fake([], [], seconds=float(second), num_run=num_run))
    assert shown[0] is None and shown[1] == shown[30] == 10
    assert 10 < shown[45] < shown[int(40 + SECONDS_OF_SPEED + 1)] == 30


# ---- the live screen


@pytest.mark.parametrize("width", [40, 60, 80, 110, 140, 250])
@pytest.mark.parametrize("num_bugs", [0, 1, 98])
def test_no_line_is_longer_than_the_screen(width, num_bugs):
    drawn = draw(status(num_bugs), Limits(max_seconds=100.0), 0.5, width=width).plain
    console = Console(width=width, file=io.StringIO())
    with console.capture() as capture:
        for line in drawn.splitlines():  # as rich does it: what is too long is cut, not wrapped
            console.print(line, no_wrap=True, overflow="ellipsis", highlight=False)
    assert capture.get().count("\n") == drawn.count("\n") + 1 <= 24
    if width >= 80:
        assert all(len(line) <= width for line in drawn.splitlines())


def test_the_screen_has_all():
    lines = draw(status(98), Limits(max_seconds=100.0), 2.5, width=80).plain.splitlines()
    assert lines[0].split() == ["fuzzing", "libx", "1:25,", "0:14", "left"] and len(lines[0]) == 80
    assert lines[1:5] == [
        "executions  1,203,331 · 14,512 a second, 7,256 on each of 2 workers",
        "corpus      612 inputs, begun with 170 seeds",
        "edges       1,345 of 6,008 (22%)",
        "last find   0:09 ago",
    ]
    assert lines[5] == "bugs        98"
    assert "begun with 64 of 170 seeds so far" in draw(status(seeds_run=64), Limits(), 0.0).plain
    assert lines[6].split() == split("SEGV in f98 (f.c:98) 98 inputs")
    assert lines[6 + MAX_BUGS] == f"  and {98 - MAX_BUGS} more"
    assert lines[8 + MAX_BUGS].split() == split("operator share wins on one mutant share wins")
    table = lines[9 + MAX_BUGS : -2]
    assert len(table) == MAX_OPERATORS
    assert table[0].split() == split("operator 0 █████ 30% 0 1 operator ██ 25% 7")
    assert table[1].split() == split("operator 1 ██ 15% 1,234 4 operators █████ 50% 7")
    assert lines[-2:] == [
        "report, every minute: runs/x/report.html",
        "ctrl-C stops; the same command resumes",
    ]


def test_a_narrow_screen_has_less_and_an_old_one_is_ascii():
    narrow = draw(status(), Limits(), 0.0, width=60, is_ascii=True).plain
    assert "on one mutant" not in narrow and "operator 0" in narrow
    old = draw(status(3), Limits(), 0.0, width=100, is_ascii=True).plain
    assert old.isascii() and "#####" in old and "1 worker" not in old
    alone = draw(status(num_workers=1), Limits(), 0.0).plain
    assert "14,512 a second\n" in alone


def test_a_long_name_keeps_its_end():
    assert cut("short", 5) == "short"
    assert cut(LONG, 60).endswith("that_has_no_end (file.c:1234)"[-24:])
    assert len(cut(LONG, 60)) == 60


def test_the_terminal_is_left_as_it_was(campaign, monkeypatch):
    """A thread draws the status at hand; the cursor is there again at the end, also of an error."""
    file = io.StringIO()
    console = Console(file=file, force_terminal=True, width=80, height=24, color_system=None)
    with pytest.raises(KeyboardInterrupt), Screen(Limits(5000), console) as screen:
        screen.show(campaign)
        assert "fuzzing stairs" in screen.drawn().plain
        monkeypatch.setattr(campaign.record, "num_run", 4321)  # after the last time it was shown
        raise KeyboardInterrupt
    said = file.getvalue()
    hide, show = "\x1b[?25l", "\x1b[?25h"
    assert said.count(hide) == said.count(show) == 1
    assert said.rindex(show) > said.rindex("fuzzing stairs") > said.index(hide)
    assert "4,321" in said[said.rindex("fuzzing stairs") :]  # how it ended stays there
