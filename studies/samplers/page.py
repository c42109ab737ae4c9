"""The page on samplers, docs/samplers.md, and its figure, from the rows of both studies."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure

from aloex.base.errors import require
from aloex.base.files import write_file
from studies.results import markdown, read
from studies.samplers.methods import METHODS
from studies.samplers.problems import PROBLEMS
from studies.template import fill

Row = dict[str, Any]
Key = tuple[str, str]  # problem or family, method

OURS, START = "learned", "learned-start"
# Okabe and Ito's colours; groups differ in marker as well.
STYLES: dict[str, dict[str, str]] = {
    "chains": {"color": "#999999", "marker": "o"},
    "tempering": {"color": "#56B4E9", "marker": "v"},
    "smc": {"color": "#D55E00", "marker": "s"},
    "swendsen-wang": {"color": "#009E73", "marker": "^"},
    "learned": {"color": "#0072B2", "marker": "*"},
    "learned-start": {"color": "#0072B2", "marker": "D"},
    "autoregressive": {"color": "#CC79A7", "marker": "P"},
    "gflownet": {"color": "#E69F00", "marker": "X"},
}


class Cell(NamedTuple):
    """A method on a problem over its seeds."""

    modes: list[float]
    marginals: list[float]
    log_z: list[float] | None
    seconds: float  # the median of the seeds after the first
    compiling: float  # what the first took longer
    effective: float | None
    num_seeds: int


def cells(rows: Iterable[Row], num_draws: int) -> dict[Key, Cell]:
    """What the page shows of the sampling study, after so many draws."""
    groups: dict[Key, list[Row]] = {}
    for row in rows:
        if row["num_draws"] == num_draws and "failed" not in row:
            groups.setdefault((row["problem"], row["method"]), []).append(row)
    return {key: cell(some) for key, some in groups.items()}


def cell(rows: Sequence[Row]) -> Cell:
    """The rows of a method on a problem."""
    first = [row["seconds"] for row in rows if row["first"]]
    later = [row["seconds"] for row in rows if not row["first"]] or first
    known = [row["log_z"] for row in rows if row["log_z"] is not None]
    effective = [row["effective"] for row in rows if row["effective"] is not None]
    return Cell(
        modes=[row["modes"] for row in rows if row["modes"] is not None],
        marginals=[row["marginals"] for row in rows],
        log_z=known or None,
        seconds=median(later),
        compiling=max(0.0, median(first or later) - median(later)),
        effective=median(effective) if effective else None,
        num_seeds=len(rows),
    )


def rms(values: Sequence[float]) -> float:
    """The root of the mean square."""
    return float(np.sqrt(np.mean(np.square(values))))


def matrix(found: Mapping[Key, Cell], what: str) -> str:
    """A line for each method, a column for each problem: a root mean square over the seeds."""
    problems = [name for name in PROBLEMS if any(p == name for p, _ in found)]
    methods = [name for name in METHODS if any(m == name for _, m in found)]
    values = {key: rms(getattr(cell, what)) for key, cell in found.items() if getattr(cell, what)}
    best = {p: min((v for (q, _), v in values.items() if q == p), default=0.0) for p in problems}

    def shown(problem: str, method: str) -> str:
        value = values.get((problem, method))
        if value is None:
            return ""
        return f"**{value:.3f}**" if value == best[problem] else f"{value:.3f}"

    lines = [[method, *(shown(p, method) for p in problems)] for method in methods]
    return markdown(["", *problems], [line for line in lines if any(line[1:])])


def seconds_table(found: Mapping[Key, Cell]) -> str:
    """Seconds of each method on each problem, and what it took to compile."""
    problems = [name for name in PROBLEMS if any(p == name for p, _ in found)]
    methods = [name for name in METHODS if any(m == name for _, m in found)]

    def shown(problem: str, method: str) -> str:
        cell = found.get((problem, method))
        return "" if cell is None else f"{cell.seconds:.1f} + {cell.compiling:.0f}"

    return markdown(["", *problems], [[m, *(shown(p, m) for p in problems)] for m in methods])


def break_even(found: Mapping[Key, Cell], rows: Iterable[Row], problem: str) -> float | None:
    """From how many effective draws on learning takes less time than SMC; None: from none on.

    Learning costs its training once and then little a draw; SMC costs the same for every particle.
    """
    ours, smc = found.get((problem, START)), found.get((problem, "smc"))
    if ours is None or smc is None or not ours.effective or not smc.effective:
        return None
    mine = [row for row in rows if (row["problem"], row["method"]) == (problem, START)]
    numbers = sorted({row["num_draws"] for row in mine})
    require(len(numbers) >= 2, f"{START} on {problem} has rows of one number of draws only")
    at = {n: median(row["seconds"] for row in mine if row["num_draws"] == n) for n in numbers}
    each = max(0.0, (at[numbers[-1]] - at[numbers[-2]]) / (numbers[-1] - numbers[-2]))
    each_effective = each * numbers[-1] / ours.effective
    smc_each = smc.seconds / smc.effective
    training = at[numbers[-1]] - each * numbers[-1]
    return training / (smc_each - each_effective) if smc_each > each_effective else None


def figure(found: Mapping[Key, Cell]) -> Figure:
    """Error of the named expectations against seconds, a panel for each problem."""
    problems = [name for name in PROBLEMS if any(p == name for p, _ in found)]
    columns = min(3, len(problems))
    lines = -(-len(problems) // columns)
    drawing = Figure(figsize=(9, 2.9 * lines), layout="constrained")
    axes = drawing.subplots(lines, columns, squeeze=False).ravel()
    for axis, problem in zip(axes, problems, strict=False):
        for (of, method), cell in found.items():
            if of == problem and cell.modes:
                style = STYLES[group(method)]
                total = cell.seconds + cell.compiling
                axis.plot([total] * len(cell.modes), cell.modes, alpha=0.35, ls="", **style)
                axis.plot(total, rms(cell.modes), label=group(method), ms=9, ls="", **style)
        axis.set(xscale="log", yscale="log", title=problem)
        axis.grid(alpha=0.3)
    for axis in axes[len(problems) :]:
        axis.set_visible(False)
    for axis in axes[::columns]:
        axis.set_ylabel("error of named means")
    for axis in axes[: len(problems)][-columns:]:
        axis.set_xlabel("seconds, compiling included")
    labels = dict[str, Any]()
    for axis in axes[: len(problems)]:
        handles, texts = axis.get_legend_handles_labels()
        labels |= dict(zip(texts, handles, strict=True))
    order = [name for name in STYLES if name in labels]
    drawing.legend(
        [labels[name] for name in order], order, loc="outside lower center", ncols=4, frameon=False
    )
    return drawing


def group(method: str) -> str:
    """Methods that are drawn alike."""
    if method in STYLES:
        return method
    if "smc" in method:
        return "smc"
    return "learned" if method.startswith("learned") else "chains"


def families_table(rows: Iterable[Row], family: str) -> str:
    """A line for each method on a family, the most exact first."""
    some = [row for row in rows if row["family"] == family]
    methods = {row["method"] for row in some}
    lines = list[tuple[float, list[Any]]]()
    for method in methods:
        mine = [row for row in some if row["method"] == method]
        over = lambda key, mine=mine: [row[key] for row in mine if row[key] is not None]
        error = rms(over("modes"))
        log_z = f"{rms(over('log_z')):.3f}" if over("log_z") else ""
        values = [log_z, f"{error:.4f}", f"{rms(over('marginals')):.4f}"]
        times = [f"{median(over('prepared')):.0f}", f"{median(over('seconds')):.2f}"]
        lines.append((error, [method, *values, *times, len(mine)]))
    head = ["", "log Z", "named means", "marginals", "s before", "s for each z", "seeds"]
    return markdown(head, [line for _, line in sorted(lines)])


def pays_from(rows: Sequence[Row], family: str, method: str) -> tuple[float | None, str]:
    """From how many z on a method takes less time than the cheapest rival that is as exact.

    Returns:
        The number of z (None: never, or there is no such rival), and the rival.
    """
    some = [row for row in rows if row["family"] == family]
    of = lambda name, key: [row[key] for row in some if row["method"] == name]
    mine = rms(of(method, "modes"))
    rivals = [
        name
        for name in {row["method"] for row in some}
        if name.startswith(("smc", "tempering")) and rms(of(name, "modes")) <= mine
    ]
    if not rivals:
        return None, ""
    cheapest = min(rivals, key=lambda name: median(of(name, "seconds")))
    gain = median(of(cheapest, "seconds")) - median(of(method, "seconds"))
    return (median(of(method, "prepared")) / gain if gain > 0 else None), cheapest


def shown(rows: Path) -> tuple[list[Row], list[Row]]:
    """What the page is about: rows of sampling, and of families if there are any."""
    of_families = rows / "families.json"
    families = of_one_kind(read(of_families)) if of_families.exists() else []
    return of_one_kind(read(rows / "sampling.json")), families


def of_one_kind(rows: Sequence[Row]) -> list[Row]:
    """Rows of one device with one choice of settings, those there are most of.

    Seconds of different machines are not to be mixed.
    """
    kinds = Counter((row["device"], row["settings"]) for row in rows)
    (kind, _), *_ = kinds.most_common(1)
    return [row for row in rows if (row["device"], row["settings"]) == kind]


def write(rows: Path, out: Path) -> None:
    """The page and its figure; rows of families may be missing."""
    sampling, families = shown(rows)
    num_draws = max(row["num_draws"] for row in sampling)
    picture = out.parent / "images" / "samplers" / "sampling.png"
    picture.parent.mkdir(parents=True, exist_ok=True)
    figure(cells(sampling, num_draws)).savefig(picture, dpi=110)
    write_file(out, render(sampling, families, num_draws))
    print(f"wrote {out} and {picture}")


def render(sampling: Sequence[Row], families: Sequence[Row], num_draws: int) -> str:
    """The page."""
    found = cells(sampling, num_draws)
    problems = [name for name in PROBLEMS if any(p == name for p, _ in found)]
    named = list(dict.fromkeys(row["family"] for row in families))
    used = [*sampling, *families]
    return fill(
        Path(__file__).with_name("page.md.j2"),
        num_draws=f"{num_draws:,}",
        modes=matrix(found, "modes"),
        log_z=matrix(found, "log_z"),
        seconds=seconds_table(found),
        break_even={name: break_even(found, sampling, name) for name in problems},
        families={name: families_table(families, name) for name in named},
        pays={
            (name, method): pays_from(families, name, method)
            for name in named
            for method in (OURS, START)
            if any((row["family"], row["method"]) == (name, method) for row in families)
        },
        seeds=sorted({cell.num_seeds for cell in found.values()}),
        machines="; ".join(sorted({row["machine"] for row in used})),
        devices=", ".join(sorted({row["device"] for row in used})),
        commands="\n".join(sorted({row["command"] for row in used})),
    )
