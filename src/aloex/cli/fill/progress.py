"""A bar on standard error: rows done, rows per second, and the time left."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from time import monotonic

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

Told = Callable[[int, int], None]  # how much is done of the total, and how many rows that is


@contextmanager
def progress_of(what: str, total: int) -> Generator[Told]:
    """A bar for a part of the work, if standard error is a terminal; it goes when that is done."""
    console = Console(stderr=True)
    words = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[rows]}"))
    off, start = not console.is_terminal, monotonic()
    bars = Progress(*words, TimeRemainingColumn(), console=console, transient=True, disable=off)
    with bars:
        task = bars.add_task(what, total=total, rows="")

        def tell(done: int, num_rows: int) -> None:
            speed = num_rows / max(monotonic() - start, 1e-3)
            bars.update(task, completed=done, rows=f"{num_rows:,} rows, {speed:,.0f} per second")

        yield tell
