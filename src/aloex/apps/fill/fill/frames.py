"""`fill`: a column of a data frame or of plain lists, filled from its examples.

pandas and polars are known by their names; only their users import them.
"""

import difflib
import sys
from collections.abc import Mapping, Set
from typing import Any

from aloex.apps.fill.fill.cells import column_outputs, column_texts
from aloex.apps.fill.fill.column import Filled, fill_column
from aloex.apps.fill.tables import columns_to_read
from aloex.base.errors import InputError, require

ACCESSOR = "fill_by_example"  # of pandas.DataFrame
MAX_LISTED = 30  # names in a message


def fill(table: Any, target: Any, source: Any = None) -> Filled:
    """Fill the cells of a column that are missing, by the program behind the others.

    None, NaN, NA and blank texts are missing. Numbers and dates are read as a person would write
    them: 1.0 as 1, a date without its midnight.

    Args:
        table: a DataFrame of pandas or polars, a list of dicts, a dict of lists, or the inputs
            themselves: a list of texts, or of tuples of them.
        target: the name of the column; for plain inputs the list of outputs, None where missing.
        source: the name of the column to read, or a list of them. Default: all that have something
            in them; of more than 8, those that have most in common with the outputs.

    Returns:
        The result: `.values` is the whole column as texts, "" where there is no answer,
        `.confidence` how sure each row is, `.program` what was found, `.ask_next` the row whose
        answer would tell most.

    Raises:
        InputError: there is no such column, there are no examples, they contradict each other, or
            no program fits them.

    Example:
        >>> import aloex
        >>> filled = aloex.fill(["Ada King", "Al Bo", "Cy Dee"], ["King", "Bo", None])
        >>> filled.values
        ['King', 'Bo', 'Dee']
    """
    table = _read_once(table)
    columns = _columns(table)
    if columns is None:
        columns = _plain_columns(table, target)
        target = list(columns)[-1]
    names = list(columns)
    outputs = column_outputs(columns[_known(target, names)])
    texts = {name: column_texts(cells) for name, cells in columns.items() if name != target}
    if source is None:
        chosen = _chosen(target, names, texts, outputs)
    else:
        is_name = _is_hashable(source) and source in names  # a tuple may be one
        several = source if isinstance(source, list | tuple) and not is_name else [source]
        chosen = list(dict.fromkeys(_known(name, names) for name in several))
        require(len(chosen) > 0, "source names no column; leave it out to read all")
    require(target not in chosen, f"the target {target!r} cannot be read, too: name other columns")
    require(len(chosen) > 0, f"there is nothing to read beside {target!r}: all columns are empty")
    rows = list(zip(*(texts[name] for name in chosen), strict=True))
    return fill_column(rows, outputs, [str(name) for name in chosen])


def _chosen(
    target: Any, names: list[Any], texts: dict[Any, list[str]], outputs: list[str | None]
) -> list[Any]:
    """The columns that are read if nobody names any."""
    cells = [texts.get(name, [""] * len(outputs)) for name in names]
    has_text = [any(map(str.strip, column)) for column in cells]
    row = lambda i: [column[i] for column in cells]
    return [names[i] for i in columns_to_read(names.index(target), has_text, outputs, row)]


def _read_once(table: Any) -> Any:
    """The table itself, or the list of its rows: they may come from a generator."""
    require(
        not (_library(table) == "polars" and hasattr(table, "collect")),
        "a polars LazyFrame has no rows yet; call .collect() first",
    )
    if _is_frame(table) or isinstance(table, Mapping):
        return table
    _check_order(table, "table")
    require(
        hasattr(table, "__iter__") and not isinstance(table, str | bytes),
        f"a table is a DataFrame, a list of dicts or a list of inputs, got {table!r:.80}; for a "
        "file there is pandas.read_csv, or the command aloex fill",
    )
    return list(table)


def _check_order(rows: Any, what: str) -> None:
    """An `InputError` for a set: its rows would be paired with outputs by chance."""
    require(
        not isinstance(rows, Set) or hasattr(rows, "mapping"),  # the keys of a dict have an order
        f"the {what} is a {type(rows).__name__}, whose rows have no order; give a list",
    )


