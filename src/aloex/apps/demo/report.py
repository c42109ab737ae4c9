"""The demo's report: one HTML file with its pictures inside, and the pictures beside it."""

import base64
import html
import json
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib
import numpy as np

from aloex.apps.demo import data

matplotlib.use("Agg")
import matplotlib.pyplot as plt

if TYPE_CHECKING:
    from aloex.apps.demo.study import Findings

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Aloex demo</title><style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem;
       color: #222; }}
img {{ max-width: 100%; }} h1, h2 {{ line-height: 1.2; }}
table {{ border-collapse: collapse; }} td, th {{ padding: .3rem .8rem; text-align: left;
       border-bottom: 1px solid #ddd; }}
td.n {{ text-align: right; font-variant-numeric: tabular-nums; }}
</style></head><body>
<h1>A picture learned in 16 bits</h1>
<p>{n:,} points of a pinwheel were turned into 16 bits each (8 bits of Gray code per coordinate).
From the bits alone, ALOE learned an energy <i>f</i> with <i>p(x) ~ exp f(x)</i>, and beside it a
local search <i>q</i> that samples it: a start with independent bits, then edits of one bit at a
time until it decides to stop. With only {states:,} states, everything below is exact.</p>
<h2>How good is it?</h2>
<table><tr><th>model</th><th>test data, minus log likelihood (nats)</th><th>standard error</th></tr>
{rows}</table>
<p>Lower is better; nothing can be below the floor but by chance.</p>
<h2>What it learned</h2>
<img alt="data, learned density, samples" src="data:image/png;base64,{picture}">
<h2>How it searches</h2>
<p>On the left, some of the longest searches: a ring where q0 begins, a line per edited bit (an edit
can be a long jump, since the first bits of a coordinate count most), a dot where it stops. On the
right, how many edits the searches make: {edits:.2f} on average.</p>
<img alt="search paths and number of edits" src="data:image/png;base64,{search}">
<h2>How training went</h2>
<img alt="training curves" src="data:image/png;base64,{curves}">
</body></html>
"""


def write_report(out: Path, findings: "Findings") -> Path:
    """Write pictures, numbers and the page into `out`; returns the page's path."""
    figures = {"picture": _picture(findings), "search": _search(findings)}
    figures["curves"] = _curves(findings)
    encoded = {}
    for name, figure in figures.items():
        path = out / f"{name}.png"
        figure.savefig(path, dpi=130, bbox_inches="tight")
        plt.close(figure)
        encoded[name] = base64.b64encode(path.read_bytes()).decode()
    rows = "".join(
        f"<tr><td>{html.escape(name)}</td><td class=n>{value:.3f}</td>"
        f"<td class=n>{error:.3f}</td></tr>\n"
        for name, (value, error) in findings.scores.items()
    )
    page = PAGE.format(
        n=len(findings.train),
        states=len(findings.log_p),
        rows=rows,
        edits=findings.edits.mean(),
        **encoded,
    )
    (out / "report.html").write_text(page)
    scores = {name: {"nll": v, "se": e} for name, (v, e) in findings.scores.items()}
    (out / "scores.json").write_text(json.dumps(scores, indent=1) + "\n")
    return out / "report.html"


def _panels(num: int, height: float = 4.0):
    figure, axes = plt.subplots(1, num, figsize=(4.2 * num, height))
    for axis in axes:
        axis.set_aspect("equal")
        axis.set(
            xlim=(-data.LIMIT, data.LIMIT), ylim=(-data.LIMIT, data.LIMIT), xticks=[], yticks=[]
        )
    return figure, axes


def _picture(findings: "Findings"):
    figure, axes = _panels(4)
    show = data.to_points(findings.train[:4000])
    axes[0].scatter(*show.T, s=1, color="black", alpha=0.5, linewidths=0)
    axes[0].set_title("training data (4000 of them)")
    cells = data.decode(np.asarray(findings.model.space.enumerate()))
    image = np.zeros((2**data.BITS, 2**data.BITS))
    image[cells[:, 1], cells[:, 0]] = np.exp(findings.log_p)
    extent = (-data.LIMIT, data.LIMIT) * 2
    axes[1].imshow(image, origin="lower", extent=extent, cmap="magma")
    axes[1].set_title("learned density, exp f / Z")
    for axis, name, title in (
        (axes[2], "q", "samples of q alone"),
        (axes[3], "f", "q, then 20 Gibbs sweeps under f"),
    ):
        axis.scatter(*findings.draws[name].T, s=1, color="tab:blue", alpha=0.5, linewidths=0)
        axis.set_title(title)
    return figure


def _search(findings: "Findings"):
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.6))
    background = data.to_points(findings.train[:4000])
    left.scatter(*background.T, s=1, color="0.8", linewidths=0)
    for i, path in enumerate(findings.paths):
        color = plt.get_cmap("tab20")(i % 20)
        left.plot(*path.T, lw=1, color=color)
        left.plot(*path[0], "o", mfc="none", color=color)
        left.plot(*path[-1], "o", ms=4, color=color)
    left.set(xlim=(-data.LIMIT, data.LIMIT), ylim=(-data.LIMIT, data.LIMIT), xticks=[], yticks=[])
    left.set_aspect("equal")
    values, counts = np.unique(findings.edits, return_counts=True)
    right.bar(values, counts / counts.sum(), color="tab:blue")
    right.set(xlabel="edits", ylabel="share of searches")
    return figure


def _curves(findings: "Findings"):
    figure, axes = plt.subplots(1, 3, figsize=(13, 3.4))
    steps = [row["step"] for row in findings.metrics]
    for axis, name, title in zip(
        axes,
        ("f_loss", "log_q", "num_edits"),
        ("f: negatives less data", "q: log q of its targets (estimate)", "edits per search"),
        strict=True,
    ):
        axis.plot(steps, [row[name] for row in findings.metrics], lw=1)
        axis.set(xlabel="step", title=title)
    figure.tight_layout()
    return figure
