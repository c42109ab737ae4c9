"""How a long run and its user talk: a progress bar one way, SIGINT and SIGTERM the other."""

import signal
import sys
import threading
import time
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

SECONDS_BETWEEN_LINES = 10.0  # where there is no terminal to draw a bar on


class Progress:
    """A bar with the loss and the time left; where stderr is no terminal, a line now and then."""

    def __init__(self, first: int, num_steps: int, enabled: bool = True):
        self.first, self.num_steps, self.enabled = first, num_steps, enabled
        console = Console(stderr=True)
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[loss]}"),
            TimeRemainingColumn(),
        )
        self.bar = Bar(*columns, console=console) if enabled and console.is_terminal else None

    def __enter__(self) -> "Progress":
        self.last_line, self.start = time.monotonic(), None
        if self.bar is not None:
            self.bar.start()
            self.task = self.bar.add_task(
                "compiling", total=self.num_steps, completed=self.first, loss=""
            )
        return self

    def __exit__(self, *_) -> None:
        if self.bar is not None:
            self.bar.stop()

    def update(self, row: dict[str, Any], note: str = "") -> None:
        """Show a row of metrics: `step`, then the loss and whatever else; a note beside it."""
        name, value = next((name, value) for name, value in row.items() if name != "step")
        loss = f"{name} {np.mean(value):.4g}{note}"  # of many problems, their mean
        if self.bar is not None:
            self.bar.update(self.task, description="training", completed=row["step"], loss=loss)
        elif self.enabled:
            self._plain_line(row["step"], loss)

    def _plain_line(self, step: int, loss: str) -> None:
        now = time.monotonic()
        if self.start is None:  # count from the first row on: before it lies the compilation
            self.start, self.first = now, step
        due = now - self.last_line >= SECONDS_BETWEEN_LINES and step > self.first
        if not due and step < self.num_steps:
            return
        self.last_line = now
        left = (now - self.start) / max(step - self.first, 1) * (self.num_steps - step)
        self.say(f"step {step} of {self.num_steps}, {loss}, {left:.0f} s left")

    def say(self, line: str) -> None:
        """A line that stays, above the bar if there is one; said even when progress is off."""
        if self.bar is not None:
            self.bar.console.print(line, highlight=False, soft_wrap=True)
        else:
            print(line, file=sys.stderr, flush=True)


class StopSignals:
    """Inside the block SIGINT and SIGTERM only set `received`, so that work can end in good order.

    A second SIGINT raises KeyboardInterrupt; with `at_once` the first does, too. (That alone would
    not do: Python drops exceptions in destructors and callbacks.) The handlers before are put back
    at the end. Python allows all this in the main thread only; elsewhere nothing changes.
    """

    def __init__(self, *, at_once: bool = False):
        self.at_once = at_once

    def __enter__(self) -> "StopSignals":
        self.received, self.before = False, {}
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self.before[number] = signal.signal(number, self._receive)
        return self

    def _receive(self, number: int, frame: Any) -> None:
        raises = self.received or self.at_once
        self.received = True
        if raises and number == signal.SIGINT:
            raise KeyboardInterrupt

    def __exit__(self, *_) -> None:
        for number, handler in self.before.items():
            # None stands for a handler that was not set from Python and cannot be put back.
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
