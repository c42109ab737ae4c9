"""The page on couplings, docs/samplers_couplings.md, from the rows."""

from collections.abc import Iterable
from pathlib import Path
from statistics import mean, median, stdev
from typing import Any

from studies.results import markdown
from studies.samplers.couplings.learners import KERNELS, LEARNING_RATE, MAX_EDITS, NUM_NEGATIVES
from studies.samplers.couplings.problem import NUM_SAMPLES
from studies.samplers.couplings.study import CHOSEN, STEPS, Row
from studies.template import fill

Lattice = tuple[int, float]  # side, sigma
Line = tuple[str, str]  # method, penalty

EASY, STRONG, ODD = (10, 0.1), (10, 0.2), (9, -0.1)  # the lattices that the text looks at
TITLES = {
    "gibbs": "Gibbs",
    "random-walk": "random walk",
    "gwg": "Gibbs with gradients",
    "dmala": "DMALA",
    "path-auxiliary": "path-auxiliary",
    "hamming-ball": "Hamming ball",
}
METHODS = {
    "zero": "J = 0",
    "known-pairs": "pseudo-likelihood, neighbours known",
    "refit": "pseudo-likelihood, pairs chosen, then refitted",
    "pseudo-likelihood": "pseudo-likelihood",
    **{f"pcd-{name}": f"PCD, {TITLES[name]}" for name in KERNELS},
    "aloe": "ALOE",
    "aloe-start": "ALOE without edits",
    "aloe-mlp": "ALOE, autoregressive start",
    "aloe-persistent": "ALOE, draws live for 10 steps",
}
GIBBS = "pcd-gibbs"
PUBLISHED = {  # means that the papers print
    "published: PCD, Gibbs or Gibbs with gradients": {EASY: 4.8},
    "published: EB-GFN": {EASY: 6.1, ODD: 5.7},
}


def render(rows: list[Row]) -> str:
    """The page."""
    rows = [row for row in rows if row["steps"] in (0, STEPS)]
    found = scores(rows)
    return fill(
        Path(__file__).with_name("page.md.j2"),
        table=table(rows),
        said=lambda method, l1, lattice: f"{mean(found[method, l1][lattice]):.2f}",
        **{"EASY": EASY, "STRONG": STRONG, "ODD": ODD, "chosen": CHOSEN, "published": PUBLISHED},
        right_pairs=right_pairs(rows),
        one_seed=[*one_seed(found)],
        untried=[
            name for method, name in METHODS.items() if not any(k[0] == method for k in found)
        ],
        gwg_time=times(rows).get(("pcd-gwg", CHOSEN)),
        num_samples=f"{NUM_SAMPLES:,}",
        num_negatives=NUM_NEGATIVES,
        num_steps=f"{STEPS:,}",
        rate=LEARNING_RATE,
        max_edits=MAX_EDITS,
        devices=", ".join(sorted({row["device"] for row in rows if row["steps"]})),
        commands="\n".join(sorted({row["command"] for row in rows})),
    )


def scores(rows: list[Row]) -> dict[Line, dict[Lattice, list[float]]]:
    """By method, penalty and lattice, one for each seed."""
    found: dict[Line, dict[Lattice, list[float]]] = {}
    for row in rows:
        of_line = found.setdefault((row["method"], row["l1"]), {})
        of_line.setdefault((row["side"], row["sigma"]), []).append(row["score"])
    return found


def table(rows: list[Row]) -> str:
    """A line for each method and penalty, a column for each lattice."""
    found, beside = scores(rows), times(rows)
    lattices = sorted({lattice for of_line in found.values() for lattice in of_line})
    lines = list[list[str]]()
    for line in sorted(found, key=_order):
        method, l1 = line
        cells = [spread(found[line].get(lattice, [])) for lattice in lattices]
        time = f"{beside[line]:.1f}" if line in beside else ""
        penalty = "" if method in ("zero", "known-pairs", "refit") else l1
        lines.append([METHODS[method], penalty, *cells, time])
    for name, means in PUBLISHED.items():
        cells = [f"{means[at]:.1f}" if at in means else "–" for at in lattices]
        lines.append([name, "", *cells, ""])
    head = [f"{side} x {side}, {sigma:g}" for side, sigma in lattices]
    return markdown(["", "penalty", *head, "time"], lines)


def spread(values: list[float]) -> str:
    """Mean and standard deviation."""
    if not values:
        return "–"
    return f"{mean(values):.2f}" + (f" ± {stdev(values):.2f}" if len(values) > 1 else "")


def times(rows: list[Row]) -> dict[Line, float]:
    """Seconds beside those of PCD with Gibbs on the same samples, the same machine: the median."""
    where = lambda row: tuple(row[k] for k in ("side", "sigma", "seed", "machine", "device"))
    trained = [row for row in rows if row["steps"]]
    gibbs = {(where(row), row["l1"]): row["seconds"] for row in trained if row["method"] == GIBBS}
    ratios: dict[Line, list[float]] = {}
    for row in trained:
        if seconds := gibbs.get((where(row), row["l1"])):
            of_line = ratios.setdefault((row["method"], row["l1"]), [])
            of_line.append(row["seconds"] / seconds)
    return {line: median(some) for line, some in ratios.items()}


def right_pairs(rows: list[Row]) -> str:
    """In how many of the refitted the number of pairs is that of the neighbours."""
    refitted = [row for row in rows if row["method"] == "refit"]
    return f"{sum(row['pairs'] == 2 * row['side'] ** 2 for row in refitted)} of {len(refitted)}"


def one_seed(found: dict[Line, dict[Lattice, list[float]]]) -> Iterable[str]:
    """Methods with a single seed on some lattice."""
    for method, name in METHODS.items():
        of_method: list[Any] = [found[line] for line in found if line[0] == method]
        if any(len(values) == 1 for of_line in of_method for values in of_line.values()):
            yield name


def _order(line: Line) -> tuple[int, bool, float]:
    method, l1 = line
    return [*METHODS].index(method), l1 == CHOSEN, 0.0 if l1 == CHOSEN else float(l1)
