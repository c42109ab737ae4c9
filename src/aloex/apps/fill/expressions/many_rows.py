"""A program on many rows: outputs are remembered as long as rows repeat, in bounded memory."""

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any

from aloex.apps.fill.expressions.base import Row

MAX_SIZE = 2**24  # characters of rows that are remembered; beyond, all are forgotten
SIZE_OF_A_ROW = 100  # beside its characters
TRIAL = 20_000  # rows after which it is known whether they repeat
MIN_REPEATED = 0.2  # share of rows; with fewer it costs more to remember than to run again


class OnRows:
    """A function of rows, for blocks of them.

    Args:
        run: makes a text of a row, or None; equal cells give equal texts.
        columns: the cells that it reads; None for all.
    """

    def __init__(self, run: Callable[[Row], str | None], columns: Sequence[int] | None = None):
        self.run, self.key = run, None if columns is None else _key(columns)
        self.known: dict[Any, str | None] = {}
        self.size = self.num_rows = self.num_new = 0
        self.remembers = True

    def __call__(self, rows: Sequence[Row]) -> list[str | None]:
        if not self.remembers:
            return list(map(self.run, rows))
        keys = rows if self.key is None else list(map(self.key, rows))
        known, run = self.known, self.run
        new = {key: row for key, row in zip(keys, rows, strict=True) if key not in known}
        for key, row in new.items():
            known[key] = run(row)
        outputs = [known[key] for key in keys]
        self._count(len(rows), new)
        return outputs

    def _count(self, num_rows: int, new: dict[Any, Row]) -> None:
        """Forget what is too much, and stop where rows do not repeat."""
        self.size += SIZE_OF_A_ROW * len(new)
        self.size += sum(len(cell) for row in new.values() for cell in row)
        if self.size > MAX_SIZE:
            self.known, self.size = {}, 0
        self.num_rows += num_rows
        self.num_new += len(new)
        if self.num_rows >= TRIAL:
            self.remembers = self.num_new < (1 - MIN_REPEATED) * self.num_rows
            self.known = self.known if self.remembers else {}
            self.num_rows = self.num_new = 0


def _key(columns: Sequence[int]) -> Callable[[Row], Any]:
    """Which cells of a row say what comes out."""
    return itemgetter(*columns) if columns else lambda row: ()
