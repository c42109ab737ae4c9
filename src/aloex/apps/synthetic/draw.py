"""The pieces that pictures are made of: each function draws one thing on given axes."""

import math
from collections.abc import Sequence
from functools import cache
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from aloex.apps.synthetic import density as data_density
from aloex.apps.synthetic.data import BITS, DataSet
from aloex.apps.synthetic.evaluate import log_z_by_importance
from aloex.trajectory import Trajectory

# The salt, and no date: an SVG file is the same each time it is written.
STYLE: Any = {"font.size": 10, "axes.titlesize": 11, "svg.hashsalt": "aloex"}
LIMIT = 4.0  # pictures show [-LIMIT, LIMIT]^2
DATA, SAMPLER, ENERGY, MARK = "#3a3a3a", "#2a6fbb", "#b5446e", "#e8871e"
PALETTE = (SAMPLER, ENERGY, MARK, "#3b8f5a", "#7a5bb0", "#6b6b6b")


def figure(width: float, height: float) -> Figure:
    """An empty figure, in inches, that leaves no overlap between its axes."""
    return Figure(figsize=(width, height), layout="constrained")


def grid(num_rows: int, num_columns: int, size: float = 2.0, head: float = 0.35):
    """A figure of square panels of the plane, and its axes [num_rows, num_columns]."""
    result = figure(size * num_columns, size * num_rows + head)
    axes = result.subplots(num_rows, num_columns, squeeze=False)
    for ax in axes.flat:
        plane(ax)
    return result, axes


def plane(ax: Axes) -> None:
    """Make the axes a window on the plane, without ticks."""
    ax.set(xlim=(-LIMIT, LIMIT), ylim=(-LIMIT, LIMIT), xticks=[], yticks=[])
    ax.set_aspect("equal")
    ax.spines[:].set_color("0.75")


def points(ax: Axes, xy: np.ndarray, color: str = DATA, size: float = 1.2) -> None:
    """Samples, as dots."""
    ax.scatter(*np.asarray(xy).T, s=size, color=color, alpha=0.6, linewidths=0, rasterized=True)


def density(ax: Axes, p: np.ndarray, top: float) -> None:
    """A density on the `pixels`, black where it is 0, brightest where it is `top` or more."""
    extent = (-LIMIT, LIMIT, -LIMIT, LIMIT)
    ax.imshow(
        p, origin="lower", extent=extent, cmap="magma", vmin=0, vmax=top, interpolation="none"
    )


def paths(ax: Axes, data: DataSet, searches: Trajectory) -> None:
    """Local searches in the plane: a ring at x_0, a line per edit, a dot at x_t."""
    for i, (x, num_edits) in enumerate(zip(searches.x, searches.num_edits, strict=True)):
        xy = np.asarray(data.decode(x[: num_edits + 1]))
        color = PALETTE[i % len(PALETTE)]
        ax.plot(*xy.T, lw=1, color=color, alpha=0.85)
        ax.plot(*xy[0], "o", ms=6, mfc="none", mew=1.2, color=color)
        ax.plot(*xy[-1], "o", ms=4, color=color)


def bits(ax: Axes, states: np.ndarray) -> None:
    """States [steps, 32] from top to bottom, dark cells for 1; what an edit flipped is framed."""
    ax.imshow(states, cmap="Greys", vmin=0, vmax=1.8, aspect="equal")
    for step, site in np.argwhere(np.diff(states, axis=0) != 0):
        ax.add_patch(Rectangle((site - 0.5, step + 0.5), 1, 1, fill=False, ec=MARK, lw=2))
    ax.set_xticks(np.arange(-0.5, states.shape[1]), minor=True)
    ax.set_yticks(np.arange(-0.5, len(states)), minor=True)
    ax.grid(which="minor", color="white", lw=0.6)
    ax.tick_params(which="both", length=0)
    ax.axvline(BITS - 0.5, color="0.35", lw=1.2)
    ax.set_xticks([0, BITS / 2, BITS, 3 * BITS / 2], ["±", "bits of x", "±", "bits of y"])
    ax.set_yticks(range(0, len(states), 4))
    ax.set_ylabel("edit")


def bars(ax: Axes, num_edits: np.ndarray, max_edits: int, color: str = SAMPLER) -> None:
    """How often a search made 0, 1, ... edits, and their mean."""
    share = np.bincount(num_edits, minlength=max_edits + 1) / len(num_edits)
    ax.bar(range(max_edits + 1), share, color=color, width=0.8)
    ax.set_xticks(range(0, max_edits + 1, 4))
    mean = f"mean {num_edits.mean():.1f}"
    ax.text(0.95, 0.92, mean, ha="right", va="top", transform=ax.transAxes)
    open_frame(ax)


