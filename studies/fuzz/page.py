"""The study's page, docs/fuzz_study.md, and its figure, from the committed rows."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from studies.fuzz import equal
from studies.fuzz.claims import PValues
from studies.fuzz.compare import (
    Key,
    against,
    best_edits,
    edges_of,
    number_of_edits,
    table,
    versus,
    with_feedback,
    without_feedback,
)
from studies.fuzz.study import LEARNED
from studies.results import markdown
from studies.statistics import holm
from studies.template import fill

Rows = list[dict[str, Any]]

COLOURS = {
    "aloex": "#111111",
    "aloe, adaptive": "#7a1f3d",
    "masked, adaptive": "#173a6b",
    "no-model, adaptive": "#8a5aa8",
    "libfuzzer+aloe": "#ff7043",
    "aloe": "#c2185b",
    "aloe-window": "#e06c9f",
    "masked": "#2a6fbb",
    "cd": "#00897b",
    "ade": "#9e9d24",
    "learn-and-fuzz": "#6d4c41",
    "rnn-ebm": "#78909c",
    "uniform": "#e8871e",
    "other-seed": "#3f8f4f",
    "numbers": "#d4b106",
    "libfuzzer": "#b0413e",
    "aflpp": "#6b6b6b",
}
SWEPT = 10_000
OURS = equal.OURS, equal.FEEDBACK
BEFORE = "no-model", "adaptive"  # the mutator that the engine has replaced


def render(rows: Rows, now: Rows | None = None) -> str:
    """The page.

    Args:
        rows: those of before the engine, and those without feedback.
        now: those of the engine and of other fuzzers, if there are any yet.
    """
    now = now or []
    counts = _counts(rows)
    shown = [n for n in (1000, 10_000, 100_000) if n in counts] or counts[-1:]
    swept = _swept(counts)
    adaptive = [against(with_feedback(rows), n, "aloe", "adaptive") for n in shown]
    methods = {row["method"] for row in rows}
    p = PValues(rows)
    return fill(
        Path(__file__).with_name("page.md.j2"),
        now="\n\n".join(filter(None, (against(now, n, *OURS) for n in _counts(now)))),
        beside=beside_before(rows, now),
        adaptive="\n\n".join(filter(None, adaptive)),
        no_feedback=against(without_feedback(rows), swept, "aloe", "best"),
        best=against([row for row in rows if row["mode"] == "best"], swept, "aloe", "best"),
        p=p,
        num_tests=sum(test.claim.inputs == p.inputs for test in p.tests),
        tables="\n\n".join(table(rows, n) for n in shown),
        inputs=f"{swept:,}",
        all_without_feedback=table(without_feedback(rows), swept),
        models=_models(rows),
        without_times=", ".join(
            sorted({f"`{r['method']}` in `{r['mode']}`" for r in rows if not _has_times(r)})
        ),
        seconds=_times(rows, swept),
        sweep=_sweep(rows, swept, "edges", ".0f"),
        passing=_sweep(rows, swept, "passing", ".1%"),
        learned=" ".join(name for name in LEARNED if name in methods),
        commands="\n".join(sorted({row["command"] for row in [*filter(_can_be_made, rows), *now]})),
    )


def beside_before(rows: Rows, now: Rows) -> str:
    """The engine's mean edges by those of what was there before, and p, adjusted for the table."""
    ratios, p_values = dict[tuple[str, int], float](), list[float]()
    for target in sorted({row["target"] for row in now}):
        for n in _counts(now):
            ours = edges_of(now, target, n).get((*OURS, 0))
            before = edges_of(rows, target, n).get((*BEFORE, 0))
            if ours and before:
                ratios[target, n] = float(np.mean(ours) / np.mean(before))
                p_values.append(versus(ours, before).p_value)
    adjusted = dict(zip(ratios, holm(p_values), strict=True))
    cell = lambda key: f"{ratios[key]:.2f} (p {adjusted[key]:.2g})" if key in ratios else "–"
    names, counts = sorted({name for name, _ in ratios}), sorted({n for _, n in ratios})
    lines = [[f"{n:,} inputs", *(cell((name, n)) for name in names)] for n in counts]
    return markdown(["", *names], lines) if lines else ""


def _counts(rows: Rows) -> list[int]:
    """The numbers of inputs."""
    return sorted({row["inputs"] for row in rows})


def _can_be_made(row: dict[str, Any]) -> bool:
    """Whether there still is what made it."""
    return row["mode"] not in ("adaptive", "feedback")


def _swept(counts: list[int]) -> int:
    """The number of inputs for which there are all lines."""
    return SWEPT if SWEPT in counts else counts[-1]


