"""What a long run tells its user: a progress bar."""

import sys
import time
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

SECONDS_BETWEEN_LINES = 10.0  # where there is no terminal to draw a bar on


class Progress:
    """A bar with the loss and the time left; where stderr is no terminal, a line now and then."""

    def __init__(self, first: int, num_steps: int, enabled: bool = True, doing: str = "training"):
        self.first, self.num_steps, self.enabled, self.doing = first, num_steps, enabled, doing
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
            self.bar.update(self.task, description=self.doing, completed=row["step"], loss=loss)
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
