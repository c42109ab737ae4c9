"""Inputs to start from, read from a folder that may hold anything."""

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from aloex.base.errors import require

NUM_NAMED = 3  # files that a note names


class Seeds(NamedTuple):
    """Inputs, in the order of their names, and what was left out."""

    inputs: list[bytes]
    notes: list[str]


def read(place: Path, *, max_len: int) -> Seeds:
    """The files in a folder and its folders, or one file."""
    require(place.exists(), f"there are no seeds in {place}; check the path")
    found = []
    left_out = defaultdict(list)
    for path in sorted(place.rglob("*")) if place.is_dir() else [place]:
        try:
            if path.is_dir():
                continue
            if path.stat().st_size > max_len:  # not even read: it may not fit into memory
                left_out[f"longer than {max_len} bytes"].append(path.name)
            elif path.is_file():
                found.append(path.read_bytes())
        except OSError as error:
            left_out[error.strerror or "unreadable"].append(path.name)
    notes = [left_out_note("of the seeds", why, names) for why, names in left_out.items()]
    has_some = any(len(x) > 0 for x in found)
    why = "; ".join(notes) or ("it has only empty files" if found else "it is empty")
    require(has_some, f"there is no seed in {place}: {why}; put at least one input of a byte there")
    return Seeds(found, notes)


def left_out_note(what: str, why: str, names: Sequence[str]) -> str:
    """Tells of files that were not taken, and names some."""
    named = ", ".join(names[:NUM_NAMED]) + (", ..." if len(names) > NUM_NAMED else "")
    return f"left out {len(names)} {what} ({why}): {named}"


def hash_of(data: bytes) -> str:
    """The name of an input."""
    return hashlib.sha256(data).hexdigest()[:16]


def fingerprint(inputs: list[bytes]) -> str:
    """Tells one list of seeds from another."""
    return hash_of(b"".join(hashlib.sha256(x).digest() for x in inputs))
