"""What some programs say of every row of a table, block by block and in little memory."""

from collections.abc import Callable, Sequence

from aloex.apps.fill.expressions.base import Expression, Row
from aloex.apps.fill.expressions.columns_read import columns_read
from aloex.apps.fill.expressions.many_rows import OnRows

BLOCK = 2_000  # rows that all programs see before the next: what one has read, others read soon


class Votes:
    """The texts of programs for all rows.

    Args:
        voters: probabilities that add up to 1, and programs.
        rows: all rows.
        progress: is told now and then how many rows are done.
    """

    def __init__(
        self,
        voters: Sequence[tuple[float, Expression]],
        rows: Sequence[Row],
        progress: Callable[[int], None] = lambda num_rows: None,
    ):
        self.probabilities = [probability for probability, _ in voters]
        self.texts: list[list[str | None]] = [[] for _ in voters]  # of each program
        programs = [OnRows(program.run, columns_read(program)) for _, program in voters]
        for start in range(0, len(rows), BLOCK):
            self._add([program(rows[start : start + BLOCK]) for program in programs])
            progress(min(start + BLOCK, len(rows)))

    def _add(self, block: Sequence[list[str | None]]) -> None:
        """The texts for some more rows; one that equals the first program's is the same object."""
        first = block[0]
        self.texts[0] += first
        for texts, own in zip(self.texts[1:], block[1:], strict=True):
            texts += [a if a == b else b for a, b in zip(first, own, strict=True)]

    def shares(self, i: int) -> dict[str | None, float]:
        """The answers for a row with their shares of the votes."""
        share: dict[str | None, float] = {}
        for probability, texts in zip(self.probabilities, self.texts, strict=True):
            share[texts[i]] = share.get(texts[i], 0.0) + probability
        return share

    def best(self) -> int:
        """The program that agrees best with the vote."""
        agreement = [0.0] * len(self.texts)
        for i in self._split():
            share = self.shares(i)
            for k, texts in enumerate(self.texts):
                agreement[k] += share[texts[i]]
        return max(range(len(agreement)), key=lambda k: (agreement[k], -k))

    def _split(self) -> list[int]:
        """The rows on which the programs do not agree; all others speak for each of them alike."""
        first, found = self.texts[0], set()
        for texts in self.texts[1:]:
            pairs = enumerate(zip(first, texts, strict=True))
            found.update(i for i, (a, b) in pairs if a is not b)
        return sorted(found)
