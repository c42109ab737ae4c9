"""Tables of numbers in .npy and .csv files, for commands that read and write them."""

import io
from pathlib import Path

import numpy as np

from aloex.base.errors import InputError, require
from aloex.base.files import make_folder, naming, write_file

SUFFIXES = (".npy", ".csv")
MAPPED = 2**30  # bytes of a .npy file from which on it stays on the disk


def read_table(path: Path) -> np.ndarray:
    """The table in a .npy or .csv file, or an `InputError` that says what is wrong with it."""
    require(path.suffix in SUFFIXES, f"{path} must be a .npy or .csv file")
    if not path.exists():
        raise InputError(f"there is no file {path}; check the path")
    try:
        with naming(path, "read"):
            if path.suffix == ".npy":
                mode = "r" if path.stat().st_size >= MAPPED else None
                return np.load(path, mmap_mode=mode, allow_pickle=False)
            require(path.stat().st_size > 0, f"{path} is empty")
            table = np.loadtxt(path, delimiter=",", ndmin=2)
    except (EOFError, ValueError) as error:
        raise InputError(f"{path} cannot be read as a table of numbers: {error}") from None
    _check_finite(path, table)
    return table.astype(np.int64) if np.all(table == np.round(table)) else table


def _check_finite(path: Path, table: np.ndarray) -> None:
    bad = np.argwhere(~np.isfinite(table))
    if len(bad):
        row, column = bad[0].tolist()
        raise InputError(
            f"{path} has {table[row, column]} in row {row + 1}, column {column + 1}; every cell "
            "must be a finite number"
        )


def require_table_name(path: Path, option: str) -> None:
    """An `InputError` unless `write_table` can write the file."""
    require(path.suffix in SUFFIXES, f"{option} must end in .npy or .csv, got {path}")


def write_table(path: Path, table: np.ndarray) -> None:
    """Write a .npy or .csv file, whole or not at all."""
    make_folder(path.parent)
    if path.suffix == ".npy":
        data = io.BytesIO()
        np.save(data, table)
        write_file(path, data.getvalue())
        return
    text = io.StringIO()
    whole = np.issubdtype(table.dtype, np.integer)
    np.savetxt(text, table, fmt="%d" if whole else "%.9g", delimiter=",")
    write_file(path, text.getvalue())