def curves(ax: Axes, x: Sequence[int], lines: dict[str, Sequence[float]]) -> None:
    """Lines over a common axis, with a legend if there are several."""
    for (name, y), color in zip(lines.items(), cycle(PALETTE), strict=False):
        ax.plot(x, y, lw=1.4, color=color, label=name)
    if len(lines) > 1:
        ax.legend(frameon=False)
    ax.grid(color="0.92")
    open_frame(ax)


def open_frame(ax: Axes) -> None:
    """Only the left and the lower edge."""
    ax.spines[["top", "right"]].set_visible(False)


class Pixels(NamedTuple):
    """Points spread over the squares of a picture, a few in each."""

    xy: np.ndarray  # [n, 2]
    shape: tuple[int, int, int]

    def mean(self, p: np.ndarray) -> np.ndarray:
        """The mean in each square, as rows from y = -LIMIT up."""
        return np.asarray(p, np.float64).reshape(self.shape).mean(axis=2)


@cache
def pixels(size: int = 128, num_each: int = 9) -> Pixels:
    """Several points a square, to be averaged: f is rough in its last bits, one would be noise."""
    shape = (size, size, num_each)
    row, column, _ = np.indices(shape)
    inside = np.random.default_rng(0).uniform(size=(*shape, 2))
    xy = (np.stack([column, row], axis=-1) + inside) / size
    return Pixels((2 * xy - 1).reshape(-1, 2) * LIMIT, shape)


def learned_density(f: Any, name: str) -> np.ndarray:
    """exp(f - log Z) per unit of area on the `pixels`; Z is that of all 2^32 states."""
    data, at = DataSet(name), pixels()
    log_z, _ = log_z_by_importance(f, name)
    log_p = _energy(f, data.encode(jnp.asarray(at.xy))) - log_z.value
    return at.mean(np.exp(np.asarray(log_p, np.float64) + 2 * math.log(data.int_scale)))


@cache
def true_density(name: str) -> np.ndarray:
    """The data's own density on the `pixels`."""
    at = pixels()
    return at.mean(data_density.density(name, at.xy))


def top(name: str) -> float:
    """The brightest colour of a data set's heat maps, the same for every model."""
    p = true_density(name)
    return float(np.quantile(p[p > 0.01 * p.max()], 0.98))


@cache
def data_points(name: str, n: int = 4000, seed: int = 0) -> np.ndarray:
    """Points of the data set, as the models see them: middles of cells."""
    data = DataSet(name)
    return np.asarray(data.decode(data.sample(jax.random.key(seed), n)))


@eqx.filter_jit
def searches(q: Any, key: Any, n: int) -> Trajectory:
    """n runs of a local search."""
    return jax.lax.map(q.sample, jax.random.split(key, n), batch_size=1000)


def telling(found: Trajectory, data: DataSet, n: int) -> Trajectory:
    """n of the searches that show most: they stay in the picture, and many edits can be seen."""
    xy = np.asarray(data.decode(found.x))
    seen = np.sum(np.abs(np.diff(xy, axis=1)).max(axis=2) > 0.1, axis=1)
    stays = np.abs(xy).max(axis=(1, 2)) < LIMIT
    order = np.argsort(-np.where(stays, seen, -1), kind="stable")
    return _part(found, order[: 4 * n : 4])


def longest(found: Trajectory) -> Trajectory:
    """The longest search that ended before it had to."""
    free = np.asarray(found.num_edits) % found.max_edits  # 0 at the bound
    return _part(found, np.argmax(free))


def _part(found: Trajectory, chosen: Any) -> Trajectory:
    return Trajectory(found.x[chosen], found.num_edits[chosen])


@eqx.filter_jit
def _energy(f: Any, x: Any) -> Any:
    with jax.default_matmul_precision("highest"):
        return jax.lax.map(f, x, batch_size=2**14)


@eqx.filter_jit
def drawn(draw: Any, key: Any, n: int) -> Any:
    """`draw(key, n)`, compiled."""
    return draw(key, n)


def save(figure: Figure, path: Path) -> Path:
    """Write a figure in the format that the path's ending names."""
    metadata = {"Date": None} if path.suffix == ".svg" else {}
    figure.savefig(path, dpi=130, bbox_inches="tight", metadata=metadata)
    return path
