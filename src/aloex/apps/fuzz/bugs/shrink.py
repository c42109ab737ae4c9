"""Make a failing input small: fewer bytes first, then bytes that are zero or can be read.

Stretches of the input are changed, from all of it down to single bytes. All stretches of a size are
tried one by one, many in a batch. Then as many as possible of those that may be changed are changed
together. The result depends on the runs alone, which are counted, unless time is up before.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

MAX_BATCH = 256  # inputs
MAX_BYTES = 1 << 23  # of a batch
READABLE = ord("0")  # in the place of bytes that cannot be read

Stretch = tuple[int, int]  # of an input: from, to
Edit = Callable[[bytes, Sequence[Stretch]], bytes]  # change some stretches, given in order
Test = Callable[[list[bytes]], list[bool]]  # which of these inputs still fail in the same way


class BudgetSpent(Exception):
    """There are no more runs, or no more time."""


@dataclass
class Shrinker:
    """Shrinks one input.

    Attributes:
        best: the smallest input so far.
        test: tells which inputs still fail in the same way.
        max_runs: how many inputs may be run.
        is_late: tells whether time is up.
        max_batch: how many inputs are run at a time.
    """

    best: bytes
    test: Test
    max_runs: int
    is_late: Callable[[], bool]
    max_batch: int = MAX_BATCH

    def run(self) -> bytes:
        """The smallest input that was found."""
        try:
            before = None
            while before != self.best:
                before = self.best
                for edit in (delete, set_to_zero, make_readable):
                    self._apply(edit)
        except BudgetSpent:
            pass
        return self.best

    def _apply(self, edit: Edit) -> None:
        size = len(self.best)
        while size > 0:
            has_changed = self._change_stretches(edit, size)
            if edit is not delete or not has_changed:  # what is left has moved together
                size //= 2
            size = min(size, len(self.best))

    def _change_stretches(self, edit: Edit, size: int) -> bool:
        """Change as many stretches of a size as possible. Returns whether there are any."""
        base, starts = self.best, range(0, len(self.best), size)
        stretches = [(start, min(start + size, len(base))) for start in starts]
        stretches = [x for x in stretches if edit(base, [x]) != base]
        good = [x for x, is_good in self._try(base, edit, [[x] for x in stretches]) if is_good]
        together = [stretch for one in good for stretch in one]
        if not together:
            return False
        halves = list(prefixes(together))
        for some, is_good in self._try(base, edit, halves):
            if is_good:
                self.best = edit(base, some)
                break
        return self.best != base

    def _try(
        self, base: bytes, edit: Edit, choices: list[list[Stretch]]
    ) -> Iterator[tuple[list[Stretch], bool]]:
        """For each choice of stretches whether they may be changed; run in batches."""
        at_once = max(1, min(self.max_batch, MAX_BYTES // max(1, len(base))))
        for start in range(0, len(choices), at_once):
            part = choices[start : start + at_once]
            if self.is_late() or self.max_runs < len(part):
                raise BudgetSpent
            self.max_runs -= len(part)
            yield from zip(part, self.test([edit(base, some) for some in part]), strict=True)


def prefixes(stretches: list[Stretch]) -> Iterator[list[Stretch]]:
    """All of them, the first half, the first quarter, ..., the first one."""
    while len(stretches) > 1:
        yield stretches
        stretches = stretches[: len(stretches) // 2]
    yield stretches


def delete(data: bytes, stretches: Sequence[Stretch]) -> bytes:
    """The input without some stretches."""
    bounds = [0, *(bound for stretch in stretches for bound in stretch), len(data)]
    return b"".join(data[a:b] for a, b in zip(bounds[::2], bounds[1::2], strict=True))


def set_to_zero(data: bytes, stretches: Sequence[Stretch]) -> bytes:
    """The input with zeros in some stretches."""
    changed = bytearray(data)
    for start, stop in stretches:
        changed[start:stop] = bytes(stop - start)
    return bytes(changed)


def make_readable(data: bytes, stretches: Sequence[Stretch]) -> bytes:
    """The input with a digit for the bytes of some stretches that are no text and not zero."""
    changed = bytearray(data)
    for start, stop in stretches:
        for i in range(start, stop):
            if changed[i] and not 32 <= changed[i] < 127:
                changed[i] = READABLE
    return bytes(changed)
