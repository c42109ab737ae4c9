"""What `aloex fill` does with a table: which column from which others, and what counts as given.

With a column of confidence beside it, a filled table can be corrected and filled again. Rows marked
`given` are examples. What the tool wrote is worked out again from them: a cell that differs from it
was corrected by hand, and is an example from then on. All others are filled anew.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from aloex.apps.fill.expressions.columns_read import columns_read
from aloex.apps.fill.fill import Filled, fill_column
from aloex.apps.fill.tables import (
    Table,
    columns_to_read,
    find_column,
    listed,
    split_names,
)
from aloex.base.errors import InputError, require
from aloex.cli.fill.screen import shown

GIVEN = "given"  # the confidence of a row that is an example
SUFFIX = " confidence"  # of the column's name
NOTHING_TO_FILL = "no column has some cells with a text to learn from and some empty ones to fill"
MARK = re.compile(rf"{GIVEN}|[01]\.\d\d|")


@dataclass(frozen=True)
class Job:
    """A table and what was found for it.

    Args:
        table: the table.
        target: the column that is filled.
        sources: the columns that are read.
        num_unread: others with a text in them that are not, since nobody named columns.
        marks: the column of confidence, if there is one.
        outputs: the examples; None for rows that are filled.
        corrected: rows that the user has corrected since the table was last filled.
        filled: the answers.
    """

    table: Table
    target: int
    sources: list[int]
    num_unread: int
    marks: int | None
    outputs: list[str | None]
    corrected: list[int]
    filled: Filled

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
        shares = enumerate(self.filled.confidence)
        return {
            i: GIVEN if self.outputs[i] is not None else f"{int(100 * share) / 100:.2f}"
            for i, share in shares
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
    may_be_full: bool = False,
    progress: Callable[[int], None] = lambda num_rows: None,
) -> Job:
    """Fill a column of a table.

    Args:
        table: the table.
        target, source: names or numbers of columns.
        may_be_full: no cell of the target need be empty.
        progress: is told now and then how many rows are done.
    """
    goal = _target(table) if target is None else find_column(target, table.names)
    marks = _marks(table, goal)
    sources, num_unread = _sources(table, goal, marks, source)
    names = [table.names[i] for i in sources]
    *cells, given = table.columns([*sources, goal])
    rows = list(zip(*cells, strict=True))
    outputs: list[str | None] = [cell if cell.strip() else None for cell in given]
    del cells, given  # of a million rows they are hundreds of megabytes
    corrected: list[int] = []
    if marks is not None:
        outputs, corrected = _corrections(rows, outputs, table.column(marks), names)
    _check_examples(table, goal, rows, outputs, may_be_full or marks is not None)
    filled = fill_column(rows, outputs, names, progress)
    return Job(table, goal, sources, num_unread, marks, outputs, corrected, filled)


def _target(table: Table) -> int:
    """The last column, if it is the only one with some cells empty and others not."""
    columns = range(len(table.names))
    marked = [i for i in columns if table.header is not None and _marks(table, i) is not None]
    if len(marked) == 1:
        return marked[0]
    partly = [i for i in columns if table.has_text[i] and table.has_blank[i]]
    if partly == [len(table.names) - 1]:
        return partly[0]
    names = ", ".join(shown(table.names[i], 40) for i in partly)
    why = f"partly empty: {names}" if partly else NOTHING_TO_FILL
    raise InputError(
        f"which column is to be filled? Name it with --target; {why}; {listed(table.names)}"
    )


def _marks(table: Table, target: int) -> int | None:
    """The column of confidence that an earlier run has written for the target."""
    if table.header is not None:
        name = f"{table.names[target]}{SUFFIX}"
        return table.names.index(name) if table.names.count(name) == 1 else None
    last = len(table.names) - 1
    cells = table.column(last)
    is_marks = last != target and GIVEN in cells and all(map(MARK.fullmatch, cells))
    return last if is_marks else None


def _sources(
    table: Table, target: int, marks: int | None, source: str | None
) -> tuple[list[int], int]:
    """The columns to read, and how many more there would be."""
    if source is not None:
        chosen = [find_column(name, table.names) for name in split_names(source)]
        require(len(chosen) > 0, f"--source must name columns such as name,city; got {source!r}")
        name = table.names[target]
        require(target not in chosen, f"--source has the target {name!r} itself; name others")
        return list(dict.fromkeys(chosen)), 0
    has_text = list(table.has_text)
    if marks is not None:
        has_text[marks] = False
    found = columns_to_read(target, has_text)
    require(len(found) > 0, f"{table.name} has no other column to read; {listed(table.names)}")
    return found, sum(has_text) - has_text[target] - len(found)


def _corrections(
    rows: Sequence[tuple[str, ...]],
    cells: Sequence[str | None],
    marks: Sequence[str],
    names: Sequence[str],
) -> tuple[list[str | None], list[int]]:
    """The outputs that count, given ones and corrected ones, and which rows were corrected."""
    by_tool = [re.fullmatch(r"[01]\.\d\d", mark.strip()) is not None for mark in marks]
    given = [None if tool else cell for cell, tool in zip(cells, by_tool, strict=True)]
    require(
        any(given), f"no row is marked {GIVEN!r} in the column of confidence; mark the examples"
    )
    before = fill_column(rows, given, names)
    corrected = [
        i
        for i, (cell, answer) in enumerate(zip(cells, before.values, strict=True))
        if by_tool[i] and cell is not None and cell != answer
    ]
    for i in corrected:
        given[i] = cells[i]
    return given, corrected


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
