"""The demo: learn one picture, measure how well, and leave a page with its pictures inside."""

import json
import sys
from pathlib import Path
from typing import Any

import jax
import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure

from aloex.apps.synthetic import draw, evaluate, methods
from aloex.apps.synthetic.data import DataSet
from aloex.apps.synthetic.train import Problem, metrics, train
from aloex.apps.synthetic.trained import Trained, load
from aloex.base.errors import require
from aloex.base.html import html_page, png_source, render

METHOD = "aloe"
# Found by short runs on two cores. With an autoregressive start q is as good as f after 3,000
# steps: its MMD is that of data. A start of independent bits left it at 6e-4 after 4,000. A good
# start needs few edits, so the bound on the probability to stop keeps them in sight.
DEMO: dict[str, Any] = {
    "max_stop_prob": 0.6,
    "batch_size": 256,
    "persistence": 4,
    "resample": True,
    "num_trajectories": 4,
    "learning_rate_f": 1e-2,
    "learning_rate_q": 2e-3,
    "decay": True,
    "ema_decay": 0.99,
}
SIZES = {"num_repeats": 5, "n": 2000}  # of MMD: half as many draws as in the study
NUM_POINTS = 2000  # in a panel
CSS = "td:first-child, th:first-child { width: 16rem; }\n"
BODY = """\
<h1>A picture learned from bits: {{ data }}</h1>
<p>Points in the plane were turned into 32 bits each (16 per coordinate: a sign and a Gray code).
From the bits alone, ALOE learned an energy <i>f</i> with <i>p(x) ~ exp f(x)</i>, and beside it a
local search <i>q</i> that samples it: a start that is drawn bit by bit, then edits of one bit at a
time until it decides to stop. {{ '{:,}'.format(steps) }} steps of {{ batch_size }} fresh points
took {{ '%.0f' % seconds }} seconds.</p>
<h2>What it learned</h2>
<img alt="data, true and learned density, samples, searches" src="{{ picture }}">
<p>Both densities have the same colours. Samples of f are draws of the energy model itself; samples
of q come from the local search alone, without any MCMC. In the last panel, some of the searches
with the longest way: a ring where q0 begins, a line per edited bit (an edit can be a long jump,
since the first bits of a coordinate count most), a dot where it stops.</p>
<h2>How good is it?</h2>
<table><tr><th>number</th><th class=n>value</th><th class=n>standard error</th>
<th>what it says</th></tr>
{{ nll }}</table>
<table><tr><th>MMD between data and</th><th class=n>value × 10⁴</th><th class=n>standard error</th>
<th>what it says</th></tr>
{{ mmd }}</table>
<p>NLL is minus the log likelihood of fresh data, in nats per point. MMD (squared, with the kernel
exp(-Hamming distance / 10)) measures how different two sets of samples are; it can fall below 0 by
chance.</p>
<h2>How it searches</h2>
<img alt="number of edits, and a search bit by bit" src="{{ search }}">
<p>On the left, how many edits the searches make: {{ '%.2f' % edits }} on average. On the right, a
long one: each row is the state after one more edit, with the bit that it flipped in a frame.</p>
<h2>How training went</h2>
<img alt="training curves" src="{{ curves }}">
<p>{{ reading }}</p>
"""


def make_demo(out: Path, *, data: str = "pinwheel", num_steps: int, seed: int = 0) -> Path:
    """Train (or go on with the run in `out`), measure, and write the report; returns its path."""
    DataSet(data)  # mistakes are told before anything is written
    require(num_steps >= 1, f"the number of steps must be at least 1, got {num_steps}")
    settings = methods.choose(METHOD, preset="quick", num_steps=num_steps, **DEMO)
    [path] = train(out, settings, [Problem(data, seed)])
    trained = load(path)
    print("measuring NLL and MMD, then drawing", file=sys.stderr)
    return write_report(out, trained, measure(trained, **SIZES), metrics(out))


def measure(trained: Trained, **sizes: Any) -> dict[str, Any]:
    """The model's row of scores, and that of data against data."""
    data = evaluate.data_row(trained.about.data, **sizes)
    return {"model": evaluate.evaluate(trained, **sizes), "data": data}


def write_report(
    out: Path, trained: Trained, scores: dict[str, Any], rows: list[dict[str, Any]]
) -> Path:
    """Write pictures, numbers and the page into `out`; returns the page's path."""
    found = draw.searches(trained.q, jax.random.key(0), 4000)
    with rc_context(draw.STYLE):
        pictures = {
            "picture": picture(trained, found),
            "search": search(found),
            "curves": curves(rows),
        }
        encoded = {name: _encode(out / f"{name}.png", pictures[name]) for name in pictures}
    body = render(
        BODY,
        data=trained.about.data,
        steps=trained.settings.num_steps,
        batch_size=trained.settings.config.batch_size,
        seconds=trained.about.train_seconds,
        nll=_table(nll_rows(scores["model"])),
        mmd=_table(mmd_rows(scores["model"], scores["data"])),
        edits=float(found.num_edits.mean()),
        reading=" ".join(READING.values()),
        **encoded,
    )
    (out / "scores.json").write_text(json.dumps(scores, indent=1) + "\n")
    page = html_page(f"Aloex demo: {trained.about.data}", body, CSS)
    (out / "report.html").write_text(page)
    return out / "report.html"


