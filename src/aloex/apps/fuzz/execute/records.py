"""What a worker writes about inputs, read from the memory that it shares with us.

The process that wrote it has run a target that may write anywhere, so everything is checked.
"""

import ctypes
from collections.abc import Iterator
from ctypes import c_uint8, c_uint16, c_uint32, c_uint64
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aloex.apps.fuzz.inputs import ExitStatus
from aloex.apps.fuzz.native import EDIT, MAX_STACKS, ORIGINS, Recipe

MAX_FRAMES = 16
TOKEN = np.dtype([("size", "u1"), ("bytes", "u1", 31)])  # struct token_bytes
MASK = 2**64 - 1


class Head(ctypes.Structure):
    """struct record in native/worker/worker.h."""

    _fields_ = (
        ("checksum", c_uint64),
        ("size", c_uint64),
        ("number", c_uint64),
        ("status", c_uint8),
        ("signal", c_uint8),
        ("num_frames", c_uint16),
        ("num_edges", c_uint32),
        ("num_features", c_uint32),
        ("num_edits", c_uint32),
        ("num_tokens", c_uint32),
        ("report_size", c_uint32),
        ("recipe", Recipe),
        ("cost", c_uint64),
        ("frames", c_uint32 * MAX_FRAMES),
    )


class Trace(NamedTuple):
    """What an input was compared with."""

    edits: NDArray[Any]  # that put what was compared where it was compared with
    tokens: list[bytes]


class RunRecord(NamedTuple):
    """An input that ran: how it ended, and what it covered."""

    number: int
    status: ExitStatus
    signal: int
    num_edges: int
    features: NDArray[np.uint32]  # all, or those that were new when it ran
    operators: int  # of a mutant: a bit for each that took part
    stack: int
    origin: int
    parent: int
    frames: tuple[int, ...]  # of a failure: offsets in the target, innermost first
    cost: int  # grows with the time that it takes, and is the same each time
    trace: Trace
    report: str  # what a failing input wrote to stderr


def read_records(log: NDArray[np.uint8], num_edges: int) -> Iterator[RunRecord]:
    """The records in a log. What is damaged, and all after it, is left out."""
    at = 0
    while at + ctypes.sizeof(Head) <= len(log):
        head = Head.from_buffer(log.data, at)
        if not _is_whole(head, log[at:]):
            return
        record = _read(head, log[at + ctypes.sizeof(Head) : at + head.size])
        if record.features.max(initial=0) >= 8 * num_edges:
            return
        yield record
        at += head.size


def _is_whole(head: Head, log: NDArray[np.uint8]) -> bool:
    if head.size > len(log) or head.size % 8 or head.num_frames > MAX_FRAMES:
        return False
    parts = 4 * head.num_features + head.num_edits * EDIT.itemsize
    parts += head.num_tokens * TOKEN.itemsize + head.report_size
    if ctypes.sizeof(Head) + parts > head.size or head.status > max(ExitStatus):
        return False
    good = head.recipe.stack < MAX_STACKS and head.recipe.origin < len(ORIGINS)
    return good and checksum(log[8 : head.size]) == head.checksum


def checksum(data: NDArray[np.uint8]) -> int:
    """The hash of worker/child.c, a multiply and a shift for each word."""
    with np.errstate(over="ignore"):
        words = data.view(np.uint64)
        place = np.arange(1, len(words) + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z = words ^ place
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
        return int(z.sum(dtype=np.uint64))


def _read(head: Head, rest: NDArray[np.uint8]) -> RunRecord:
    parts, at = [], 0
    for dtype, count in (
        ("<u4", head.num_features),
        (EDIT, head.num_edits),
        (TOKEN, head.num_tokens),
    ):
        size = count * np.dtype(dtype).itemsize
        parts.append(rest[at : at + size].view(dtype).copy())
        at += size
    features, edits, tokens = parts
    return RunRecord(
        number=head.number,
        status=ExitStatus(head.status),
        signal=head.signal,
        num_edges=head.num_edges,
        features=features,
        operators=head.recipe.operators,
        stack=head.recipe.stack,
        origin=head.recipe.origin,
        parent=head.recipe.parent,
        frames=tuple(head.frames[: head.num_frames]),
        cost=head.cost,
        trace=Trace(edits, [t["bytes"][: t["size"]].tobytes() for t in tokens]),
        report=rest[at : at + head.report_size].tobytes().decode(errors="replace"),
    )
