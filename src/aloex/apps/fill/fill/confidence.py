"""How sure a program can be at most, whatever the vote says.

Votes are among programs of this language. Where the examples leave one program only, that is often
because the right one is not in the language. So some kinds of programs need more examples, and a
row that looks like no example, neither its cells nor its output, is in doubt.
"""

from collections.abc import Sequence

from aloex.apps.fill.expressions.base import Constant, Expression, Row
from aloex.apps.fill.expressions.programs import Join, Lookup, Switch
from aloex.apps.fill.search.vote import shape

CONSTANT = 0.5  # two equal outputs do not make a rule
ONE_EXAMPLE = 0.85
FEW_EXAMPLES = 0.8
UNLIKE = 0.85
SOLVED_FOR = ("number_factor", "number_add", "date_add")  # numbers that two examples always give
ENOUGH_TO_SOLVE = 3
ENOUGH_FOR_A_CASE = 2


class Limits:
    """The most confidence in each row of a column.

    Args:
        program: what fills it.
        rows, outputs: of the examples.
    """

    def __init__(self, program: Expression, rows: Sequence[Row], outputs: Sequence[str]):
        self.of_program = most_confidence(program, rows)
        self.rows, self.outputs = set(map(_shapes, rows)), set(map(shape, outputs))

    def __call__(self, row: Row, text: str | None) -> float:
        known = _shapes(row) in self.rows or (text is not None and shape(text) in self.outputs)
        return self.of_program if known else min(self.of_program, UNLIKE)


def _shapes(row: Row) -> tuple[str, ...]:
    return tuple(map(shape, row))


def most_confidence(program: Expression, examples: Sequence[Row]) -> float:
    """The most confidence in what a program writes, given the rows of its examples."""
    if isinstance(program, Join) and all(isinstance(part, Constant) for part in program.parts):
        return CONSTANT
    if isinstance(program, Lookup):
        return FEW_EXAMPLES
    if isinstance(program, Switch):
        cases = [program.case(row) for row in examples]
        if any(cases.count(i) < ENOUGH_FOR_A_CASE for i in range(len(program.programs))):
            return FEW_EXAMPLES
    if len(examples) == 1:
        return ONE_EXAMPLE
    solved = any(program.features().get(name) for name in SOLVED_FOR)
    return FEW_EXAMPLES if solved and len(examples) < ENOUGH_TO_SOLVE else 1.0
