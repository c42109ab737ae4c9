"""The study's page, docs/fuzz_study.md, and its figure, from the committed rows."""

from collections import defaultdict
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from aloex.apps.fuzz.compare import (
    Key,
    best_edits,
    edges_of,
    number_of_edits,
    table,
    without_feedback,
)
from aloex.apps.fuzz.study import LEARNED
from aloex.apps.results import markdown

Rows = list[dict[str, Any]]

COLOURS = {
    "aloe, adaptive": "#7a1f3d",
    "masked, adaptive": "#173a6b",
    "blind, adaptive": "#8a5aa8",
    "libfuzzer+aloe": "#ff7043",
    "aloe": "#c2185b",
    "aloe-window": "#e06c9f",
    "masked": "#2a6fbb",
    "cd": "#00897b",
    "ade": "#9e9d24",
    "learn-and-fuzz": "#6d4c41",
    "rnn-ebm": "#78909c",
    "uniform": "#e8871e",
    "posmarg": "#3f8f4f",
    "libfuzzer": "#b0413e",
    "aflpp": "#6b6b6b",
}
SWEPT = 10_000
TEXT = """# Which mutants cover most?

Every method gets the same seeds and makes the same number of inputs. A mutator makes mutants of the
seeds alone, unless it is `adaptive`; that, libFuzzer and AFL++ also go on from what they found. An
edge is a place in the control flow of the target; all are counted by our own executor, which counts
as libFuzzer does, with those of the seeds included.

`uniform` draws any other byte, `posmarg` the byte at the same place of another seed. The others
draw from a model of the seeds: `masked` is a plain predictor of a byte from what is around it,
`aloe`, `cd` and `ade` are energies of blocks of up to four bytes given what is around them, learned
by these methods, `learn-and-fuzz` is an LSTM that reads the bytes before. They are used in several
modes, of which all but `paper` never draw the byte that was there: `place` with nothing known but
the place of the byte, `context` with all 64 bytes around it, `mixed` with a random share of them.
`best` settles how far to trust the model by how much of a byte of held-out files it knows, known =
1 - (-log p) / log 256: an edit is drawn from the model with this probability, with none, half or
all around it believed, else it is any other byte, and 0.5, 1 or 2% / known of a seed's bytes are
edited. `paper` is the paper's procedure: 100 bytes drawn one after the other, each given all around
it.

`adaptive` chooses among laws of bytes, numbers of edits and operators on whole inputs, by bandits
that win with each new edge, and starts from inputs whose edges are rare. With a model it has its
laws and those without one, as `blind` only the latter. `adaptive-relearn` also learns the model
again, after 1,000, 3,000, 10,000, ... inputs, from the seeds and what had new edges until then.
`union`: libFuzzer makes half of the inputs and `best` the other half, each from the seeds, and what
they cover is joined.

```sh
for t in libpng openjpeg mpeg2dec; do
  aloex fuzz build $t --afl
  for m in masked aloe cd ade learn-and-fuzz; do
    aloex fuzz learn build/targets/$t/seeds --method $m --out models/$t.$m.safetensors
  done
done
{commands}
aloex fuzz page       # this page, from results/fuzz
```

(`aloe` had 4,000 steps, on mpeg2dec 3,000; `cd` 4,000, `ade` 1,500, `learn-and-fuzz` 3,000:
`--steps`. The rows of `ade` are from settings with which it did not learn; those in the recipe now
do, and are still to be run.)

![Edges over inputs](images/fuzz/study.png)

*Mean over the trials, and the middle 80% of them; each method with what was best for it. Below, the
same over the seconds that it took, those to learn its model included, where they are known.*

In short: after 10,000 inputs the mutators that adapt are ahead of all that do not, and of libFuzzer
and AFL++, on every target; on OpenJPEG their trials scatter widely, and after 1,000 inputs they are
not ahead there. On libpng it is the feedback that brings this, not the model: without one the
bandits do as well. On OpenJPEG those with a model are ahead of those without, and on mpeg2dec by a
little with `aloe`; the number of trials was not fixed beforehand. `aloe` and `masked` are level
there. After 100,000 inputs they are ahead of libFuzzer in every trial on libpng and mpeg2dec, which
are too few for a p below 0.05; on OpenJPEG, where libFuzzer locked up, and for AFL++, such runs are
still to be made, and `masked, adaptive` has a single trial of that length. How `adaptive` works was
chosen by looking at these same targets, so another one may gain less.

Of the mutators without feedback, `best` is ahead of all that know nothing on libpng, with either
model, though not of `cd` in the paper's way by more than chance. On OpenJPEG and mpeg2dec it is
not: `uniform` with 2 or 5% of the bytes edited is as good as the models or better (on mpeg2dec
better than `aloe`, p 0.045). What looked like the merit of a model there was mostly that the number
of edits grew with the input. The recipe of `best` was chosen among some 70 that were tried on these
three targets; its rows are of trials with other seeds of randomness than those it was chosen by,
and lie somewhat below what was seen then.

In the paper's own way, `masked` does badly on libpng, because it knows the seeds by heart and
mostly draws the byte that was there; the energies do not. That they were learned by ALOE is not
what matters there: `cd` is as good. On OpenJPEG the paper's way is behind `uniform`, and on
mpeg2dec, whose stream is entropy-coded, any byte does as well as a likely one. libFuzzer and AFL++,
which change inputs a little at a time, cover less with 10,000 inputs than any of these at its best.
There is one model of each kind for a target, so how much training varies is not in the errors.

## In numbers

Each mutator at the number of edits that was best for it, held against the method that is ahead: p
is Mann and Whitney's (two-sided), A12 the chance that a trial of the line beats one of the first
line's.

{tables}

## Without feedback

The same for mutators that learn nothing from the target, after {inputs} inputs.

{blind}

## What the models know

Mean log probability of a byte of the files held out, in nats, at the level of belief in the context
that is best (a guess has -5.545), and the seconds that the model took to learn, on the machine of
the rows.

{models}

## With the time it takes

Seconds to make and run {inputs} inputs, on average, with those to learn the model; the machines of
the rows differ, see `results/fuzz`.

{seconds}

## How many edits

Mean number of edges after {inputs} inputs, by the number of edits of a mutant, or the share of its
bytes. No number is best for all targets.

{sweep}

## Who gets past the door

The share of mutants that get to code which random bytes do not reach.

{passing}

What the targets are: libpng, OpenJPEG and mpeg2dec from Debian's sources (`aloex fuzz build`), with
libpng's own PNG files, or files made by `opj_compress` and `ffmpeg`, as seeds. mpeg2dec is not the
library of that name in OSS-Fuzz.
"""


