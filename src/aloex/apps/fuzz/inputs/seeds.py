"""Seeds: the inputs that a campaign starts from, read from a folder that may hold anything."""

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from aloex.base.errors import require

NUM_NAMED = 3  # files that a note names


class Seeds(NamedTuple):
    """Inputs in the order of their names, and notes on the files that were left out."""

    inputs: list[bytes]
    notes: list[str]


def read_seeds(path: Path, *, max_len: int) -> Seeds:
    """Read the files in a folder and its subfolders, or one file.

    Args:
        path: the folder or the file.
        max_len: bytes that a seed may have; longer files are left out.
    """
    require(path.exists(), f"there are no seeds in {path}; check the path")
    found = []
    left_out = defaultdict(list)
    for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
        try:
            if file.is_dir():
                continue
            if file.stat().st_size > max_len:  # not even read: it may not fit into memory
                left_out[f"longer than {max_len} bytes"].append(file.name)
            elif file.is_file():
                found.append(file.read_bytes())
        except OSError as error:
            left_out[error.strerror or "unreadable"].append(file.name)
    notes = [left_out_note("of the seeds", why, names) for why, names in left_out.items()]
    has_some = any(len(x) > 0 for x in found)
    why = "; ".join(notes) or ("it has only empty files" if found else "it is empty")
    require(has_some, f"there is no seed in {path}: {why}; put at least one input of a byte there")
    return Seeds(found, notes)


def left_out_note(what: str, why: str, names: Sequence[str]) -> str:
    """A line that says how many files were left out and why, and names some of them."""
    named = ", ".join(names[:NUM_NAMED]) + (", ..." if len(names) > NUM_NAMED else "")
    return f"left out {len(names)} {what} ({why}): {named}"


def hash_of(data: bytes) -> str:
    """The name of an input: 16 hexadecimal digits of its SHA-256."""
    return hashlib.sha256(data).hexdigest()[:16]


def fingerprint(inputs: list[bytes]) -> str:
    """A hash of a list of inputs, in their order."""
    return hash_of(b"".join(hashlib.sha256(x).digest() for x in inputs))
