"""The results page, docs/synthetic.md, from the committed results: every number has its command."""

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import ttest_ind

from aloex.apps.synthetic.data import DATA_SETS
from studies import results
from studies.results import markdown

Rows = list[dict[str, Any]]
ALPHA = 0.05  # of the tests that decide what is printed in bold
SEARCH = "aloe-fac-edit"
DIVERGED = 1e4  # thousandths of a nat; the uniform law has some 2000

PAPER = {  # Table 1 of the paper: MMD with the linear kernel, times 1000, in the order of DATA_SETS
    "pcd": (34.73, 0.3, -0.3, 0.48, -0.42, -0.49, -1.04),
    "ade": (33.4, -0.28, 2.01, 2.16, 7.64, 6.12, -0.69),
    "aloe": (30.37, -0.97, -0.83, -0.64, -0.64, -0.58, -1.7),
    "ade-fac": (236.6, 65.7, 261.7, 248.6, 187.2, 95.3, 78.2),
    "aloe-fac-noedit": (51.24, 91.2, 5.97, 76.8, 59.7, 15, 2.98),
    "aloe-fac-edit": (32.6, 3, -1.5, 1.27, 5.02, 0.44, -2.03),
    "autoregressive": (32.7, -0.3, -0.8, -0.45, -1.27, 0.31, -0.2),
    "vae": (35.2, 2.09, 0.16, 1.1, 0.85, 2.05, -0.77),
}