def picture(trained: Trained, found: Any) -> Figure:
    """Data and what was learned of it."""
    name = trained.about.data
    data = DataSet(name)
    figure, axes = draw.grid(2, 3, size=3.2)
    (seen, true, learned), (of_f, of_q, way) = axes
    draw.points(seen, draw.data_points(name, NUM_POINTS), size=2.5)
    draw.density(true, draw.true_density(name), draw.top(name))
    draw.density(learned, draw.learned_density(trained.f, name), draw.top(name))
    _, p_f = evaluate.log_z_by_importance(trained.f, name)
    draws = draw.drawn(p_f, jax.random.key(1), NUM_POINTS)
    draw.points(of_f, np.asarray(data.decode(draws)), draw.ENERGY, size=2.5)
    of_search = np.asarray(data.decode(found.last[:NUM_POINTS]))
    draw.points(of_q, of_search, draw.SAMPLER, size=2.5)
    draw.points(way, draw.data_points(name, 2 * NUM_POINTS), "0.8")
    draw.paths(way, data, draw.telling(found, data, 8))
    titles = "data", "true density", "learned density", "samples of f", "samples of q", "searches"
    for ax, title in zip(axes.flat, titles, strict=True):
        ax.set_title(title)
    return figure


def search(found: Any) -> Figure:
    """How many edits the searches make, and one of them bit by bit."""
    figure = draw.figure(11.0, 3.6)
    left, right = figure.subplots(1, 2, width_ratios=(1, 1.6))
    draw.bars(left, np.asarray(found.num_edits), found.max_edits)
    left.set(xlabel="edits", ylabel="share of searches", title="number of edits")
    one = draw.longest(found)
    draw.bits(right, np.asarray(one.x)[: int(one.num_edits) + 1])
    right.set_title(f"a search of {int(one.num_edits)} edits")
    return figure


READING = {
    "f_loss": "The loss of f is its mean over negatives less its mean over data, and hovers "
    "around 0 once they can hardly be told apart.",
    "log_q": "log q of its own targets rises as the search learns to reach them.",
    "num_edits": "The number of edits is what the search needs beyond its start q0.",
}


def curves(rows: list[dict[str, Any]]) -> Figure:
    """What training recorded."""
    titles = {"f_loss": "loss of f", "log_q": "log q of its targets", "num_edits": "edits"}
    figure = draw.figure(11.0, 2.9)
    for ax, (name, title) in zip(figure.subplots(1, 3), titles.items(), strict=True):
        draw.curves(ax, [row["step"] for row in rows], {title: [row[name][0] for row in rows]})
        ax.set(xlabel="step", title=title)
    return figure


def nll_rows(row: dict[str, Any]) -> list[tuple[str, str, str, str]]:
    """Name, value, standard error and meaning of what is known of the likelihood."""
    nll = row["floor"] + row["nll_minus_floor"]
    result = [
        ("floor", f"{row['floor']:.3f}", "", "The entropy of the data: no model has a lower NLL."),
        (
            f"NLL, log Z by {row['log_z_by']}",
            f"{nll:.3f}",
            f"{row['nll_se']:.3f}",
            "How surprising the model finds new data, on average; lower is better.",
        ),
        (
            "NLL minus floor",
            f"{row['nll_minus_floor']:.3f}",
            f"{row['nll_se']:.3f}",
            "What is left to learn; 0 is perfect.",
        ),
    ]
    for name, verb in (("lower", "too low"), ("upper", "too high")):
        if f"ais_{name}" in row:  # left out of a quick evaluation
            value, error = row[f"ais_{name}"], row[f"ais_{name}_se"]
            says = f"A second opinion, by annealing; its bias can only make it {verb}."
            bound = (f"NLL, {name} end by AIS", f"{nll + value - row['log_z']:.3f}", f"{error:.3f}")
            result.append((*bound, says))
    return result


def mmd_rows(row: dict[str, Any], data: dict[str, Any]) -> list[tuple[str, str, str, str]]:
    """The same of the distance between samples and data."""
    parts = [
        ("other data", data, "", "What a perfect model gets: this is chance alone."),
        ("samples of f", row, "", "The energy model itself."),
        ("samples of q", row, "q_", "The local search alone, without any MCMC."),
        (
            "20 Gibbs sweeps of f",
            row,
            "short_",
            "Short chains from random bits: what f gives to those who have no q.",
        ),
    ]
    return [
        (
            name,
            f"{1e4 * scores[f'{prefix}mmd_exp']:.2f}",
            f"{1e4 * scores[f'{prefix}mmd_exp_se']:.2f}",
            says,
        )
        for name, scores, prefix, says in parts
    ]


ROWS = """\
{% for name, value, error, says in rows %}
<tr><td>{{ name }}</td><td class=n>{{ value }}</td><td class=n>{{ error }}</td>
<td>{{ says }}</td></tr>
{% endfor %}
"""


def _table(rows: list[tuple[str, str, str, str]]) -> str:
    return render(ROWS, rows=rows)


def _encode(path: Path, figure: Figure) -> str:
    return png_source(draw.save(figure, path).read_bytes())
