"""What the edits of a joint beam did: how many there were, and programs that they repaired."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from aloex.apps.programs.language import Program, show
from aloex.apps.programs.networks.programs.codes import program_of
from aloex.apps.programs.networks.search.joint_beam import Edited
from aloex.apps.programs.tasks.tasks import Task

NUM_SHOWN, MAX_SHOWN = 5, 4  # repairs that are told, and the expressions that they may have


class Judged(NamedTuple):
    """What programs are worth [tasks, programs]."""

    fit: np.ndarray  # writes the public outputs
    right: np.ndarray  # and all others

    def top(self, k: int) -> np.ndarray:
        """For each task whether one of the first k programs that fit is right."""
        return np.any(self.right & (np.cumsum(self.fit, axis=1) <= k), axis=1)


def told(tasks: Sequence[Task], found: Edited, judged: Judged, start: Judged) -> dict[str, Any]:
    """Edits that led to the first program that fits, and to the first that is right.

    `repaired` is the share of the tasks whose first program is right while that of q0 which it
    came from is not; the first of them that are short are told in full.
    """
    every, first = np.arange(len(tasks)), judged.fit.argmax(axis=1)
    repaired = judged.right[every, first] & ~start.right[every, first]
    paths = {i: _programs(found, i, int(first[i])) for i in np.flatnonzero(repaired).tolist()}
    short = [i for i, path in paths.items() if max(map(len, path)) <= MAX_SHOWN]
    return {
        "num_edits": _counts(found, judged.fit),
        "num_edits_right": _counts(found, judged.right),
        "repaired": float(repaired.mean()),
        "repairs": [_repair(i, tasks[i], paths[i]) for i in short[:NUM_SHOWN]],
    }


def _counts(found: Edited, chosen: np.ndarray) -> list[int]:
    """Tasks by the edits behind the first of the chosen programs, where there is one."""
    there, first = chosen.any(axis=1), chosen.argmax(axis=1)
    num_edits = found.num_edits[np.arange(len(first)), first][there]
    return np.bincount(num_edits, minlength=found.path.shape[2]).tolist()


def _programs(found: Edited, task: int, rank: int) -> list[Program]:
    """x_0, ..., x_t."""
    return [
        program_of(codes) for codes in found.path[task, rank, : 1 + found.num_edits[task, rank]]
    ]


def _repair(number: int, task: Task, path: list[Program]) -> dict[str, Any]:
    edits = [described(*pair) for pair in pairwise(path)]
    ends = {"start": show(path[0]), "edits": edits, "end": show(path[-1])}
    return {"task": number, "pairs": task.public, **ends}


def described(before: Program, after: Program) -> str:
    """The edit between two programs."""
    same = [a == b for a, b in zip(before, after, strict=False)]
    index = same.index(False) if False in same else len(same)
    if len(after) < len(before):
        return f"delete expression {index + 1}"
    if before == after:
        return "write an expression again"
    kind = "replace" if len(after) == len(before) else "insert"
    return f"{kind} expression {index + 1}: {show(after[index : index + 1])}"