TEXT = """# The synthetic study

Seven pictures in the plane, each point written as 32 bits (16 per coordinate: a sign and 15 bits of
Gray code), learned from the bits alone. All energy-based methods train the same energy, an MLP
[32, 256, 256, 256, 1]. A line named by its method alone has the paper's settings, for the number of
steps given below (the paper took 100,100); `best` is what we found better. Numbers are means over
{seeds} training seeds with their standard error; **bold** is a column's best where it differs from
every other line by more than the seeds explain (Welch's t-test, {alpha:.0%}).

```sh
python -m studies.synthetic table      # trains and evaluates; can be stopped and repeated
python -m studies.synthetic tune
python -m studies.synthetic ablation
python -m studies.synthetic variance
python -m studies.synthetic page       # this page, from results/synthetic
```

![Training samples](images/synthetic/data.png)

*The data.*

![Learned densities and samples of the sampler](images/synthetic/vis.png)

*What ALOE's `best` recipe learns: the density of f, and draws of q alone.*

In short: with `best` settings ALOE and PCD come within some 0.001 nats of perfect on average, in as
much time (PCD was given as many steps as fit in ALOE's seconds, compilation left out on both
sides), and they differ by no more than the seeds and the error of PCD's log Z (0.0001) explain,
with one exception: on the checkerboard PCD's chains do not cross between squares, so the squares'
weights are wrong. ALOE also has the sampler q, whose draws need no MCMC. With the paper's settings
and as few steps as here, an autoregressive model fitted by maximum likelihood beats every energy
that was trained so, PCD and CD are level with ALOE or ahead, and ADE with the same MLP sampler is
level with ALOE after 2,500 steps where it does not diverge (and behind it on pinwheel after 7,500):
where a likelihood is all you want, and time is short, take the autoregressive model.

The paper's comparison of samplers with independent bits holds on most sets, not on all: with edits
`aloe-fac-edit` is far ahead of `aloe-fac-noedit` on 8gaussians, circles, moons and pinwheel, ahead
on swissroll, within the scatter of the seeds on checkerboard, and far behind on 2spirals, which it
has hardly begun to learn after so few steps. ADE with such a sampler diverges on every set.

## Likelihood

NLL minus floor, in thousandths of a nat: 0 is perfect. The floor is the entropy of the quantised
data, known to better than 0.001 nats because the densities are (`aloex.apps.synthetic.floor`). A
model is said to have diverged when it is more than 10 nats above it (the uniform law is 2 nats
above): ADE's f runs away where its sampler cannot follow. ADE's rates were chosen for each of its
samplers, from the grids below; with independent bits it diverges at every point of the grid.

{nll}

What each line took; those with the paper's settings shared the GPU, three or four at a time, and
would take less alone. log Z is exact where all 2^32 states were visited, on a GPU
(`aloex synthetic log-z`). Else it is estimated by importance sampling, with the error given here.

{seconds}

![Learned densities of PCD, ADE and ALOE](images/synthetic/baselines.png)

*The densities, below the exact one: PCD and ALOE with `best` settings, ADE after 2,500 steps with
the paper's. On the checkerboard ADE has diverged.*

## Samples

MMD² with the kernel exp(-0.1 Hamming), U-statistic, in units of 10⁻⁵, mean of 10 x (4000 model
against 4000 data). The first line is data against data: what lies within its scatter is as good as
perfect. All models of a data set are held against the same data, so that scatter comes on top of
the errors of the other lines, which are over the seeds. Samples of f are converged (resampled by
exact weights, then 20 Gibbs sweeps).

{mmd}

Draws of the sampler q alone, without any MCMC on f:

{q_mmd}

## The local search

![Searches in the plane](images/synthetic/search.png)

*Searches from x_0 (ring) to where they stop (dot). A factorized q0 starts anywhere and lets the
edits find the data; a q0 that has learned the data needs none.*

These searches were learned without a bound on the probability to stop, and on circles, moons and
checkerboard the one with a factorized q0 has given up editing: early in training, while f is still
flat, and for good. Against that there is a bound (`max_stop`, 0.95 in the line above). It narrows
the scatter between seeds on circles, moons and pinwheel, and costs 2spirals dearly. NLL minus floor
after 7,500 steps, in thousandths of a nat:

{stop}

![Searches in bits](images/synthetic/bits.png)

*The same in bits: an edit flips one.*

![Number of edits](images/synthetic/edits.png)

*How many edits the searches make.*

## The paper's Table 1

MMD² with the paper's kernel, 32 - Hamming, times 1000; samples of f after 20 Gibbs sweeps from
random bits, as in the paper. In brackets the paper's figures.

{linear}

What this metric can tell: the kernel is linear, so it compares nothing but the 32 means of the
single bits. A model that draws every bit on its own can have a perfect score. Data against data
scatters by 1 to 2 units, so among the better methods the paper's differences, and ours, are noise;
only the lines with a factorized sampler stand out. The paper's figures near 30 for 2spirals are an
artefact: its data were scaled anew between training and evaluation.

## The noise of the sampler's gradient

Variance of the gradient of q0 on pinwheel, summed over its parameters, with the same f, q0 and data
for both methods, ALOE without edits. The paper finds ADE's far above ALOE's throughout. Ours is
not: with the gradient as it should be, a learned baseline and three steps of q to one of f, it is
lower at first, while f is still flat and q close to it, and level later. The likelihoods are not:
ADE leads at first and falls behind from step 3,000 on.

![Gradient variance](images/synthetic/gradient_variance.png)

{variance}

## What each ingredient is worth

ALOE's `best` recipe against the same without one of its ingredients, after 4,800 steps of f: NLL
minus floor in thousandths of a nat, and seconds of training without compilation (up to four runs
shared the GPU, so the seconds are rough).

Muon, the batch, the falling learning rates and several examples of data to a negative are worth the
most; the checkerboard also needs its chains resampled. Persistent chains, fewer steps of q, fewer
trajectories, a smaller q and bfloat16 change little in quality: they are there for speed. The
moving average is worth nothing here once the rates fall.

{ablation}

## What was tuned

The paper's grids for PCD's restarts and ADE's rates, on two data sets with one seed: NLL minus
floor in thousandths of a nat, and seconds of training without compilation. Of the grid of ADE with
the RNN, the slowest, five points were run, for 1,000 steps. With the MLP sampler, a rate ratio of 1
is fastest on pinwheel and diverges on the checkerboard, sooner or later; 0.5 with 5 steps of q is
the best point that does not. The lines above have ratio 1 and 3 steps, which favours ADE on the six
other sets.

![ADE's samplers](images/synthetic/ade_samplers.png)

*Draws of ADE's samplers on the checkerboard, with ratio 0.5 and 5 steps of q, after 2,500 (MLP) and
1,000 (RNN) steps: neither has found the squares yet.*

{tuning}

## Estimates of log Z against the exact value

On a CPU log Z is estimated: by importance sampling from a mixture of the data's law and the uniform
one, and by annealing from both sides (AIS), which brackets it. Here the estimates stand beside the
exact value, for ALOE's `best` recipe, first seed.

{log_z}

## Settings, floors

{floor}

The recipes are `BEST` and `TUNED` in `aloex.apps.synthetic.methods`. The commands that made the
rows:

```sh
{commands}
```
"""