def render(rows: Rows) -> str:
    """The page."""
    counts = sorted({row["inputs"] for row in rows})
    shown = [n for n in (1000, 10_000, 100_000) if n in counts] or counts[-1:]
    swept = _swept(counts)
    return TEXT.format(
        commands="\n".join(sorted({row["command"] for row in rows})),
        tables="\n\n".join(table(rows, n) for n in shown),
        inputs=f"{swept:,}",
        blind=table(without_feedback(rows), swept),
        models=_models(rows),
        seconds=_times(rows, swept),
        sweep=_sweep(rows, swept, "edges", ".0f"),
        passing=_sweep(rows, swept, "passing", ".1%"),
    )


def _swept(counts: list[int]) -> int:
    """The number of inputs for which there are all lines."""
    return SWEPT if SWEPT in counts else counts[-1]


def _seconds(rows: Rows, target: str, inputs: int) -> dict[Key, float]:
    """Mean seconds of each line, with its training; left out if that is not known."""
    found = defaultdict(list)
    for row in rows:
        told = "training_seconds" in row or not set(row["method"].split("+")) & set(LEARNED)
        if told and (row["target"], row["inputs"], row["with_seeds"]) == (target, inputs, True):
            total = row["seconds"] + row.get("training_seconds", 0.0)
            found[row["method"], row["mode"], row["edits"]].append(total)
    return {key: float(np.mean(values)) for key, values in found.items()}


def _models(rows: Rows) -> str:
    """What is told of each model, by target."""
    told = {
        (row["target"], row["method"]): (f"{row['held_out']:.2f}", f"{row['training_seconds']:.0f}")
        for row in rows
        if {"held_out", "training_seconds"} <= row.keys() and "+" not in row["method"]
    }
    lines = [[*key, *values] for key, values in sorted(told.items())]
    return markdown(["", "", "log p", "seconds"], lines)


def _times(rows: Rows, inputs: int) -> str:
    """Seconds and edges of each line at its best number of edits."""
    lines = []
    for target in dict.fromkeys(row["target"] for row in rows):
        found, seconds = edges_of(rows, target, inputs), _seconds(rows, target, inputs)
        for key in sorted(best_edits(found).values(), key=lambda key: -np.mean(found[key])):
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
        counts = sorted({row["inputs"] for row in rows if row["target"] == target})
        found = {n: edges_of(rows, target, n) for n in counts}
        seconds = {n: _seconds(rows, target, n) for n in counts}
        for key in _best_of_each_method(found[_swept(counts)]):
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


def _curve(ax: Any, key: Key, at: list, edges: list[list[int]]) -> None:
    if not at:
        return
    kind = {"color": COLOURS.get(_name(*key[:2]), "black"), "label": _label(*key)}
    ax.plot(at, [np.mean(values) for values in edges], marker="o", ms=3, **kind)
    low, high = np.transpose([np.quantile(values, [0.1, 0.9]) for values in edges])
    ax.fill_between(at, low, high, color=kind["color"], alpha=0.15, lw=0)


def _best_of_each_method(found: dict[Key, list[int]]) -> list[Key]:
    """One line of each method, and of those that adapt, in the order of what they cover."""
    ahead = sorted(best_edits(found).values(), key=lambda key: -np.mean(found[key]))
    methods: dict[str, Key] = {}
    for key in ahead:
        methods.setdefault(_name(*key[:2]), key)
    return list(methods.values())


def _name(method: str, mode: str) -> str:
    return f"{method}, {mode}" if mode.startswith("adaptive") else method


def _label(method: str, mode: str, edits: int | float) -> str:
    named = [_name(method, mode)] if mode in ("plain", "feedback") else [method, mode]
    return ", ".join([*named, *([f"{number_of_edits(edits)} edits"] * bool(edits))])
