"""How sure a row can be, whatever the vote says.

Votes are among programs of this language. Where the examples leave one program only, that is often
because the right one is not in the language. So a row needs more than votes:

- programs with numbers that were solved for, with cases, or made of constants need more examples;
- a row unlike the examples needs nearly all votes, and the parts that are copied from it must be
  cut out where parts of the examples were: after the same kind of character, before the same kind;
- a cell that the program does not read must not be of a kind (`status`, `country`) that the
  examples do not show.

The rules were found on the tasks of `studies/fill`, with costs learned on other tasks.
"""

import math
from collections.abc import Sequence

from aloex.apps.fill.expressions.base import Constant, Expression, Row, added
from aloex.apps.fill.expressions.columns_read import columns_read
from aloex.apps.fill.expressions.programs import Join, Lookup, Switch
from aloex.apps.fill.expressions.text import Cell
from aloex.apps.fill.fill.evidence import Paddings, Thresholds, surroundings, units
from aloex.apps.fill.search.shapes import shape
from aloex.apps.fill.search.whole_program import whole_features

SURE = 0.85  # least confidence of a row that is not in doubt
CONSTANT = 0.5  # two equal outputs do not make a rule
COPIED = 0.8  # nobody fills a column with another one: some row must be different
TOO_FEW = 0.8  # examples for such a program
DOUBTFUL = 0.8  # a row that is not borne out
UNLIKE = 0.93  # share of the votes that a row unlike all examples needs
ENOUGH_FOR_A_CASE = 2
MAX_UNREAD = 3  # columns not read that may yet matter; of more, most do not

# Features of programs -> numbers in them that the examples were solved for.
SOLVED_FOR = {
    "number_factor": 1.0,
    "number_add": 1.0,
    "number_combined": 1.0,
    "number_range_offset": 1.0,
    "number_step": 1.0,  # an odd step counts for more, see `NumberText`
    "date_add": 1.0,
    "count": 1.0,
    "rewritten_among_parts": 1.0,
}
# What a program from a single example must not have.
NOT_FROM_ONE = (
    *SOLVED_FOR,
    "constant_letters",
    "date_ceiling",
    "date_floor",
    "date_last",
    "date_nearest",
    "date_next",
    "every",
    "number_range",
    "number_round",
    "number_scale",
    "replace",
)
MARKS_FROM_ONE = 2  # constant marks that one example can bear out: ", " but not "****"


class Limits:
    """The most confidence in each row of a column.

    Args:
        program: what fills it.
        rows, outputs: of the examples.
        table: rows of the column, some of them at least.
    """

    def __init__(
        self,
        program: Expression,
        rows: Sequence[Row],
        outputs: Sequence[str],
        table: Sequence[Row] = (),
    ):
        self.of_program = most_confidence(program, rows)
        self.program, self.columns = program, columns_read(program)
        self.known = dict(zip(rows, outputs, strict=True))
        self.shapes, self.outputs = set(map(self._shapes, rows)), set(map(shape, outputs))
        self.surroundings = {each for row in rows for each in surroundings(program, row)}
        self.units = {each for row in rows for each in units(program, row)}
        self.thresholds = Thresholds(program, rows, outputs)
        self.paddings = Paddings(program, outputs)
        self.kinds = {i: {row[i] for row in rows} for i in self._kinds_not_read(table)}
        self.from_one = len(rows) == 1

    def __call__(self, row: Row, text: str | None, share: float) -> float:
        """The confidence in the text for a row that has a share of the votes."""
        if text is not None and self.known.get(row) == text:
            return 1.0  # the same cells as in an example
        limit = min(share, self.of_program)
        if text is None or limit < SURE:
            return limit
        if any(row[i] not in known for i, known in self.kinds.items()):
            return min(limit, DOUBTFUL)
        if not self._is_borne_out(row, text):
            return min(limit, DOUBTFUL)
        if self._shapes(row) in self.shapes:
            return limit
        cuts = surroundings(self.program, row)
        as_before = all(each in self.surroundings for each in cuts)
        borne_out = shape(text) in self.outputs or (bool(cuts) and not self.from_one)
        return limit if as_before and borne_out and share >= UNLIKE else min(limit, DOUBTFUL)

    def _is_borne_out(self, row: Row, text: str) -> bool:
        """Whether units, numbers beside a threshold and zeros in front are as in the examples."""
        own = units(self.program, row) if self.units else ()  # without numbers there are none
        return (
            all(each in self.units for each in own)
            and self.thresholds.are_clear(row)
            and self.paddings.are_known(text)
        )

    def _shapes(self, row: Row) -> tuple[str, ...]:
        return tuple(shape(row[i]) for i in self.columns)

    def _kinds_not_read(self, table: Sequence[Row]) -> list[int]:
        """Columns that are not read and have few different cells."""
        unread = [i for i in range(len(table[0]) if table else 0) if i not in self.columns]
        if len(unread) > MAX_UNREAD:
            return []
        return [i for i in unread if 2 * len({row[i] for row in table}) <= max(4, len(table))]


def most_confidence(program: Expression, examples: Sequence[Row]) -> float:
    """The most confidence in what a program writes, given the rows of its examples."""
    if isinstance(program, Join) and all(isinstance(part, Constant) for part in program.parts):
        return CONSTANT
    if isinstance(program, Lookup):
        return TOO_FEW
    if isinstance(program, Join) and len(program.parts) == 1 and isinstance(program.parts[0], Cell):
        return COPIED
    if isinstance(program, Switch):
        cases = [program.case(row) for row in examples]
        if any(cases.count(i) < ENOUGH_FOR_A_CASE for i in range(len(program.programs))):
            return TOO_FEW
    features = program.features()
    if isinstance(program, Join):
        features = added([features, whole_features(program)])
    if len(examples) == 1:
        many_marks = features.get("constant_marks", 0) > MARKS_FROM_ONE
        if many_marks or any(features.get(name) for name in NOT_FROM_ONE):
            return DOUBTFUL
    solved = sum(math.floor(features.get(name, 0) * n + 0.49) for name, n in SOLVED_FOR.items())
    return TOO_FEW if solved and len(examples) < 2 + solved else 1.0
