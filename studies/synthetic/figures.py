"""The study's figures, each from the trained models that it needs: one column per data set."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array
from matplotlib import rc_context
from matplotlib.figure import Figure

from aloex.apps.synthetic import draw
from aloex.apps.synthetic.data import DATA_SETS, DataSet
from aloex.apps.synthetic.evaluate import FromQ
from aloex.apps.synthetic.trained import Trained

Models = dict[str, Trained]  # by data set
Q0 = {
    "aloe-fac-edit": "factorized q0",
    "aloe": "autoregressive q0 (MLP)",
    "aloe-rnn": "autoregressive q0 (RNN)",
}


def data(names: Iterable[str] = DATA_SETS) -> Figure:
    """Samples of the data sets."""
    names = list(names)
    figure, axes = draw.grid(1, len(names))
    for ax, name in zip(axes[0], names, strict=True):
        draw.points(ax, draw.data_points(name))
        ax.set_title(name)
    return figure


def vis(aloe: Models) -> Figure:
    """What ALOE learns: the density of f, and draws of q alone."""
    figure, axes = draw.grid(2, len(aloe))
    for column, (name, trained) in zip(axes.T, aloe.items(), strict=True):
        _heat_map(column[0], trained)
        draw.points(column[1], drawn_points(trained.q, name), draw.SAMPLER)
    _label(axes, ["learned density", "samples of q"], aloe)
    return figure


def baselines(pcd: Models, ade: Models, aloe: Models) -> Figure:
    """The density that each method learns, below the true one, in the same colours."""
    rows = {"PCD": pcd, "ADE": ade, "ALOE": aloe}
    figure, axes = draw.grid(1 + len(rows), len(aloe))
    for column, name in zip(axes.T, aloe, strict=True):
        draw.density(column[0], draw.true_density(name), draw.top(name))
        for ax, models in zip(column[1:], rows.values(), strict=True):
            _heat_map(ax, models[name])
    _label(axes, ["data (exact)", *rows], aloe)
    return figure


def search(factorized: Models, mlp: Models) -> Figure:
    """Local searches in the plane, from a start with independent bits and from a learned one."""
    rows = {Q0["aloe-fac-edit"]: factorized, Q0["aloe"]: mlp}
    figure, axes = draw.grid(2, len(mlp), size=2.5)
    for row, models in zip(axes, rows.values(), strict=True):
        for ax, (name, trained) in zip(row, models.items(), strict=True):
            draw.points(ax, draw.data_points(name), "0.8")
            found = draw.searches(trained.q, jax.random.key(0), 1000)
            draw.paths(ax, DataSet(name), draw.telling(found, DataSet(name), 6))
    _label(axes, list(rows), mlp)
    return figure


def bits(models: Models) -> Figure:
    """Searches in the space of bits, and where the editor would go on from a finished sample."""
    name = "pinwheel" if "pinwheel" in models else next(iter(models))
    q = models[name].q
    chosen = draw.longest(draw.searches(q, jax.random.key(0), 1000))
    after = continued(q, jax.random.key(1), chosen.last, q.max_edits)
    figure = draw.figure(11.0, 3.7)
    left, right = figure.subplots(1, 2, sharey=True)
    draw.bits(left, np.asarray(chosen.x)[: int(chosen.num_edits) + 1])
    left.set_title(f"(1) a search from $x_0$ on: it stops after {chosen.num_edits} edits")
    draw.bits(right, np.asarray(after))
    right.set(title="(2) the editor continued from that sample", ylabel="")
    key = f"{name}, {Q0[models[name].settings.method]}; dark: 1, framed: flipped by the edit"
    figure.suptitle(key, fontsize=10, color="0.4")
    return figure


def edits(factorized: Models, mlp: Models, rnn: Models) -> Figure:
    """How many edits the searches make: fewer, the better their start."""
    rows = dict(zip(Q0.values(), (factorized, mlp, rnn), strict=True))
    figure = draw.figure(2 * len(mlp) + 0.6, 4.8)
    axes = figure.subplots(3, len(mlp), squeeze=False, sharex=True, sharey=True)
    for row, models in zip(axes, rows.values(), strict=True):
        for ax, trained in zip(row, models.values(), strict=True):
            found = draw.searches(trained.q, jax.random.key(0), 4000)
            draw.bars(ax, np.asarray(found.num_edits), trained.q.max_edits)
    _label(axes, [q0.replace(" q0", "\nq0") for q0 in rows], mlp)
    for ax in axes[-1]:
        ax.set_xlabel("edits")
    return figure


def ade_samplers(mlp: Models, rnn: Models) -> Figure:
    """What ADE's samplers draw, beside data."""
    name = "checkerboard"
    figure, axes = draw.grid(1, 3, size=2.6)
    draw.points(axes[0, 0], draw.data_points(name))
    axes[0, 0].set_title("data")
    for ax, models, kind in zip(axes[0, 1:], (mlp, rnn), ("MLP", "RNN"), strict=True):
        draw.points(ax, drawn_points(models[name].q, name), draw.SAMPLER)
        ax.set_title(f"ADE, {kind} sampler")
    return figure