def _seconds(rows: Rows, target: str, inputs: int) -> dict[Key, float]:
    """Mean seconds of each line, with its training; left out if that is not known."""
    found = defaultdict(list)
    for row in rows:
        here = row["target"], row["inputs"], row["with_seeds"]
        if _has_times(row) and here == (target, inputs, True):
            total = row["seconds"] + row.get("training_seconds", 0.0)
            found[row["method"], row["mode"], row["edits"]].append(total)
    return {key: float(np.mean(values)) for key, values in found.items()}


def _has_times(row: dict[str, Any]) -> bool:
    """Whether it is known how long its model took to learn, if it has one."""
    return "training_seconds" in row or not set(row["method"].split("+")) & set(LEARNED)


def _models(rows: Rows) -> str:
    """What is known of each model, by target."""
    known = {
        (row["target"], row["method"], round(row["training_seconds"]), f"{row['held_out']:.2f}")
        for row in rows
        if {"held_out", "training_seconds"} <= row.keys() and "+" not in row["method"]
    }
    lines = [[*key, log_p, seconds] for *key, seconds, log_p in sorted(known)]
    return markdown(["", "", "log p", "seconds"], lines)


def _times(rows: Rows, inputs: int) -> str:
    """Seconds and edges of each line at its best number of edits."""
    lines = []
    for target in dict.fromkeys(row["target"] for row in rows):
        found, seconds = edges_of(rows, target, inputs), _seconds(rows, target, inputs)
        for key in best_edits(found).values():
            if key in seconds:
                edges = f"{np.mean(found[key]):.0f}"
                lines.append([target, f"{key[0]}, {key[1]}", f"{seconds[key]:.1f}", edges])
    return markdown(["", "", "seconds", "edges"], lines)


def _sweep(rows: Rows, inputs: int, column: str, form: str) -> str:
    """A line per target and mutator, a column per number of edits."""
    mine = [r for r in rows if r["inputs"] == inputs and r["with_seeds"] and r["edits"]]
    edits = sorted({row["edits"] for row in mine})
    lines = []
    for key in dict.fromkeys((row["target"], row["method"], row["mode"]) for row in mine):
        own = [row for row in mine if (row["target"], row["method"], row["mode"]) == key]
        cells = []
        for k in edits:
            values = [row[column] for row in own if row["edits"] == k and column in row]
            cells.append(f"{np.mean(values):{form}}" if values else "–")
        lines.append([key[0], f"{key[1]}, {key[2]}", *cells])
    return markdown(["", "", *map(number_of_edits, edits)], lines)


def figure(rows: Rows) -> Figure:
    """Edges over inputs, a panel per target, and below them edges over seconds."""
    targets = list(dict.fromkeys(row["target"] for row in rows))
    picture = Figure(figsize=(4.2 * len(targets), 7.6), layout="constrained")
    axes = picture.subplots(2, len(targets), squeeze=False)
    for (above, below), target in zip(axes.T, targets, strict=True):
        counts = _counts([row for row in rows if row["target"] == target])
        found = {n: edges_of(rows, target, n) for n in counts}
        seconds = {n: _seconds(rows, target, n) for n in counts}
        for key in best_edits(found[_swept(counts)], lambda key: _name(*key[:2])).values():
            at = [n for n in counts if key in found[n]]
            _curve(above, key, at, [found[n][key] for n in at])
            timed = [n for n in at if key in seconds[n]]
            _curve(below, key, [seconds[n][key] for n in timed], [found[n][key] for n in timed])
        above.set(title=target, xscale="log", xlabel="inputs")
        below.set(xscale="log", xlabel="seconds, with learning")
        below.legend(
            *above.get_legend_handles_labels(),
            **{"fontsize": 8, "frameon": False, "ncols": 2},
            **{"loc": "upper center", "bbox_to_anchor": (0.5, -0.2)},
        )
    for ax in axes.flat:
        ax.spines[["top", "right"]].set_visible(False)
    for ax in axes[:, 0]:
        ax.set_ylabel("edges, with those of the seeds")
    return picture


def _curve(ax: Any, key: Key, at: Sequence[float], edges: list[list[int]]) -> None:
    if not at:
        return
    kind = {"color": COLOURS.get(_name(*key[:2]), "black"), "label": _label(*key)}
    ax.plot(at, [np.mean(values) for values in edges], marker="o", ms=3, **kind)
    low, high = np.transpose([np.quantile(values, [0.1, 0.9]) for values in edges])
    ax.fill_between(at, low, high, color=kind["color"], alpha=0.15, lw=0)


def _name(method: str, mode: str) -> str:
    return f"{method}, {mode}" if mode.startswith("adaptive") else method


def _label(method: str, mode: str, edits: int | float) -> str:
    named = [_name(method, mode)] if mode in ("plain", "feedback") else [method, mode]
    return ", ".join([*named, *([f"{number_of_edits(edits)} edits"] * bool(edits))])
