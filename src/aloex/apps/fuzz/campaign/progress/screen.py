"""The progress of a campaign: a live screen on a terminal, elsewhere a line now and then."""

import sys
import time
from collections import deque
from typing import TYPE_CHECKING

from aloex.apps.fuzz.campaign.campaign import Campaign
from aloex.apps.fuzz.campaign.progress.limits import Limits
from aloex.apps.fuzz.campaign.progress.pace import Pace
from aloex.apps.fuzz.campaign.progress.status import BugCount, Status, Wins, clock, status_of
from aloex.base.words import count

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

SECONDS_OF_SPEED = 10.0  # the speed that is shown is that of the last so many
REFRESHES = 2  # of the live screen in a second


class Screen:
    """Shows the progress of a campaign; call `show` after each epoch, in a `with` block.

    On a terminal a thread draws the last `Status` again, so that its clock ticks. It never touches
    the campaign.
    """

    def __init__(self, limits: Limits, console: "Console | None" = None):
        self.limits = limits
        self._console = console or _terminal()
        self._live = None
        self._wins, self._speeds = Wins(), deque[tuple[float, int]]()
        self._status: tuple[float, Status] | None = None  # and when it was taken
        self._campaign: Campaign | None = None  # the one that was shown last
        self._bugs: tuple[BugCount, ...] = ()
        self._num_failed = -1
        self._pace = Pace()

    def __enter__(self) -> "Screen":
        if self._console is not None:
            from rich.live import Live

            self._live = Live(
                console=self._console,
                refresh_per_second=REFRESHES,
                redirect_stdout=False,
                get_renderable=self.drawn,
            )
            self._live.start()
        return self

    def __exit__(self, *_) -> None:
        if self._live is not None:
            if self._campaign is not None:  # what stays on the screen is how it ended
                self._status = time.monotonic(), self._status_of(self._campaign)
            self._live.stop()

    def show(self, campaign: Campaign) -> None:
        """Show how far it is."""
        self._campaign, record, now = campaign, campaign.record, time.monotonic()
        self._speeds.append((record.seconds, record.num_run))
        while len(self._speeds) > 2 and self._speeds[1][0] < record.seconds - SECONDS_OF_SPEED:
            self._speeds.popleft()
        new_bugs = self._find_bugs(campaign)
        if self._live is not None:
            if self._status is None or now - self._status[0] > 1 / REFRESHES:
                self._status = now, self._status_of(campaign)
            return
        for bug in new_bugs:
            _say(f"bug: {bug.name}")
        if self._pace.is_due():
            _say(line_of(self._status_of(campaign), self.limits))

    def drawn(self) -> "RenderableType":
        """The screen now."""
        from aloex.apps.fuzz.campaign.progress.draw import draw

        if self._status is None:
            return "running the seeds"
        assert self._console is not None
        (taken, status), options = self._status, self._console.options
        width, is_ascii = options.max_width, options.ascii_only
        later = time.monotonic() - taken
        return draw(status, self.limits, later, width=width, is_ascii=is_ascii)

    def _status_of(self, campaign: Campaign) -> Status:
        (before, first), (after, last) = self._speeds[0], self._speeds[-1]
        speed = (last - first) / (after - before) if after > before else None
        return status_of(campaign, self._wins, self._bugs, speed)

    def _find_bugs(self, campaign: Campaign) -> list[BugCount]:
        """Look whether there are bugs that were not known. Returns them."""
        num_failed = len(campaign.record.failed)
        if num_failed == self._num_failed:
            return []
        is_first, self._num_failed = self._num_failed < 0, num_failed
        before = {bug.id for bug in self._bugs}
        known = campaign.bugs.known
        self._bugs = tuple(BugCount(bug.name, bug.inputs, bug.id) for bug in known)
        return [] if is_first else [bug for bug in self._bugs if bug.id not in before]


def line_of(status: Status, limits: Limits) -> str:
    """The progress in a line."""
    run = [count(status.inputs, "input"), f"{status.per_second:,.0f}/s"]
    if status.seeds_run < status.seeds:
        run = [f"{status.seeds_run:,} of {count(status.seeds, 'seed')}"]
    parts = [
        clock(status.seconds),
        *run,
        f"{status.corpus:,} in the corpus",
        f"{status.edges:,} of {status.edges_of_target:,} edges",
        f"last find {clock(status.since_find)} ago",
        count(len(status.bugs), "bug"),
    ]
    left = limits.seconds_left(status)
    return " · ".join([*parts, f"{clock(left)} left"] if left is not None else parts)


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _terminal() -> "Console | None":
    """The terminal, if stderr is one that can be drawn on."""
    if not sys.stderr.isatty():
        return None
    from rich.console import Console

    console = Console(stderr=True)
    return console if console.is_terminal and not console.is_dumb_terminal else None
