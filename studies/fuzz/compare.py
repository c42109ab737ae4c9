"""Tables of the study: coverage of each method, and whether one is ahead by more than chance."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import mannwhitneyu

from studies.results import markdown
from studies.statistics import holm

Key = tuple[str, str, int | float]  # method, mode, edits


class Versus(NamedTuple):
    """How the numbers of one line stand to those of another."""

    p_value: float  # Mann and Whitney's test, two-sided
    a12: float  # probability that one of the first is larger than one of the second (ties: half)


def versus(first: Sequence[int], second: Sequence[int]) -> Versus:
    """The first sample against the second; Vargha and Delaney's A12 is U / (n m)."""
    u, p_value = mannwhitneyu(first, second, alternative="two-sided")
    return Versus(float(p_value), float(u) / (len(first) * len(second)))


def edges_of(
    rows: Iterable[dict[str, Any]], target: str, inputs: int, *, with_seeds: bool = True
) -> dict[Key, list[int]]:
    """Edges in each trial, by line."""
    found = defaultdict(list)
    for row in rows:
        if (row["target"], row["inputs"], row["with_seeds"]) == (target, inputs, with_seeds):
            found[row["method"], row["mode"], row["edits"]].append(row["edges"])
    return dict(found)


def best_edits(
    found: dict[Key, list[int]], of: Callable[[Key], Any] = lambda key: key[:2]
) -> dict[Any, Key]:
    """The line whose mean is highest, of each method and mode or whatever `of` tells apart.

    The highest comes first.
    """
    best: dict[Any, Key] = {}
    for key in sorted(found, key=lambda key: -np.mean(found[key])):
        best.setdefault(of(key), key)
    return best


def without_feedback(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those of mutators that learn nothing from the target."""
    learning = ("adaptive", "feedback", "union")
    return [row for row in rows if not row["mode"].startswith(learning)]


def with_feedback(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those of mutators and fuzzers that go on from what they found."""
    return [row for row in rows if row["mode"] in ("adaptive", "feedback")]


def against(rows: list[dict[str, Any]], inputs: int, method: str, mode: str) -> str:
    """A method in one mode beside the others, each at its best line: means, trials and p.

    The p values are adjusted for all tests of the table.
    """
    kept = [row for row in rows if row["method"] != method or row["mode"] == mode]
    columns: dict[str, dict[str, str]] = {}
    p_values: dict[tuple[str, str], float] = {}
    for target in sorted({row["target"] for row in kept}):
        found = edges_of(kept, target, inputs)
        best = best_edits(found, lambda key: key[0])
        if method in best:
            first = found[best.pop(method)]
            columns[target] = {method: f"{np.mean(first):.1f} (n {len(first)})"}
            for name, key in best.items():
                columns[target][name] = f"{np.mean(found[key]):.1f} (n {len(found[key])}, p "
                p_values[target, name] = versus(first, found[key]).p_value
    for (target, name), p_value in zip(p_values, holm([*p_values.values()]), strict=True):
        columns[target][name] += f"{p_value:.2g})"
    names = dict.fromkeys(name for cells in columns.values() for name in cells)
    lines = [[name, *(cells.get(name, "–") for cells in columns.values())] for name in names]
    return markdown([f"{inputs} inputs", *columns], lines) if columns else ""


def table(rows: list[dict[str, Any]], inputs: int) -> str:
    """Each method at its best number of edits, held against the one that is ahead.

    There is a table for each target; the p values are adjusted for all tests of their table.
    """
    parts = []
    for target in dict.fromkeys(row["target"] for row in rows):
        found = edges_of(rows, target, inputs)
        if not found:
            continue
        first, *others = best_edits(found).values()
        tests = {key: versus(found[key], found[first]) for key in others}
        p_values = holm([test.p_value for test in tests.values()])
        cells = {
            key: [f"{p_value:.2g}", f"{test.a12:.2f}"]
            for (key, test), p_value in zip(tests.items(), p_values, strict=True)
        }
        lines = []
        for key in (first, *others):
            edges = found[key]
            spread = f"{np.mean(edges):.1f} ± {_error(edges):.1f}"
            name, edits = f"{key[0]}, {key[1]}", number_of_edits(key[2])
            lines.append([name, edits, spread, len(edges), *cells.get(key, ["", ""])])
        head = [f"{target}, {inputs} inputs", "edits", "edges", "trials", "p", "A12"]
        parts.append(markdown(head, lines))
    return "\n\n".join(parts)


def number_of_edits(edits: int | float) -> str:
    """As it is said: 30, 2% of the bytes, nothing if the mutator decides."""
    return f"{edits:.0%}" if 0 < edits < 1 else str(edits or "")


def _error(values: list[int]) -> float:
    """The standard error of the mean."""
    return float(np.std(values, ddof=1) / len(values) ** 0.5) if len(values) > 1 else 0.0
