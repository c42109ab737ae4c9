"""Tables of mixed columns as integers: the values of each column are numbered from 0."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from aloex.base.errors import InputError, require

if TYPE_CHECKING:
    from pandas import DataFrame

Value = bool | int | float | str | None  # None is a missing value
MAX_DIFFERENT = 1000  # values of a column; a sweep of Gibbs tries all of them
DTYPES = {bool: "boolean", int: "Int64", float: "Float64", str: "string"}


@dataclass(frozen=True)
class Columns:
    """What the integers of each column stand for.

    Args:
        names: of the columns.
        values: of each column; value i is written as the integer i.

    Example:
        >>> import pandas as pd
        >>> from aloex.learning import Columns
        >>> frame = pd.DataFrame({"colour": ["red", "blue", None], "size": [1, 2, 2]})
        >>> columns = Columns.of(frame)
        >>> columns.num_values
        (3, 2)
        >>> columns.encode(frame).tolist()
        [[1, 0], [0, 1], [2, 1]]
        >>> columns.decode([[0, 0]]).to_dict("records")
        [{'colour': 'blue', 'size': 1}]
    """

    names: tuple[str, ...]
    values: tuple[tuple[Value, ...], ...]

    @classmethod
    def of(cls, frame: "DataFrame") -> "Columns":
        """The columns of a DataFrame, with their values in order and missing ones last.

        Args:
            frame: columns of text, numbers or booleans, also nullable or mixed ones.

        Returns:
            The names and the values.
        """
        require(
            frame.shape[0] > 0 and frame.shape[1] > 0, f"x is empty: its shape is {frame.shape}"
        )
        names = tuple(str(name) for name in frame.columns)
        require(len(set(names)) == len(names), f"column names must differ, got {names}")
        return cls(names, tuple(_different(name, _items(frame, i)) for i, name in enumerate(names)))

    @classmethod
    def from_dict(cls, settings: Mapping[str, Any]) -> "Columns":
        """Columns from JSON values."""
        return cls(tuple(settings["names"]), tuple(tuple(v) for v in settings["values"]))

    @property
    def num_values(self) -> tuple[int, ...]:
        """How many values each column has."""
        return tuple(len(values) for values in self.values)

    def encode(self, frame: "DataFrame") -> np.ndarray:
        """The rows of a DataFrame as integers [n, columns]; its columns may be in another order."""
        given = [str(name) for name in frame.columns]
        missing = [name for name in self.names if name not in given]
        require(not missing, f"x has no column {missing}; it has {given}")
        codes = [
            _codes(name, values, _items(frame, given.index(name)))
            for name, values in zip(self.names, self.values, strict=True)
        ]
        return np.array(codes, np.int32).T

    def decode(self, x: Any) -> "DataFrame":
        """Integers [n, columns] as a DataFrame; a number that a column does not have is missing."""
        import pandas as pd

        x = np.asarray(x)
        require(
            x.ndim == 2 and x.shape[1] == len(self.names),
            f"x must have shape (n, {len(self.names)}), got {x.shape}",
        )
        columns = {
            name: pd.Series(
                [values[i] if 0 <= i < len(values) else None for i in x[:, column].tolist()],
                dtype=_dtype(values),
            )
            for column, (name, values) in enumerate(zip(self.names, self.values, strict=True))
        }
        return pd.DataFrame(columns)


def _items(frame: "DataFrame", column: int) -> list[Any]:
    """A column as plain Python values, None where one is missing."""
    series = frame.iloc[:, column]
    values = series.astype(object).where(series.notna(), None).tolist()
    return [v.item() if isinstance(v, np.generic) else v for v in values]


def _different(name: str, items: list[Any]) -> tuple[Value, ...]:
    found = {_key(v): v for v in items}
    odd = [v for v in found.values() if not isinstance(v, bool | int | float | str | None)]
    if odd:
        raise InputError(
            f"column {name!r} has a value of type {type(odd[0]).__name__}; use text, numbers or "
            f"booleans, for instance frame[{name!r}].astype(str)"
        )
    require(
        len(found) <= MAX_DIFFERENT,
        f"column {name!r} has {len(found)} different values, more than {MAX_DIFFERENT}; put "
        "numbers into bins first (pandas.cut), leave out names and keys",
    )
    return tuple(found[key] for key in sorted(found))


def _codes(name: str, values: tuple[Value, ...], items: list[Any]) -> list[int]:
    code_of = {_key(value): i for i, value in enumerate(values)}
    new = [v for v in items if _key(v) not in code_of]
    require(not new, f"column {name!r} has the value {(new or [None])[0]!r}, which is new to it")
    return [code_of[_key(v)] for v in items]


def _key(value: Any) -> tuple[int, Any]:
    """Tells values apart and sorts them: booleans, numbers, text; missing ones last."""
    if value is None:
        return 4, 0
    if isinstance(value, bool):
        return 0, value
    if isinstance(value, int | float):
        return 1, value
    return (2, value) if isinstance(value, str) else (3, str(value))


def _dtype(values: tuple[Value, ...]) -> Any:
    """The pandas type of a column: a nullable one if its values are of one kind."""
    kinds = {type(v) for v in values if v is not None}
    return DTYPES[kinds.pop()] if len(kinds) == 1 else object
