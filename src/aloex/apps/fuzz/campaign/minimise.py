"""A small corpus that covers what a large one covers: greedy set cover over the edges."""

import heapq
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from aloex.apps.fuzz.execute.executor import Executor


def cover(edges: Sequence[np.ndarray], sizes: Sequence[int], num_edges: int) -> list[int]:
    """Inputs that together have all edges: always the one with most new ones, the shorter first.

    Args:
        edges: of each input.
        sizes: bytes of each input.
        num_edges: that there are.
    """
    covered = np.zeros(num_edges, bool)
    queue = [(-len(np.unique(of_one)), sizes[i], i) for i, of_one in enumerate(edges)]
    heapq.heapify(queue)
    chosen = []
    while queue:
        gain, size, i = heapq.heappop(queue)
        new = np.unique(edges[i][~covered[edges[i]]])
        if len(new) == -gain > 0:
            chosen.append(i)
            covered[new] = True
        elif len(new) > 0:  # others have taken some; a gain only ever shrinks, so look again later
            heapq.heappush(queue, (-len(new), size, i))
    return chosen


def minimise(executor: Executor, inputs: dict[str, bytes]) -> list[str]:
    """The names of inputs that cover all edges of the inputs given."""
    names = list(inputs)
    outcomes = executor.run([inputs[name] for name in names], full=True)
    well = [i for i in range(len(names)) if outcomes.status[i] == 0]
    edges = [outcomes.edges_of(i) for i in well]
    sizes = [len(inputs[names[i]]) for i in well]
    return [names[well[i]] for i in cover(edges, sizes, len(executor.seen))]


def write_all(folder: Path, inputs: dict[str, bytes]) -> None:
    """Make a folder hold these inputs and nothing else."""
    writing = folder.with_name(f".{folder.name}.writing")
    shutil.rmtree(writing, ignore_errors=True)
    writing.mkdir(parents=True)
    for name, data in inputs.items():
        (writing / name).write_bytes(data)
    shutil.rmtree(folder, ignore_errors=True)
    os.replace(writing, folder)