def render(folder: Path) -> str:
    """The page."""
    read = lambda name: results.read(folder / name) if (folder / name).exists() else []
    rows, data = read("summary.json"), read("data.json")
    ablation, tuning = read("ablation.json"), read("tuning.json")
    variance = read("gradient_variance.json")
    values = {
        "seeds": len({row["seed"] for row in rows}),
        "alpha": ALPHA,
        "nll": by_data(rows, "nll_minus_floor", 1e3, ".1f", limit=DIVERGED),
        "seconds": _seconds(rows),
        "mmd": by_data(rows, "mmd_exp", 1e5, ".1f", reference=data, bold=False),
        "q_mmd": by_data(
            [row for row in rows if "q_mmd_exp" in row], "q_mmd_exp", 1e5, ".1f", bold=False
        ),
        "linear": by_data(rows, "short_mmd_linear", 1e3, ".1f", bold=False, beside=_paper),
        "ablation": by_data(ablation, "nll_minus_floor", 1e3, ".1f", bold=False, last=_time),
        "tuning": by_data(
            [row for row in tuning if row["method"] != SEARCH],
            "nll_minus_floor",
            1e3,
            ".1f",
            bold=False,
            limit=DIVERGED,
            last=_time,
        ),
        "stop": _stop(rows, tuning),
        "variance": _variance(variance),
        "log_z": _log_z(rows),
        "floor": _floor(read("floor.json")),
        "commands": "\n".join(sorted({r["command"] for r in rows + variance + ablation + tuning})),
    }
    # A section whose rows are not there yet is left out.
    empty = [f"{{{name}}}" for name, value in values.items() if value == ""]
    sections = [part for part in TEXT.split("\n## ") if not any(name in part for name in empty)]
    return "\n## ".join(sections).format(**values)


def by_data(
    rows: Rows,
    column: str,
    scale: float,
    form: str,
    *,
    reference: Sequence[dict[str, Any]] = (),
    bold: bool = True,
    limit: float = math.inf,
    beside: Callable[[str, str, str], str] = lambda *_: "",
    last: Callable[[Rows], str] | None = None,
) -> str:
    """A table with a line per method and recipe and a column per data set; no rows, no table."""
    if not rows:
        return ""
    lines = sorted({(row["method"], row["recipe"]): None for row in rows})
    names = [name for name in DATA_SETS if any(row["data"] == name for row in rows)]
    value = lambda row: row.get(column, row.get(column.removeprefix("short_")))
    of = lambda line, name: [
        row for row in rows if (row["method"], row["recipe"], row["data"]) == (*line, name)
    ]
    pick = lambda line, name: [value(row) for row in of(line, name) if value(row) is not None]
    table = []
    if reference:
        known = {row["data"]: row for row in reference}
        cell = lambda row: _cell(scale * row[column], scale * row[f"{column}_se"], form)
        table.append(["data", *(cell(known[n]) if n in known else "" for n in names)])
    for line in lines:
        cells = []
        for name in names:
            values = scale * np.array(pick(line, name), float)
            others = [scale * np.array(pick(other, name)) for other in lines if other != line]
            text = mean_cell(values, form)
            if (lost := int(np.sum(values > limit))) > 0:
                text = f"diverged ({lost} of {values.size})"
            best = bold and is_best(values, others)
            cells.append((f"**{text}**" if best else text) + beside(*line, name))
        label = line[0] if line[1] == "paper" else f"{line[0]}, {line[1]}"
        own = [row for row in rows if (row["method"], row["recipe"]) == line]
        table.append([label, *cells, *([last(own)] if last else [])])
    return markdown(["", *names, *(["seconds"] if last else [])], table)


def is_best(values: np.ndarray, others: list[np.ndarray]) -> bool:
    """Whether the values are lower than all others by more than their scatter explains."""
    rivals = [other for other in others if other.size > 1]
    if values.size < 2 or not rivals:
        return False
    p_value: Any = lambda other: ttest_ind(values, other, equal_var=False, alternative="less")[1]
    return all(p_value(other) < ALPHA for other in rivals)


def mean_cell(values: np.ndarray, form: str) -> str:
    """mean ± standard error over the seeds."""
    if values.size == 0:
        return "–"
    if values.size == 1:
        return f"{values[0]:{form}}"
    return _cell(values.mean(), values.std(ddof=1) / math.sqrt(values.size), form)


