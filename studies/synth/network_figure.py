"""The figure on networks: how often they are right, and how many edits there were."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from studies.synth.network_page import BEAMS, PAPER, Rows, edited, networks

SHADES = ("#a9c7e8", "#5b93cf", "#1f5a9c")  # of the three accuracies
COLOURS = ("#b5446e", "#e8871e", "#3b8f5a", "#7a5bb0", "#3f6f8f")  # of models with an editor


def figure(rows: Rows) -> Figure:
    """Accuracies of all models, and the edits of those that edit, with four public pairs."""
    rows = networks(rows, num_public=4)
    picture = Figure(figsize=(14.0, 4.2), layout="constrained")
    axes = picture.subplots(1, 2, gridspec_kw={"width_ratios": [1.5, 1.0]})
    _accuracy(axes[0], rows)
    _edits(axes[1], edited(rows))
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(frameon=False, fontsize=8)
    return picture


def _accuracy(ax: Axes, rows: Rows) -> None:
    at, width = np.arange(len(rows)), 0.8 / len(BEAMS)
    for i, (name, label) in enumerate(BEAMS.items()):
        here = at + (i - 1) * width
        ax.bar(here, [100 * row[name] for row in rows], width, color=SHADES[i], label=label)
        for x, row in zip(here, rows, strict=True):
            if row["model"] in PAPER:
                printed = PAPER[row["model"]][i]
                ax.hlines(printed, x - width / 2, x + width / 2, color="black", lw=1.5)
    ax.set_xticks(at, [_wrapped(row["model"]) for row in rows], fontsize=7)
    ax.set(ylabel="right, % of the tasks", ylim=(0, 115))
    ax.set_yticks(range(0, 101, 20))


def _wrapped(name: str) -> str:
    return name.replace(" + ", "\n+ ").replace(", ", ",\n")


def _edits(ax: Axes, rows: Rows) -> None:
    width = 0.8 / len(rows)
    for i, row in enumerate(rows):
        name, colour = row["model"], COLOURS[i % len(COLOURS)]
        share = lambda column, row=row: 100 * np.array(row[column]) / row["n_tasks"]
        at = np.arange(len(row["num_edits"])) + (i - (len(rows) - 1) / 2) * width
        first, right = share("num_edits"), share("num_edits_right")
        ax.bar(at, first, width, color=colour, alpha=0.35, label=f"{name}: ranked first")
        ax.bar(at, right, 0.5 * width, color=colour, label=f"{name}: first right")
    ax.set_xticks(range(len(rows[0]["num_edits"])))
    ax.set(xlabel="edits", ylabel="% of the tasks", yscale="log")
    ax.yaxis.set_major_formatter("{x:g}")
