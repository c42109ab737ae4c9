"""A small corpus that covers what a large one covers: greedy set cover over the edges."""

import heapq
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from aloex.apps.fuzz.execute import Executor
from aloex.apps.fuzz.inputs import ExitStatus

AT_ONCE = 64  # inputs that are run before it is asked whether to go on


def cover(edges: Sequence[np.ndarray], sizes: Sequence[int], num_edges: int) -> list[int]:
    """Choose inputs that together have all edges: next is always the one with most new edges.

    Of two with as many, the shorter one is chosen.

    Args:
        edges: the edges of each input.
        sizes: the number of bytes of each input.
        num_edges: the number of edges of the target.
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
        elif len(new) > 0:  # a gain only ever shrinks, so look again later
            heapq.heappush(queue, (-len(new), size, i))
    return chosen


def minimise_corpus(
    executor: Executor,
    inputs: dict[str, bytes],
    *,
    may_go_on: Callable[[int], bool] = lambda num_run: True,
) -> list[str] | None:
    """The names of inputs that cover all edges of the inputs given.

    `may_go_on` is asked now and then, with how many inputs were run. If not, it is None.
    """
    names, edges = list(inputs), dict[str, np.ndarray]()
    for start in range(0, len(names), AT_ONCE):
        if not may_go_on(start):
            return None
        part = names[start : start + AT_ONCE]
        outcomes = executor.run([inputs[name] for name in part], full=True)
        well = np.flatnonzero(outcomes.status == ExitStatus.OK).tolist()
        edges |= {part[i]: outcomes.edges_of(i) for i in well}
    well = list(edges)
    sizes = [len(inputs[name]) for name in well]
    return [well[i] for i in cover(list(edges.values()), sizes, len(executor.seen))]


def write_inputs(folder: Path, inputs: dict[str, bytes]) -> None:
    """Make a folder hold these inputs and nothing else."""
    writing = folder.with_name(f".{folder.name}.writing")
    shutil.rmtree(writing, ignore_errors=True)
    writing.mkdir(parents=True)
    for name, data in inputs.items():
        (writing / name).write_bytes(data)
    shutil.rmtree(folder, ignore_errors=True)
    os.replace(writing, folder)
