"""Coverage by source file: how many of a file's edges are covered.

llvm-symbolizer tells the file of each edge from the library's debug information. It is asked once
for each library.
"""

import json
import os
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aloex.apps.fuzz.target import edge_addresses
from aloex.apps.fuzz.tools import ToolError, find_llvm, run_tool

AT_ONCE = 5000  # addresses on a command line
TIMEOUT = 60.0  # seconds for them
MOST = 0.9  # of the edges
SYSTEM = "/usr/"  # headers there keep their paths
UNKNOWN = "(not known)"


class Source(NamedTuple):
    """A source file, and its edges."""

    file: str
    covered: int
    edges: int


class Sources(NamedTuple):
    """The source files of a target, or a line that says why they are not known."""

    files: tuple[Source, ...]
    note: str = ""


def coverage_by_source(library: Path, seen: NDArray[np.uint8]) -> Sources:
    """The source files of a library, those with most edges first.

    Args:
        library: with debug information.
        seen: a byte for each edge, 0 if it is not covered.
    """
    if (files := files_of_edges(library, os.stat(library).st_mtime_ns)).note:
        return Sources((), files.note)
    if len(files.names) != len(seen):
        note = (
            f"coverage by source file is left out: {library.name} does not say where its edges are"
        )
        return Sources((), note)
    total = Counter(files.names)
    covered = Counter(name for name, count in zip(files.names, seen, strict=True) if count)
    found = [Source(name, covered[name], count) for name, count in total.items()]
    return Sources(tuple(sorted(found, key=lambda source: (-source.edges, source.file))))


class Files(NamedTuple):
    """The file of each edge, or a line that says why they are not known."""

    names: tuple[str, ...]
    note: str = ""


@cache
def files_of_edges(library: Path, time: int) -> Files:
    """The files of the edges of a library that was changed at a time."""
    try:
        tool, addresses = find_llvm("llvm-symbolizer"), edge_addresses(library)
        starts = range(0, len(addresses), AT_ONCE)
        parts = [ask(tool, library, addresses[i : i + AT_ONCE]) for i in starts]
    except (ToolError, ValueError, LookupError) as error:
        return Files((), f"coverage by source file is left out: {error}")
    paths = [path for part in parts for path in part]
    if not any(paths):
        return Files(
            (), f"coverage by source file is left out: {library.name} was compiled without -g"
        )
    return Files(tuple(shortened(paths)))


def ask(tool: str, library: Path, addresses: Sequence[int]) -> list[str]:
    """The paths of the source files at addresses; empty where they are not known."""
    command = [tool, "--output-style=JSON", "--no-inlines", "--functions=none", f"--obj={library}"]
    answer = run_tool([*command, *map(hex, addresses)], timeout=TIMEOUT).stdout
    return [place["Symbol"][0]["FileName"] for place in json.loads(answer)]


def shortened(paths: Sequence[str]) -> list[str]:
    """Paths without the folder that most of the target's own edges are in."""
    clean = {path: os.path.normpath(path) if path else UNKNOWN for path in set(paths)}
    counts: Counter[str] = Counter()
    for path, count in Counter(clean[path] for path in paths if os.path.isabs(path)).items():
        if not path.startswith(SYSTEM):
            counts.update({f"{folder}/": count for folder in Path(path).parents})
    most = [folder for folder, count in counts.items() if count >= MOST * counts["//"]]
    common = max(most, key=len, default="")
    return [clean[path].removeprefix(common) for path in paths]