def _library(table: Any) -> str:
    return type(table).__module__.partition(".")[0]


def _is_frame(table: Any) -> bool:
    return _library(table) in ("pandas", "polars") and hasattr(table, "columns")


def _columns(table: Any) -> dict[Any, list[Any]] | None:
    """The columns of a table by their names; None if it is a plain list of inputs."""
    if _is_frame(table):
        names = list(table.columns)
        twice = next((name for name in names if names.count(name) > 1), None)
        require(len(names) == len(set(names)), f"two columns are called {twice!r}; rename one")
        return {name: list(table[name]) for name in names}
    if isinstance(table, Mapping):
        columns = {name: list(cells) for name, cells in table.items()}
        sizes = {name: len(cells) for name, cells in columns.items()}
        require(
            len(set(sizes.values())) <= 1, f"columns differ in length: {sizes}; make them equal"
        )
        return columns
    if table and all(isinstance(row, Mapping) for row in table):
        names = list(dict.fromkeys(name for row in table for name in row))
        return {name: [row.get(name) for row in table] for name in names}
    return None


def _plain_columns(table: Any, outputs: Any) -> dict[Any, list[Any]]:
    """Inputs and outputs as columns, the outputs last."""
    require(
        hasattr(outputs, "__iter__") and not isinstance(outputs, str | bytes),
        f"the outputs must be a list with None where one is missing, got {outputs!r}",
    )
    _check_order(outputs, "list of outputs")
    rows = [_cells(row) for row in table]
    values = list(outputs)
    require(
        len(rows) == len(values),
        f"there are {len(rows)} inputs and {len(values)} outputs; give one output for each, None "
        "where it is missing",
    )
    require(len(rows) > 0, "there are no rows")
    number = max(map(len, rows))
    names = ["input"] if number == 1 else [f"input {i + 1}" for i in range(number)]
    padded = [[*row, *[None] * (number - len(row))] for row in rows]
    return {name: [row[i] for row in padded] for i, name in enumerate(names)} | {"output": values}


def _cells(row: Any) -> tuple[Any, ...]:
    """The cells of an input: one, or those of a tuple, a list or a row of a NumPy array."""
    is_array = type(row).__module__ == "numpy" and getattr(row, "ndim", 0) == 1
    return tuple(row) if isinstance(row, tuple | list) or is_array else (row,)


def _known(name: Any, names: list[Any]) -> Any:
    """The name of a column; an `InputError` if there is none with it."""
    require(
        _is_hashable(name),
        f"a column is told by its name, since the table has columns; got {name!r:.80}",
    )
    if name in names:
        return name
    shown = {str(each).casefold(): each for each in names}
    close = difflib.get_close_matches(str(name).casefold(), shown, n=1)
    nearest = f" (did you mean {shown[close[0]]!r}?)" if close else ""
    listed = ", ".join(f"{each!r:.40}" for each in names[:MAX_LISTED])
    more = f" and {len(names) - MAX_LISTED} more" if len(names) > MAX_LISTED else ""
    raise InputError(f"there is no column {name!r:.80}{nearest}; the columns are: {listed}{more}")


def _is_hashable(value: Any) -> bool:
    """Whether a value can be the name of a column: lists and Series cannot."""
    try:
        hash(value)
    except TypeError:
        return False
    return True


def register_accessor() -> None:
    """Give `pandas.DataFrame` a method `fill_by_example(target, source=None)`: see `fill`.

    Importing `aloex.apps.fill` does so if pandas has been imported before.
    """
    import pandas

    if not hasattr(pandas.DataFrame, ACCESSOR):
        pandas.api.extensions.register_dataframe_accessor(ACCESSOR)(_Accessor)


class _Accessor:
    """`frame.fill_by_example(...)`."""

    def __init__(self, frame: Any):
        self.frame = frame

    def __call__(self, target: Any, source: Any = None) -> Filled:
        """Fill a column of the frame: see `aloex.fill`."""
        return fill(self.frame, target, source)


if sys.modules.get("pandas") is not None:
    register_accessor()
