"""The seeds of a campaign in portions, so that it may be stopped between two of them.

A portion depends on nothing but how many seeds were run before it, of which it is a sixteenth. With
the first goes the empty input: no mutant is empty. Where no seed can be mutated, be it that there
are none or that the target fails on them, inputs of zeros take their place.

Seeds have numbers from -n to -1, the empty input has -n - 1, and zeros in the place of seeds have
those below.
"""

from collections.abc import Sequence
from typing import NamedTuple

MIN_PORTION, SHARE = 32, 16  # seeds; 1 / share of those before
ZEROS = (1, 4, 16, 64, 256)  # bytes


class Portion(NamedTuple):
    """Inputs with their numbers; the last `num_seeds` are what a campaign may start from."""

    inputs: list[tuple[int, bytes]]
    num_seeds: int


class SeedQueue:
    """Tells which seeds are next.

    Args:
        seeds: the inputs to start from; none: zeros.
        max_len: bytes that the target takes.
    """

    def __init__(self, seeds: Sequence[bytes], max_len: int):
        self._zeros = [bytes(size) for size in ZEROS if size <= max_len]
        self.seeds, self.are_given = list(seeds) or self._zeros, len(seeds) > 0

    @property
    def all_in_words(self) -> str:
        """All inputs that a campaign tries to start from."""
        if not self.are_given:
            return "inputs of zeros"
        num_seeds = len(self.seeds)
        given = "the only seed" if num_seeds == 1 else f"all {num_seeds} seeds"
        return f"{given} and on inputs of zeros"

    def next(self, num_run: int, *, can_mutate: bool) -> Portion | None:
        """The seeds after the first `num_run`; None if there are no more.

        Args:
            num_run: seeds that were run, zeros in their place among them.
            can_mutate: whether there is one among them that mutants can be made of.
        """
        n = len(self.seeds)
        if num_run < n:
            stop = min(n, num_run + max(MIN_PORTION, num_run // SHARE))
            numbered = [(i - n, self.seeds[i]) for i in range(num_run, stop)]
            has_empty = num_run > 0 or b"" in self.seeds
            return Portion([*([] if has_empty else [(-n - 1, b"")]), *numbered], stop - num_run)
        if num_run == n and self.are_given and not can_mutate:
            numbered = [(-n - 2 - i, data) for i, data in enumerate(self._zeros)]
            return Portion(numbered, len(numbered))
        return None
