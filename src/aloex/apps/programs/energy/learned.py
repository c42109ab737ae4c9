"""The learned energy as a score of programs: a sum over expressions, given the examples.

    f(program, z) = sum over its SubStr of g(p1, z) + g(p2, z) + h(kind, z), + c(z) for constants

z is what is known of a task: the examples, and the inputs that are to be filled.
"""

from collections.abc import Sequence

import numpy as np

from aloex.apps.programs.energy.features import MAX_LENGTH, NUM_KINDS, Context, kinds
from aloex.apps.programs.energy.net import Weights, apply, trained
from aloex.apps.programs.language.alphabet import CONSTANTS
from aloex.apps.programs.language.syntax import Pos
from aloex.apps.programs.space.version_space import Pairs, VersionSpace

LACKING = -30.0  # of a position that an input lacks: tasks have none
FOREIGN = -12.0  # of a constant that no task has, such as a letter


class Learned:
    """The energy for one task; any `Score` will do in its place."""

    whole: float = 0.0

    def __init__(
        self, space: VersionSpace, inputs: Sequence[str] = (), weights: Weights | None = None
    ):
        weights = trained() if weights is None else weights
        self.context = Context(space, inputs)
        positions = [pos for positions in space.classes for pos in positions]
        self.rows = self.context.positions(positions)
        values = apply(weights, "position", self.rows)[:, 0].astype(float)
        values += [LACKING * self.context.lacking(pos) for pos in positions]
        self.known: dict[Pos, float] = dict(zip(positions, values.tolist(), strict=True))
        self.of_task = apply(weights, "task", self.context.task).astype(float)

    @property
    def substring(self) -> float:
        return float(self.of_task[MAX_LENGTH - 1])

    def pairs(self, pairs: Pairs) -> np.ndarray:
        return self.of_task[kinds(pairs)]

    def constant(self, char: str) -> float:
        return float(self.of_task[NUM_KINDS]) + FOREIGN * (char not in CONSTANTS)

    def position(self, pos: Pos) -> float:
        return self.known[pos]
