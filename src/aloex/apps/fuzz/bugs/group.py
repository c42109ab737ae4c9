"""The inputs of one bug, and what they say of it together."""

from collections.abc import Sequence

from aloex.apps.fuzz.bugs.bug import Bug, place_of, unnamed_top, with_line
from aloex.apps.fuzz.bugs.crash_file import CrashFile
from aloex.apps.fuzz.bugs.symbols import Frame, unnamed


def by_place(crashes: Sequence[CrashFile], build: str) -> dict[str, list[CrashFile]]:
    """The inputs of each bug, by its place, in the order in which they are given.

    Args:
        crashes: the inputs.
        build: a hash of the library of now.
    """
    tops = {(x.build, x.fault.site): x.top for x in crashes if x.top is not None}
    groups: dict[str, list[CrashFile]] = {}
    for crash in crashes:
        top = tops.get((crash.build, crash.fault.site))
        groups.setdefault(place_of_crash(crash, top, build), []).append(crash)
    return groups


def place_of_crash(crash: CrashFile, top: tuple[Frame, ...] | None, build: str) -> str:
    """The place of an input; addresses of another build are told from those of this one."""
    place = place_of(crash.fault, top)
    is_address = top is None and crash.build != build
    return f"{place} in build {crash.build}" if is_address else place


def size_and_hash(crash: CrashFile) -> tuple[int, str]:
    """Inputs are sorted by this: the smallest first."""
    return crash.size, crash.hash


def best_of(crashes: Sequence[CrashFile]) -> CrashFile:
    """The input to show for a bug: what is smallest now, or was made small."""
    minimised = [crash for crash in crashes if crash.has_small]
    if not minimised:
        return min(crashes, key=size_and_hash)
    return min(minimised, key=lambda crash: (crash.minimised or 0, *size_and_hash(crash)))


def is_minimised(crashes: Sequence[CrashFile]) -> bool:
    """Whether the smallest input was minimised, or another to no more than its size."""
    smallest = min(crashes, key=size_and_hash)
    tried = [x.minimised for x in crashes if x.minimised is not None]
    return smallest.minimised is not None or min(tried, default=smallest.size + 1) <= smallest.size


def described(crashes: Sequence[CrashFile], build: str, *, inputs: int, reproduce: str) -> Bug:
    """The bug.

    Args:
        crashes: its inputs, in the order in which they came.
        build: a hash of the library of now.
        inputs: how many failed so, those that are not kept among them.
        reproduce: a command for the best of them.
    """
    first, best = crashes[0], best_of(crashes)
    fault = first.fault
    by_size = sorted(crashes, key=size_and_hash)
    named = next((crash for crash in crashes if crash.top is not None), first)
    frames = tuple(map(unnamed, fault.stack)) if named.frames is None else named.frames
    return Bug(
        kind=fault.kind,
        place=place_of_crash(first, named.top, build),
        top=unnamed_top(fault) if named.top is None else with_line(fault, named.top),
        has_lines=fault.has_lines,
        frames=with_line(fault, frames),
        inputs=inputs,
        kept=(first.input, *(x.input for x in by_size if x is not first)),
        smallest=by_size[0].input,
        minimised=best.small,
        reproduce=reproduce,
        report=fault.report,
    )
