"""What programs write."""

from collections.abc import Sequence

from aloex.apps.fill.language.run import between, clean_pos
from aloex.apps.fill.language.syntax import ConstStr, Expr, Pos, Program


class Written:
    """What programs write for some inputs; each position is looked up once for each input."""

    def __init__(self, inputs: Sequence[str]):
        self.inputs = inputs
        self.gaps: dict[Pos, list[int | None]] = {}
        self.pieces: dict[Expr, list[str | None]] = {}

    def __call__(self, program: Program) -> list[str | None]:
        columns = [self._piece(expr) for expr in program]
        return [None if None in row else "".join(row) for row in zip(*columns, strict=True)]

    def _piece(self, expr: Expr) -> list[str | None]:
        if expr not in self.pieces:
            if isinstance(expr, ConstStr):
                self.pieces[expr] = [expr.char] * len(self.inputs)
            else:
                ends = zip(self.inputs, self._gap(expr.p1), self._gap(expr.p2), strict=True)
                self.pieces[expr] = [between(text, a, b) for text, a, b in ends]
        return self.pieces[expr]

    def _gap(self, pos: Pos) -> list[int | None]:
        if pos not in self.gaps:
            self.gaps[pos] = [clean_pos(pos, text) for text in self.inputs]
        return self.gaps[pos]