def gradient_variance(rows: list[dict[str, Any]]) -> Figure:
    """Distance to the floor, and the variance of q's gradient, as training goes on.

    Rows: {method, step, nll_minus_floor, nll_se, gradient_variance}.
    """
    figure = draw.figure(10.0, 3.8)
    left, right = figure.subplots(1, 2)
    methods = list(dict.fromkeys(row["method"] for row in rows))
    runs = dict.fromkeys((row["method"], row.get("seed", 0)) for row in rows)
    for method, seed in runs:
        color = draw.PALETTE[methods.index(method) % len(draw.PALETTE)]
        mine = [row for row in rows if (row["method"], row.get("seed", 0)) == (method, seed)]
        step, nll, error, variance = (
            np.array([row[key] for row in mine])
            for key in ("step", "nll_minus_floor", "nll_se", "gradient_variance")
        )
        label = method if seed == 0 else None  # a line per seed, one name for all
        style = {"color": color, "label": label, "lw": 1.5, "marker": "o", "ms": 3}
        left.errorbar(step, nll, yerr=2 * error, elinewidth=1, capsize=2, **style)
        right.plot(step, variance, **style)
    for ax, title in ((left, "NLL minus floor (nats)"), (right, "variance of the gradient of q")):
        ax.set(xlabel="training step", title=title, yscale="log")
        ax.grid(color="0.92")
        draw.open_frame(ax)
    left.legend(frameon=False)
    return figure


# Figure: the methods it takes, in this order, and the data sets of which it needs at least one.
FIGURES: dict[str, tuple[Callable[..., Figure], tuple[str, ...], tuple[str, ...]]] = {
    "vis": (vis, ("aloe",), DATA_SETS),
    "baselines": (baselines, ("pcd", "ade", "aloe"), DATA_SETS),
    "search": (search, ("aloe-fac-edit", "aloe"), DATA_SETS),
    "bits": (bits, ("aloe-fac-edit",), DATA_SETS),
    "edits": (edits, tuple(Q0), DATA_SETS),
    "ade_samplers": (ade_samplers, ("ade", "ade-rnn"), ("checkerboard",)),
}


def write_all(
    models: list[Trained], out: Path, *, gradient_rows: list[dict[str, Any]] | None = None
) -> list[Path]:
    """Write every figure that the models suffice for, as PNG and SVG; say which are left out."""
    out.mkdir(parents=True, exist_ok=True)
    paths = _write(out, "data", data)
    for name, (make, methods, sets) in FIGURES.items():
        chosen = [choose(models, method) for method in methods]
        common = [s for s in sets if all(s in part for part in chosen)]
        if common:
            paths += _write(out, name, make, *({s: part[s] for s in common} for part in chosen))
        else:
            print(f"left out: {name}, for want of {_missing(methods, chosen, sets)}")
    if gradient_rows:
        paths += _write(out, "gradient_variance", gradient_variance, gradient_rows)
    else:
        print("left out: gradient_variance, for want of measured rows")
    return paths


def choose(models: list[Trained], method: str) -> Models:
    """One model of the method for each data set: recipe best before paper, then the lowest seed."""
    rank = {"best": 0, "paper": 1}
    mine = [m for m in models if m.settings.method == method]
    mine.sort(key=lambda m: (rank.get(m.about.recipe, 2), m.about.seed))
    first: Models = {}
    for trained in mine:
        first.setdefault(trained.about.data, trained)
    return {name: first[name] for name in DATA_SETS if name in first}


def _write(out: Path, name: str, make: Callable[..., Figure], *args: Any) -> list[Path]:
    with rc_context(draw.STYLE):
        figure = make(*args)
        return [draw.save(figure, out / f"{name}.{suffix}") for suffix in ("png", "svg")]


def _missing(methods: tuple[str, ...], chosen: list[Models], sets: tuple[str, ...]) -> str:
    on = f" on {sets[0]}" if len(sets) == 1 else ""
    absent = [m for m, part in zip(methods, chosen, strict=True) if not set(part) & set(sets)]
    if absent:
        return f"models of {', '.join(absent)}{on}"
    return f"a data set that {', '.join(methods)} have in common"


def _heat_map(ax: Any, trained: Trained) -> None:
    name = trained.about.data
    draw.density(ax, draw.learned_density(trained.f, name), draw.top(name))


def _label(axes: np.ndarray, rows: list[str], columns: Iterable[str]) -> None:
    """Name rows at the left and columns at the top."""
    for ax, name in zip(axes[0], columns, strict=True):
        ax.set_title(name)
    for ax, name in zip(axes[:, 0], rows, strict=True):
        ax.set_ylabel(name)


def drawn_points(q: Any, name: str, n: int = 4000, seed: int = 0) -> np.ndarray:
    """Points that q draws."""
    return np.asarray(DataSet(name).decode(draw.drawn(FromQ(q), jax.random.key(seed), n)))


@eqx.filter_jit
def continued(q: Any, key: Any, x: Any, num_edits: int) -> Any:
    """States [num_edits + 1, 32]: what the editor would do from x on if nothing stopped it."""

    def edit(x: Array, key: Array) -> tuple[Array, Array]:
        edited = q.editor.sample(key, x, None)
        return edited, edited

    return jnp.concatenate([x[None], jax.lax.scan(edit, x, jax.random.split(key, num_edits))[1]])
