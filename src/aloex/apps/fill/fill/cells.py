"""Cells that are no texts: numbers, dates and missing ones, as a person would write them."""

import datetime
import decimal
import numbers
from collections.abc import Sequence
from types import NoneType
from typing import Any

MISSING_TYPES = ("NAType", "NaTType")  # of pandas, which is not imported for this
LARGE = 1e16  # from here on a float is no longer exact to the unit


def column_texts(cells: Sequence[Any]) -> list[str]:
    """The cells of a column as texts; a missing one is empty."""
    if {*map(type, cells)} <= {str, NoneType}:  # most columns have nothing else
        return [cell or "" for cell in cells]
    plain = [_plain(cell) for cell in cells]
    moments = [cell for cell in plain if isinstance(cell, datetime.datetime)]
    only_dates = all(moment.time() == datetime.time() for moment in moments)
    return [_text(cell, only_dates) for cell in plain]


def column_outputs(cells: Sequence[Any]) -> list[str | None]:
    """The cells of a column to be filled: None where one is missing or blank."""
    return [text if text.strip() else None for text in column_texts(cells)]


def _plain(cell: Any) -> Any:
    """A value of Python; None if it is missing."""
    if type(cell) in (str, int):
        return cell
    if cell is None or type(cell).__name__ in MISSING_TYPES:
        return None
    if type(cell).__module__ == "numpy":
        is_date = type(cell).__name__ == "datetime64"
        cell = (cell.astype("datetime64[us]") if is_date else cell).item()
    is_nan = isinstance(cell, numbers.Number) and cell != cell
    return None if is_nan else cell


def _text(cell: Any, only_dates: bool) -> str:
    if cell is None:
        return ""
    if hasattr(cell, "to_list"):  # a list inside a frame of polars: printed, it would be cut
        return str(cell.to_list())
    if isinstance(cell, bytes):
        return cell.decode("utf-8", "backslashreplace")
    if isinstance(cell, decimal.Decimal):
        return format(cell, "f")
    if isinstance(cell, datetime.datetime):
        return cell.date().isoformat() if only_dates else str(cell)
    if isinstance(cell, float) and abs(cell) < LARGE:  # 1.0 is 1, and nothing is 1e-07
        text = repr(int(cell)) if cell.is_integer() else repr(cell)
        return text if "e" not in text else format(decimal.Decimal(text), "f")
    return str(cell)
