"""What `aloex fill` does with a table: which column from which others, and what it writes."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from aloex.apps.fill.expressions.columns_read import columns_read
from aloex.apps.fill.fill import Filled, fill_column
from aloex.apps.fill.tables import Table, find_column, unique_names
from aloex.base.errors import InputError, require
from aloex.cli.fill.marks import GIVEN, SUFFIX, count_outputs, find_marks, mark_of
from aloex.cli.fill.screen import shown
from aloex.cli.fill.which_columns import find_sources, find_target


@dataclass(frozen=True)
class Job:
    """A table and what was found for it.

    Args:
        table: the table.
        target: the column that is filled.
        target_told: whether the user said so.
        sources: the columns that are read.
        unread: others with a text in them that are not, since nobody named columns.
        marks: the column of confidence, if there is one.
        outputs: the examples; None for rows that are filled.
        corrected: rows that the user has corrected since the table was last filled.
        filled: the answers.
    """

    table: Table
    target: int
    target_told: bool
    sources: list[int]
    unread: list[int]
    marks: int | None
    outputs: list[str | None]
    corrected: list[int]
    filled: Filled

    @property
    def target_name(self) -> str:
        """What a program calls the column that it fills."""
        return unique_names(self.table.names)[self.target]

    @property
    def missing(self) -> list[int]:
        """The rows that had no output."""
        return [i for i, output in enumerate(self.outputs) if output is None]

    @property
    def texts(self) -> Iterator[tuple[int, str]]:
        """Their answers; "" where there is none."""
        pairs = enumerate(zip(self.outputs, self.filled.values, strict=True))
        return ((i, text) for i, (output, text) in pairs if output is None)

    @cached_property
    def num_filled(self) -> int:
        """How many of them have one."""
        return sum(text != "" for _, text in self.texts)

    def cells_read(self, i: int) -> list[str]:
        """The cells of a row that the program reads."""
        used = columns_read(self.filled.program.expression) or range(len(self.sources))
        fields = self.table.rows[i].cells
        columns = [self.sources[k] for k in used]
        return [fields[k] if k < len(fields) else "" for k in columns]

    def changes(self, with_confidence: bool) -> list[tuple[int, dict[int, str], str]]:
        """The cells to write, by column: see `filled_bytes`."""
        cells = self.table.column(self.target)
        texts = {i: t for i, t in self.texts if t != cells[i] and (t or cells[i].strip())}
        changes = [(self.target, texts, "")]
        if with_confidence or self.marks is not None:
            marks = len(self.table.names) if self.marks is None else self.marks
            heading = f"{self.table.names[self.target]}{SUFFIX}"
            changes.append((marks, self._confidence(), heading))
        return changes

    def _confidence(self) -> dict[int, str]:
        rows = zip(self.outputs, self.filled.values, self.filled.confidence, strict=True)
        return {
            i: GIVEN if output is not None else mark_of(text, share)
            for i, (output, text, share) in enumerate(rows)
        }

    def to_json(self) -> dict[str, Any]:
        """The answer for other programs."""
        table, filled = self.table, self.filled
        return {
            "target": table.names[self.target],
            "sources": [table.names[i] for i in self.sources],
            "header": table.header is not None,
            "words": filled.program.explain(),
            "program": filled.program.to_json(),
            "num_examples": len(filled.examples),
            "num_filled": self.num_filled,
            "num_in_doubt": len(filled.in_doubt),
            "ask_next": None if filled.ask_next is None else table.lines[filled.ask_next],
            "rows": [self._row(i) for i in self.missing],
        }

    def _row(self, i: int) -> dict[str, Any]:
        answer = self.filled.answers[i]
        return {
            "line": self.table.lines[i],
            "output": answer.text,
            "confidence": round(answer.confidence, 4),
            "in_doubt": answer.in_doubt,
            "others": {text: round(share, 4) for text, share in answer.others.items()},
        }


def fill_table(
    table: Table,
    target: str | None,
    source: str | None,
    *,
    confidence: bool = False,
    may_be_full: bool = False,
    progress: Callable[[int], None] = lambda num_rows: None,
) -> Job:
    """Fill a column of a table.

    Args:
        table: the table.
        target, source: names or numbers of columns.
        confidence: a column of confidence is going to be written.
        may_be_full: no cell of the target need be empty.
        progress: is told now and then how many rows are done.
    """
    goal = find_target(table) if target is None else find_column(target, table.names)
    marks = find_marks(table, goal, to_write=confidence)
    outputs: list[str | None] = [cell if cell.strip() else None for cell in table.column(goal)]
    corrected: list[int] = []
    if marks is not None:
        outputs, corrected = count_outputs(table, outputs, marks)
    sources, unread = find_sources(table, goal, marks, source, outputs)
    rows = list(zip(*table.columns(sources), strict=True))
    _check_examples(table, goal, rows, outputs, may_be_full or marks is not None)
    names = unique_names(table.names)
    filled = fill_column(rows, outputs, [names[i] for i in sources], progress)
    told = target is not None
    return Job(table, goal, told, sources, unread, marks, outputs, corrected, filled)


def _check_examples(
    table: Table,
    target: int,
    rows: Sequence[tuple[str, ...]],
    outputs: Sequence[str | None],
    may_be_full: bool,
) -> None:
    """Errors that name the column and the lines of the file."""
    name = table.names[target]
    require(
        any(output is not None for output in outputs),
        f"the column {name!r} is empty; write the right text into two or three of its cells first",
    )
    require(
        may_be_full or None in outputs,
        f"the column {name!r} is full; empty the cells that are to be filled (a table written with "
        "--confidence can be corrected and filled again)",
    )
    first: dict[tuple[str, ...], int] = {}
    for i, (row, output) in enumerate(zip(rows, outputs, strict=True)):
        if output is not None and outputs[j := first.setdefault(row, i)] != output:
            cells = ", ".join(repr(shown(cell)) for cell in row)
            raise InputError(
                f"lines {table.lines[j]} and {table.lines[i]} contradict each other: for {cells} "
                f"one has {shown(str(outputs[j]))!r} and the other {shown(output)!r}; correct one"
            )
