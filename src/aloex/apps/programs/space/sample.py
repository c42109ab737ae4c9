"""Programs drawn from a version space with probability ~ exp(score).

Z(node) = sum over its edges of w(piece) Z(next), from the ends of the outputs backwards, with
w(piece) the sum of exp(score) over its expressions; programs are then drawn forwards, exactly.
"""

import math
from bisect import bisect
from itertools import accumulate

import numpy as np

from aloex.apps.programs.language.syntax import ConstStr, Expr, Program
from aloex.apps.programs.space.k_best import substring, whole_scores
from aloex.apps.programs.space.score import Flat, Score
from aloex.apps.programs.space.version_space import Node, VersionSpace
from aloex.base.errors import require


class Sampler:
    """Draws programs of `space`; uniformly unless there is a score."""

    def __init__(self, space: VersionSpace, score: Score | None = None):
        require(bool(space), "no program fits the examples, so none can be drawn")
        self.space, self.score = space, score or Flat()
        self.positions = [
            list(accumulate(math.exp(self.score.position(pos)) for pos in positions))
            for positions in space.classes
        ]
        self.wholes = whole_scores(space, self.score)
        of_class = np.array([sums[-1] for sums in self.positions])
        own = np.exp(self.score.pairs(space.pairs))
        self.weights = of_class[space.pairs.first] * of_class[space.pairs.second] * own
        self.pairs = [self._pairs(number) for number in range(len(space.pieces))]
        self.log_w = [math.log(sums[-1]) for sums in self.pairs]
        self.edges: dict[Node, list[float]] = {}
        log_z = {space.end: 0.0}
        for node in space.backwards():
            logs = [self.log_w[piece] + log_z[then] for piece, then in space.graph[node]]
            top = max(logs)
            self.edges[node] = list(accumulate(math.exp(log - top) for log in logs))
            log_z[node] = top + math.log(self.edges[node][-1])
        self.log_z = log_z[space.start]

    def _pairs(self, piece: int) -> list[float]:
        """Cumulative weights of a piece's pairs of classes, then what matches have more, then the
        constant."""
        found = self.space.pieces[piece]
        weights = self.weights[found.pairs].tolist()
        more = 1 - math.exp(-self.score.whole)
        weights += [math.exp(total) * more for total, _ in self.wholes.get(piece, [])]
        if found.char is not None:
            weights.append(math.exp(self.score.constant(found.char)))
        return list(accumulate(weights))

    def draw(self, rng: np.random.Generator, num_draws: int) -> list[Program]:
        """Independent draws."""
        return [self._draw(rng) for _ in range(num_draws)]

    def _draw(self, rng: np.random.Generator) -> Program:
        node, program = self.space.start, []
        while node != self.space.end:
            piece, node = self.space.graph[node][_pick(rng, self.edges[node])]
            program.append(self._expr(rng, piece))
        return tuple(program)

    def _expr(self, rng: np.random.Generator, piece: int) -> Expr:
        found, pair = self.space.pieces[piece], _pick(rng, self.pairs[piece])
        row, wholes = found.pairs.start + pair, self.wholes.get(piece, [])
        if row < found.pairs.stop:
            sides = (int(side[row]) for side in (self.space.pairs.first, self.space.pairs.second))
            p1, p2 = (self.space.classes[c][_pick(rng, self.positions[c])] for c in sides)
            return substring(p1, p2)
        if row < found.pairs.stop + len(wholes):
            return wholes[row - found.pairs.stop][1]
        assert found.char is not None
        return ConstStr(found.char)


def _pick(rng: np.random.Generator, sums: list[float]) -> int:
    """An index with the probabilities of which `sums` are the cumulative weights."""
    return min(bisect(sums, rng.random() * sums[-1]), len(sums) - 1)
