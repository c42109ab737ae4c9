"""Which of two lines of the table is ahead, set by set: Welch's t-test over seeds, corrected."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import ttest_ind

from aloex.apps.synthetic.data import DATA_SETS
from studies.results import markdown
from studies.statistics import holm

Rows = list[dict[str, Any]]
Line = tuple[str, str]  # method, recipe

ALPHA = 0.05
DIVERGED = 10.0  # nats above the floor; the uniform law is some 2 above
AHEAD, LEVEL, BEHIND, NONE = "ahead", "level", "behind", "diverged"

ENERGIES = ("aloe", "aloe-rnn", "aloe-fac-edit", "aloe-fac-noedit", "pcd", "cd", "ade", "ade-rnn")
PAIRS: tuple[tuple[Line, Line], ...] = (
    *((("cd", "best"), (method, "best")) for method in ("aloe", "pcd")),
    (("aloe", "best"), ("pcd", "best")),
    *((("autoregressive", "paper"), (method, "paper")) for method in ENERGIES),
    *(((method, "paper"), ("aloe", "paper")) for method in ("pcd", "cd", "ade")),
    (("aloe-fac-edit", "paper"), ("aloe-fac-noedit", "paper")),
)


def label(line: Line) -> str:
    """As a line is named in the tables."""
    return line[0] if line[1] == "paper" else f"{line[0]}, {line[1]}"


def of_seeds(rows: Rows, line: Line, name: str) -> list[float]:
    """NLL minus floor of a line on a data set, a value for each seed."""
    return [
        row["nll_minus_floor"]
        for row in rows
        if (row["method"], row["recipe"], row["data"]) == (*line, name)
    ]


class Test(NamedTuple):
    """Whose mean is better, and Welch's p value, two-sided; p is None where a model diverged."""

    sign: str
    p_value: float | None


def tests(rows: Rows, one: Line, other: Line) -> dict[str, Test]:
    """The first line against the second on each set that has two seeds of both."""
    found = {}
    for name in DATA_SETS:
        values = [of_seeds(rows, line, name) for line in (one, other)]
        if min(map(len, values)) < 2:
            continue
        sign = AHEAD if np.mean(values[0]) < np.mean(values[1]) else BEHIND
        p_value: Any = ttest_ind(*values, equal_var=False)[1]
        found[name] = Test(sign, float(p_value) if max(map(max, values)) < DIVERGED else None)
    return found


def judge(rows: Rows, one: Line, other: Line) -> dict[str, str]:
    """How the first line stands to the second on each set; p is adjusted for the sets."""
    found = tests(rows, one, other)
    adjusted = iter(holm([test.p_value for test in found.values() if test.p_value is not None]))
    said = lambda test: test.sign if next(adjusted) < ALPHA else LEVEL
    return {name: NONE if t.p_value is None else said(t) for name, t in found.items()}


def ahead_in_one_family(rows: Rows, line: Line) -> int:
    """How often a line is ahead if all tests of the table are one family."""
    tested = [
        (test.sign == AHEAD and pair[0] == line, test.p_value)
        for pair in PAIRS
        for test in tests(rows, *pair).values()
        if test.p_value is not None
    ]
    adjusted = holm([p_value for _, p_value in tested])
    return sum(own and p < ALPHA for (own, _), p in zip(tested, adjusted, strict=True))


def in_words(verdicts: dict[str, str]) -> str:
    """ahead on moons and circles, level on all others."""
    judged = [kind for kind in (AHEAD, BEHIND, LEVEL) if kind in verdicts.values()]
    said = []
    for kind in judged:
        names = [name for name, verdict in verdicts.items() if verdict == kind]
        last = kind == judged[-1] and NONE not in verdicts.values()
        every = "all" if len(said) == 0 else "all others"
        said.append(f"{kind} on {every if last else listed(names)}")
    if not said:
        return "not to be compared"
    return ", ".join(said)


def listed(names: Sequence[str]) -> str:
    """a, b and c."""
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def counts(verdicts: Iterable[dict[str, str]]) -> dict[str, int]:
    """How often each verdict was given."""
    every = [verdict for one in verdicts for verdict in one.values()]
    return {kind: every.count(kind) for kind in (AHEAD, LEVEL, BEHIND, NONE)}


def table(rows: Rows) -> str:
    """A line for each pair that there are rows of, a column for each set."""
    judged = {pair: judge(rows, *pair) for pair in PAIRS}
    lines = [
        [f"{label(one)} against {label(other)}", *(found.get(name, "–") for name in DATA_SETS)]
        for (one, other), found in judged.items()
        if found
    ]
    return markdown(["", *DATA_SETS], lines) if lines else ""


def diverged(rows: Rows, method: str) -> str:
    """The sets on which some model of a method diverged, the paper's settings."""
    of = lambda name: of_seeds(rows, (method, "paper"), name)
    there = [name for name in DATA_SETS if of(name)]
    lost = [name for name in there if max(of(name)) >= DIVERGED]
    return "every set" if lost == there else listed(lost) if lost else "no set"
