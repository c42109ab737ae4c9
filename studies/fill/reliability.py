"""How often a row of some confidence is right: the points of a reliability plot.

Rows of one task are right or wrong together, so the limits come from drawing whole tasks again and
again with replacement, not from counting rows.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from aloex.apps.fill.fill.column import fill_column
from aloex.apps.fill.fill.confidence import SURE
from aloex.base.errors import InputError
from studies.fill.tasks import Task

EDGES = (0.0, 0.5, 0.7, SURE, 0.95, 1.0)
MIN_ROWS = 5  # of a point that is drawn
DRAWS = 1000
SEED = 0

Pairs = list[tuple[float, bool]]  # of the rows of a task: confidence, and whether it is right


def confidence_and_truth(task: Task, num_examples: int) -> Pairs:
    """The rows of a task that are filled from its first rows; those without an answer are left."""
    given = [text if i < num_examples else None for i, text in enumerate(task.outputs)]
    try:
        filled = fill_column(task.rows, given, task.columns)
    except InputError:
        return []
    rows = list(zip(filled.answers, task.outputs, strict=True))[num_examples:]
    return [(a.confidence, a.text == wanted) for a, wanted in rows if a.text is not None]


def reliability(tasks: Sequence[Pairs]) -> list[dict[str, float]]:
    """For each bin of confidence: rows, their mean confidence, the share that is right, limits."""
    by_task = np.array([_counts(pairs) for pairs in tasks])  # [task, bin, (rows, sum, right)]
    rng = np.random.default_rng(SEED)
    drawn = [by_task[rng.integers(len(by_task), size=len(by_task))].sum(0) for _ in range(DRAWS)]
    found = []
    for k, (number, total, right) in enumerate(by_task.sum(0).tolist()):
        if number:
            shares = [d[k, 2] / d[k, 0] for d in drawn if d[k, 0]]
            low, high = np.quantile(shares, (0.025, 0.975))
            found.append(
                {
                    "rows": int(number),
                    "confidence": round(total / number, 4),
                    "right": round(right / number, 4),
                    "low": round(float(low), 4),
                    "high": round(float(high), 4),
                }
            )
    return found


def _counts(pairs: Pairs) -> np.ndarray:
    """[bin, (rows, sum of confidences, right ones)]; at an edge it is the upper bin."""
    counts = np.zeros((len(EDGES) - 1, 3))
    for confidence, right in pairs:
        k = min(int(np.searchsorted(EDGES, confidence, "right")) - 1, len(counts) - 1)
        counts[k] += 1, confidence, right
    return counts


def draw(rows: Sequence[dict[str, Any]], names: dict[str, str], path: Path) -> None:
    """The plot: confidence against the share that is right, a line for each set."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6.4, 5.2), layout="constrained")
    axes.plot([0, 1], [0, 1], color="0.7", lw=1, label="as it should be")
    axes.axvspan(SURE, 1.0, color="0.93", zorder=0)
    for number, (row, marker) in enumerate(zip(rows, "osD^", strict=False)):
        points = [point for point in row["points"] if point["rows"] >= MIN_ROWS]
        x = [point["confidence"] + 0.008 * (number - 1) for point in points]  # side by side
        y = [point["right"] for point in points]
        below = [point["right"] - point["low"] for point in points]
        above = [point["high"] - point["right"] for point in points]
        label = f"{names[row['set']]}, {row['num_rows']} rows"
        axes.errorbar(x, y, (below, above), fmt=marker, ms=6, lw=1.2, capsize=2, label=label)
    axes.set(xlim=(0, 1.02), ylim=(0, 1.02), xlabel="confidence of a row")
    axes.set_ylabel("share of these rows that is right")
    axes.set_title(
        f"Rows filled from two examples; not in doubt from {SURE} on (grey)", fontsize=10
    )
    axes.legend(loc="lower right", fontsize=9)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130, metadata={"Software": None})
    plt.close(figure)
