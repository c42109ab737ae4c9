"""Where parts are cut out of the cells of a column, in examples and in other rows."""

import re
from collections.abc import Sequence

from aloex.apps.fill.search.shapes import kind_of


class Contexts:
    """What stands before and after each gap of the cells of a column: a code for two characters.

    A part that was cut off at ", " in the examples and between two letters elsewhere is likely the
    wrong one: that costs.
    """

    def __init__(self, texts: Sequence[str], num_examples: int):
        self.num_examples, codes = num_examples, {"": 0}
        code = lambda near: codes.setdefault("".join(map(kind_of, near)), len(codes))
        self.before = [[code(t[max(g - 2, 0) : g]) for g in range(len(t) + 1)] for t in texts]
        self.after = [[code(t[g : g + 2]) for g in range(len(t) + 1)] for t in texts]
        self.inside = [_gaps_inside(text) for text in texts]

    def new(self, gaps: Sequence[int], start: bool) -> float:
        """The share of other rows where the start (or end) of a part has new surroundings."""
        near = self.before if start else self.after
        found = [near[i][gap] for i, gap in enumerate(gaps) if gap >= 0]
        known, others = set(found[: self.num_examples]), found[self.num_examples :]
        if not others:
            return 0.0
        return sum(code not in known for code in others) / len(others)

    def cuts(self, gaps: Sequence[int]) -> float:
        """The share of other rows where a gap is inside a word or number; 0 if examples have it."""
        found = [gap in self.inside[i] for i, gap in enumerate(gaps)]
        others = found[self.num_examples :]
        if not others or any(found[: self.num_examples]):
            return 0.0
        return sum(others) / len(others)


_INSIDE = re.compile(r"(?<=[^\W_])(?=[^\W_])|(?<=\d)(?=[.,]\d)|(?<=\d[.,])(?=\d)")


def _gaps_inside(text: str) -> set[int]:
    """Gaps between two letters or digits, and those beside the mark of a decimal number."""
    return {match.start() for match in _INSIDE.finditer(text)}