def _cell(mean: float, error: float, form: str) -> str:
    return f"{mean:{form}} ± {error:{form}}"


def _paper(method: str, recipe: str, name: str) -> str:
    figures = PAPER.get(method) if recipe == "paper" else None
    return f" ({figures[DATA_SETS.index(name)]})" if figures else ""


def _stop(rows: Rows, tuning: Rows) -> str:
    """The search with and without a bound on its probability to stop."""
    bound = [{**row, "recipe": "bounded"} for row in rows if row["method"] == SEARCH]
    free = [{**row, "recipe": "free"} for row in tuning if row["method"] == SEARCH]
    return by_data(bound + free, "nll_minus_floor", 1e3, ".1f", bold=False) if free else ""


def _time(rows: Rows) -> str:
    return f"{rows[0]['train_seconds'] - rows[0]['compile_seconds']:.0f}"


def _seconds(rows: Rows) -> str:
    """What each line took."""
    table = []
    for method, recipe in sorted({(row["method"], row["recipe"]): None for row in rows}):
        mine = [row for row in rows if (row["method"], row["recipe"]) == (method, recipe)]
        row, compiling = mine[0], mine[0]["compile_seconds"]
        took = [f"{row['train_seconds'] - compiling:.0f}", f"{compiling:.0f}"]
        label = [f"{method}, {recipe}", f"{row['steps']:,}", row["group_size"]]
        table.append([*label, *took, row["device"], _how(mine)])
    head = ["", "steps", "models at once", "seconds", "compilation", "on", "log Z"]
    return markdown(head, table)


def _how(rows: Rows) -> str:
    """How log Z was found for a line."""
    diverged = lambda row: 1e3 * row["nll_minus_floor"] > DIVERGED
    estimated = [row for row in rows if row["log_z_by"] == "importance sampling"]
    errors = [row["importance_se"] for row in estimated if not diverged(row)]
    exact = sum(row["log_z_by"] == "enumeration" for row in rows)
    if errors:
        some = f"exact for {exact} of {len(rows)}, else " if exact else ""
        return f"{some}estimated, error up to {max(errors):.1g}"
    by = "diverged" if all(map(diverged, rows)) else str(rows[0]["log_z_by"])
    return "exact" if by == "enumeration" else by


def _variance(rows: Rows) -> str:
    """The noise of the gradients at each step that both methods were measured at."""
    methods = list(dict.fromkeys(row["method"] for row in rows))
    steps = [{row["step"] for row in rows if row["method"] == method} for method in methods]

    def cells(step: int, column: str, scale: float, form: str) -> list[str]:
        at = lambda m: [r[column] for r in rows if (r["method"], r["step"]) == (m, step)]
        return [mean_cell(scale * np.array(at(method)), form) for method in methods]

    table = [
        [
            step,
            *cells(step, "gradient_variance", 1.0, ".1f"),
            *cells(step, "nll_minus_floor", 1e3, ".0f"),
        ]
        for step in sorted(set.intersection(*steps) if steps else ())
    ]
    head = [*(f"variance, {m}" for m in methods), *(f"NLL minus floor, {m}" for m in methods)]
    return markdown(["step", *head], table) if table else ""


def _log_z(rows: Rows) -> str:
    """Exact and estimated log Z of the best recipe's first models."""
    shown = [
        row
        for row in rows
        if (row["method"], row["recipe"], row["seed"]) == ("aloe", "best", 0) and "log_z" in row
    ]
    kinds = ("importance", "ais_lower", "ais_upper")
    table = [
        [
            row["data"],
            f"{row['log_z']:.4f}",
            *(_cell(row[kind], row[f"{kind}_se"], ".4f") for kind in kinds if kind in row),
        ]
        for row in shown
        if row["log_z_by"] == "enumeration"
    ]
    head = ["", "exact", "importance sampling", "AIS, lower", "AIS, upper"]
    return markdown(head, table) if table else ""


def _floor(rows: Rows) -> str:
    table = [
        [
            row["data"],
            f"{row['floor']:.5f}",
            f"{max(row['change_when_spacing_halves'], row['quantisation_bound']):.0e}",
        ]
        for row in rows
    ]
    return markdown(["", "floor, nats", "error"], table)
