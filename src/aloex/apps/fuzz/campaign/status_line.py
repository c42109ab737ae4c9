"""The progress of a campaign: a line on the terminal that changes, or a line now and then."""

import sys
import time

from rich.console import Console
from rich.live import Live

from aloex.apps.fuzz.campaign.record import Record
from aloex.base.progress import SECONDS_BETWEEN_LINES


class StatusLine:
    """Shows the progress of a campaign; call it with the record after each batch."""

    def __init__(self, num_inputs: int | None, max_seconds: float | None):
        self.num_inputs, self.max_seconds = num_inputs, max_seconds
        console = Console(stderr=True)
        self._live = Live(console=console, auto_refresh=False) if console.is_terminal else None
        self._first: tuple[int, float] | None = None  # mutants and seconds when this process began
        self._last_line = time.monotonic()

    def __enter__(self) -> "StatusLine":
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, *_) -> None:
        if self._live is not None:
            self._live.stop()

    def __call__(self, record: Record) -> None:
        """Show the line."""
        self._first = self._first or (record.num_run, record.seconds)
        if self._live is not None:
            self._live.update(self.line(record), refresh=True)
        elif time.monotonic() - self._last_line >= SECONDS_BETWEEN_LINES:
            self._last_line = time.monotonic()
            print(self.line(record), file=sys.stderr, flush=True)

    def line(self, record: Record) -> str:
        """The number of inputs, the speed, coverage, bugs, and time."""
        parts = [
            f"{record.num_run:,} inputs",
            f"{speed(record):,.0f}/s",
            f"{record.now.edges:,} edges",
            f"{len(record.bugs)} bugs ({sum(record.bugs.values()):,} inputs)",
            clock(record.seconds),
        ]
        left = self._left(record)
        return " · ".join([*parts, f"{clock(left)} left"] if left is not None else parts)

    def _left(self, record: Record) -> float | None:
        """Estimate the seconds left, from the speed of this process."""
        first_run, first_seconds = self._first or (0, 0.0)
        bounds = []
        if self.max_seconds is not None:
            bounds.append(self.max_seconds - record.seconds)
        if self.num_inputs is not None and record.num_run > first_run:
            each = (record.seconds - first_seconds) / (record.num_run - first_run)
            bounds.append(each * (self.num_inputs - record.num_run))
        return max(min(bounds), 0.0) if bounds else None


def speed(record: Record) -> float:
    """Mutants per second."""
    seconds = record.seconds - (record.curve[0].seconds if record.curve else 0.0)
    return record.num_run / seconds if seconds > 0 else 0.0


def clock(seconds: float) -> str:
    """1:02:03 or 2:03."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
