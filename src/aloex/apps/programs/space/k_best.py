"""The k best programs of a version space under an additive score.

From the ends of the outputs backwards, each node keeps its k best rests of programs: best-first
over (edge, rank of the expression, rank of the rest).
"""

from collections.abc import Callable, Iterable
from heapq import heapify, heappop, heappush

import numpy as np

from aloex.apps.programs.language.canonical import order
from aloex.apps.programs.language.syntax import ConstStr, Expr, Pos, Program, SubStr
from aloex.apps.programs.space.score import Score, Simple, of_program
from aloex.apps.programs.space.version_space import Node, Piece, VersionSpace

Ranked = list[tuple[float, Expr]]
Rest = tuple[float, int, int, Node, int]  # score, piece, rank in it, next node, rank there


def best(
    space: VersionSpace, k: int = 10, score: Score | None = None
) -> list[tuple[float, Program]]:
    """Up to k programs with their scores, the best first."""
    if not space:
        return []
    ranked = _Ranks(space, k, score or Simple())
    rests: dict[Node, list[Rest]] = {}
    for node in space.backwards():
        edges = space.graph[node]
        value = lambda e, i, j, edges=edges: _value(edges[e], i, j, ranked, rests, space.end)
        found = _best_sums(len(edges), value, k)
        rests[node] = [(s, edges[e][0], i, edges[e][1], j) for s, e, i, j in found]
    return [
        (score_, _read(space, ranked, rests, rank))
        for rank, (score_, *_) in enumerate(rests[space.start])
    ]


def _value(
    edge: tuple[int, Node],
    i: int,
    j: int,
    ranked: "_Ranks",
    rests: dict[Node, list[Rest]],
    end: Node,
) -> float | None:
    piece, then = edge
    if then == end:
        return ranked.score_of(piece, i) if j == 0 else None
    rest = rests[then]
    if j >= len(rest):
        return None
    own = ranked.score_of(piece, i)
    return None if own is None else own + rest[j][0]


def _best_sums(
    lists: int, value: Callable[[int, int, int], float | None], k: int
) -> list[tuple[float, int, int, int]]:
    """The k largest value(e, i, j); value falls in i and in j, and is None outside."""
    heap = []
    for e in range(lists):
        top = value(e, 0, 0)
        if top is not None:
            heap.append((-top, e, 0, 0))
    heapify(heap)
    found = []
    while heap and len(found) < k:
        negative, e, i, j = heappop(heap)
        found.append((-negative, e, i, j))
        for i_next, j_next in ((i, j + 1), (i + 1, j)) if j == 0 else ((i, j + 1),):
            further = value(e, i_next, j_next)
            if further is not None:
                heappush(heap, (-further, e, i_next, j_next))
    return found


def _read(
    space: VersionSpace, ranked: "_Ranks", rests: dict[Node, list[Rest]], rank: int
) -> Program:
    node, program = space.start, []
    while node != space.end:
        _, piece, i, node, rank = rests[node][rank]
        program.append(ranked[piece][i][1])
    return tuple(program)


class _Ranks:
    """The k best expressions of each piece, found when first asked for."""

    def __init__(self, space: VersionSpace, k: int, score: Score):
        self.space, self.k, self.score = space, k, score
        self.positions = [ranked_positions(positions, score) for positions in space.classes]
        self.known: dict[int, Ranked] = {}
        self.wholes = whole_scores(space, score)
        top = np.array([positions[0][0] for positions in self.positions])
        self.own = score.pairs(space.pairs)
        self.pairs = top[space.pairs.first] + top[space.pairs.second] + self.own
        self.tops = self._tops()

    def __getitem__(self, piece: int) -> Ranked:
        if piece not in self.known:
            self.known[piece] = self._rank(piece)
        return self.known[piece]

    def score_of(self, piece: int, rank: int) -> float | None:
        """The score at a rank, or None beyond the last; the first is known without ranking."""
        if rank == 0:
            return self.tops[piece]
        exprs = self[piece]
        return exprs[rank][0] if rank < len(exprs) else None

    def _tops(self) -> list[float]:
        """The best score of each piece."""
        tops = self.space.per_piece(np.maximum, self.pairs, -np.inf).tolist()
        for number, wholes in self.wholes.items():
            tops[number] = max(tops[number], *(total for total, _ in wholes))
        for number, piece in enumerate(self.space.pieces):
            if piece.char is not None:
                tops[number] = max(tops[number], self.score.constant(piece.char))
        return tops

    def _rank(self, number: int) -> Ranked:
        """The best SubStr, those that are one match and the constant, all in one list."""
        piece, wholes = self.space.pieces[number], self.wholes.get(number, [])
        again = {expr for _, expr in wholes}
        exprs = [pair for pair in self._substrings(piece, len(again)) if pair[1] not in again]
        exprs += wholes
        if piece.char is not None:
            exprs.append((self.score.constant(piece.char), ConstStr(piece.char)))
        return sorted(exprs, key=lambda pair: -pair[0])[: self.k]

    def _substrings(self, piece: Piece, more: int) -> Ranked:
        k = self.k + more
        kept = piece.pairs.start + np.argsort(-self.pairs[piece.pairs], kind="stable")[:k]
        first, second, *_ = self.space.pairs[kept]
        columns = zip(first.tolist(), second.tolist(), self.own[kept].tolist(), strict=True)
        lists = [(self.positions[a], self.positions[b], own) for a, b, own in columns]

        def value(e: int, i: int, j: int) -> float | None:
            one, other, extra = lists[e]
            return one[i][0] + other[j][0] + extra if i < len(one) and j < len(other) else None

        return [
            (total, substring(lists[e][0][i][1], lists[e][1][j][1]))
            for total, e, i, j in _best_sums(len(lists), value, k)
        ]


def whole_scores(space: VersionSpace, score: Score) -> dict[int, Ranked]:
    """The expressions that score more for being one match, with their scores, by piece."""
    if score.whole == 0:
        return {}
    own = lambda expr: of_program(score, (expr,))
    return {
        number: [(own(expr), expr) for expr in exprs] for number, exprs in space.wholes().items()
    }


def ranked_positions(positions: Iterable[Pos], score: Score) -> list[tuple[float, Pos]]:
    """Positions with their scores, the best first."""
    return sorted(((score.position(pos), pos) for pos in positions), key=lambda pair: -pair[0])


def substring(p1: Pos, p2: Pos) -> SubStr:
    """The SubStr with its positions in canonical order."""
    return SubStr(p1, p2) if order(p1) <= order(p2) else SubStr(p2, p1)
