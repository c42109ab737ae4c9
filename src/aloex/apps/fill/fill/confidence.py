"""How sure a program can be at most, whatever the vote says.

Votes are among programs of this language. Where the examples leave one program only, that is often
because the right one is not in the language. So some kinds of programs need more examples.
"""

from collections.abc import Sequence

from aloex.apps.fill.expressions.base import Constant, Expression, Row
from aloex.apps.fill.expressions.programs import Join, Lookup, Switch

CONSTANT = 0.5  # two equal outputs do not make a rule
FEW_EXAMPLES = 0.8
SOLVED_FOR = ("number_factor", "number_add", "date_add")  # numbers that two examples always give
ENOUGH_TO_SOLVE = 3
ENOUGH_FOR_A_CASE = 2


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
    solved = any(program.features().get(name) for name in SOLVED_FOR)
    return FEW_EXAMPLES if solved and len(examples) < ENOUGH_TO_SOLVE else 1.0
