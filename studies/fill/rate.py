"""How many tasks are solved from their first rows, and how often "sure" is right."""

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from scipy.stats import beta

from aloex.apps.fill.fill.column import Filled, fill_column
from aloex.base.errors import InputError
from studies.fill.tasks import Task

MAX_CORRECTIONS = 8


class Rated(NamedTuple):
    """One task from its first rows."""

    task: Task
    solved: bool
    sure: bool
    seconds: float


def rate(task: Task, num_examples: int) -> Rated:
    """Fill a task from its first rows; it is solved if every other row is right."""
    start = time.process_time()
    filled = _fill(task, list(range(num_examples)))
    seconds = time.process_time() - start
    solved = filled is not None and _wrong(task, filled) == []
    return Rated(task, solved, filled is not None and filled.sure, seconds)


def corrections(task: Task) -> int:
    """Examples beyond the first until all is right, when the question asked is answered each time.

    Where no row is in doubt and one is wrong, a person has to find it: the first wrong one counts.
    """
    given = [0]
    while len(given) <= min(MAX_CORRECTIONS, len(task.rows) - 1):
        filled = _fill(task, given)
        wrong = [i for i in range(len(task.rows)) if i not in given]
        if filled is not None:
            wrong = _wrong(task, filled)
            if not wrong:
                return len(given) - 1
        asked = None if filled is None else filled.ask_next
        given.append(wrong[0] if asked is None else asked)
    return len(given) - 1


def _fill(task: Task, given: Sequence[int]) -> Filled | None:
    outputs = [text if i in given else None for i, text in enumerate(task.outputs)]
    try:
        return fill_column(task.rows, outputs, task.columns)
    except InputError:
        return None


def _wrong(task: Task, filled: Filled) -> list[int]:
    pairs = zip(filled.values, task.outputs, strict=True)
    return [i for i, (text, wanted) in enumerate(pairs) if (text or "") != wanted]


def summary(rated: Sequence[Rated]) -> dict[str, Any]:
    """Counts, with exact 95% limits of the share of "sure" answers that are right."""
    sure = [each for each in rated if each.sure]
    right = sum(each.solved for each in sure)
    seconds = sorted(each.seconds for each in rated)
    low, high = limits(right, len(sure))
    return {
        "tasks": len(rated),
        "solved": sum(each.solved for each in rated),
        "sure": len(sure),
        "sure_and_right": right,
        "sure_right_low": round(low, 4),
        "sure_right_high": round(high, 4),
        "median_cpu_seconds": round(seconds[len(seconds) // 2], 4),
        "max_cpu_seconds": round(seconds[-1], 3),
    }


def limits(right: int, number: int) -> tuple[float, float]:
    """Clopper and Pearson's 95% limits of a share."""
    if number == 0:
        return 0.0, 1.0
    low = beta.ppf(0.025, right, number - right + 1) if right else 0.0
    high = beta.ppf(0.975, right + 1, number - right) if right < number else 1.0
    return float(low), float(high)
