"""Tables of numbers in .npy and .csv files, for commands that read and write them."""

import io
import warnings
from pathlib import Path

import numpy as np

from aloex.base.errors import InputError, require
from aloex.base.files import make_folder, naming, write_file

SUFFIXES = (".npy", ".csv")
MAPPED = 2**30  # bytes of a .npy file from which on it stays on the disk
MAX_EXACT = 2**53  # floating-point numbers below it tell all integers apart


def read_table(path: Path) -> np.ndarray:
    """The table in a .npy or .csv file, or an `InputError` that says what is wrong with it."""
    suffix = path.suffix.lower()
    require(suffix in SUFFIXES, f"{path} must be a .npy or .csv file")
    if not path.exists():
        raise InputError(f"there is no file {path}; check the path")
    with naming(path, "read"):
        return _read_npy(path) if suffix == ".npy" else _read_csv(path)


def _read_npy(path: Path) -> np.ndarray:
    mode = "r" if path.stat().st_size >= MAPPED else None
    try:
        table = np.load(path, mmap_mode=mode, allow_pickle=False)
    except (EOFError, ValueError) as error:
        raise InputError(f"{path} cannot be read as a table of numbers: {error}") from None
    if not isinstance(table, np.ndarray):
        raise InputError(f"{path} is an archive of arrays (.npz); save one array with np.save")
    return table


def _read_csv(path: Path) -> np.ndarray:
    """Whole numbers as integers. A byte order mark and quotes around cells do no harm."""
    try:
        with warnings.catch_warnings(action="ignore"):  # of no rows, which is told below
            table = np.loadtxt(path, delimiter=",", ndmin=2, quotechar='"', encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path} is not UTF-8 text (byte {error.start}); save it as CSV in UTF-8"
        ) from None
    except ValueError as error:
        raise InputError(
            f"{path} cannot be read as a table of numbers: {str(error).rstrip('.')}; it must have "
            "numbers with commas between them, in every row as many, and no header"
        ) from None
    require(table.size > 0, f"{path} is empty")
    _check_cells(path, table)
    return table.astype(np.int64) if np.all(table == np.round(table)) else table


def _check_cells(path: Path, table: np.ndarray) -> None:
    bad = np.argwhere(~(np.abs(table) < MAX_EXACT))
    if len(bad):
        row, column = bad[0].tolist()
        raise InputError(
            f"{path} has {table[row, column]} in row {row + 1}, column {column + 1}; every cell "
            "must be a finite number below 2^53"
        )


def require_table_name(path: Path, option: str) -> None:
    """An `InputError` unless `write_table` can write the file."""
    require(path.suffix.lower() in SUFFIXES, f"{option} must end in .npy or .csv, got {path}")


def write_table(path: Path, table: np.ndarray) -> None:
    """Write a .npy or .csv file, whole or not at all."""
    make_folder(path.parent)
    if path.suffix.lower() == ".npy":
        data = io.BytesIO()
        np.save(data, table)
        write_file(path, data.getvalue())
        return
    text = io.StringIO()
    whole = np.issubdtype(table.dtype, np.integer)
    np.savetxt(text, table, fmt="%d" if whole else "%.9g", delimiter=",")
    write_file(path, text.getvalue())
