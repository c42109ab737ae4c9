"""What the page says of `kernels`: tables of costs and of exponents, and how kernels compare."""

import statistics
from collections.abc import Sequence
from typing import Any, NamedTuple

from studies.results import markdown
from studies.speed.cases import ALOE, KERNELS, PATHS_OF_16
from studies.speed.growth import Exponent, exponent
from studies.speed.kernels import BATCH, DIM_OF_BATCHES, DIM_OF_VALUES, DIMS, pairs

Row = dict[str, Any]
AT = 1024  # sites at which kernels are compared
ABOVE = 0.3  # what an exponent may be beyond what the arithmetic demands
NOT_LOOKING = ("HammingBall", "RandomWalk")  # as many evaluations of f, whatever d is
COST = ("kernel", "energy", "evaluations", "one chain", "each of 256", "gain", "kB a chain")
GROWTH = ("kernel", "energy", "d, one chain", "d, 256", "demanded", "at the end", "batch", "K")


class OnDevice(NamedTuple):
    """What the page shows of one device."""

    device: str
    unit: str
    costs: str
    growth: str
    above: list[str]
    left_out: list[str]


class Measured:
    """The rows of one device."""

    def __init__(self, rows: Sequence[Row], device: str):
        self.device, self.on_cpu = device, device.startswith("cpu")
        self.rows = [row for row in rows if row["device"] == device]

    def curve(self, kernel: str, energy: str, along: str, **others: int) -> list[Row]:
        """Rows that differ in one size only, ascending; those that were left out, too."""
        fits = {"kernel": kernel, "energy": energy, "dim": AT, "num_values": 2, "batch": BATCH}
        fits.update(others)
        del fits[along]
        found = [row for row in self.rows if all(row[key] == fits[key] for key in fits)]
        return sorted(found, key=lambda row: row[along])

    def find(self, kernel: str, energy: str, **sizes: int) -> Row | None:
        """The row of these sizes, if a step was timed."""
        wanted = sizes.get("dim", AT)
        curve = self.curve(kernel, energy, "dim", **sizes)
        return next((row for row in curve if row["dim"] == wanted and "seconds" in row), None)

    def exponent(
        self, kernel: str, energy: str, along: str, what: str = "seconds", **others: int
    ) -> Exponent | None:
        """That of seconds or bytes; None of fewer than two points."""
        curve = self.curve(kernel, energy, along, **others)
        points = [(row[along], row[what]) for row in curve if what in row]
        return exponent(*zip(*points, strict=True)) if len(points) >= 2 else None

    def times(self, slow: tuple[str, str], fast: tuple[str, str], batch: int = BATCH) -> float:
        """How many times as long the step of one pair takes as another's."""
        rows = self.find(*slow, batch=batch), self.find(*fast, batch=batch)
        assert rows[0] and rows[1], f"{self.device} has no rows of {slow} and {fast}"
        return rows[0]["seconds"] / rows[1]["seconds"]

    def unit(self) -> float:
        """Seconds in which the table tells: on a CPU a small step's, else microseconds."""
        smallest = self.find("RandomWalk", "lattice", batch=1)
        return smallest["seconds"] if self.on_cpu and smallest else 1e-6

    def above(self) -> list[tuple[str, str, float, int]]:
        """Kernels and energies whose time grows faster than it must, at the end of its curve."""
        found = [(*pair, self.exponent(*pair, "dim"), demanded(*pair)) for pair in all_pairs()]
        return [
            (kernel, energy, e.last, least)
            for kernel, energy, e, least in found
            if e is not None and e.last > least + ABOVE
        ]

    def compile_growth(self) -> list[float]:
        """Of each curve, how many times as long compiling takes at its end as at its beginning."""
        curves = [self.curve(*pair, "dim") for pair in all_pairs()]
        timed = [[row for row in curve if "compile_seconds" in row] for curve in curves]
        return [c[-1]["compile_seconds"] / c[0]["compile_seconds"] for c in timed if len(c) > 1]


def all_pairs() -> list[tuple[str, str]]:
    """All kernels with their energies, and the step of ALOE."""
    return [*pairs(), (ALOE, "mlp")]


def demanded(kernel: str, energy: str) -> int:
    """The exponent of d that the arithmetic demands: of evaluations, plus that of each."""
    if kernel in NOT_LOOKING or kernel == "SearchMetropolis" or energy == "mlp":
        return 1
    one_by_one = kernel in ("Gibbs", "BlockGibbs", "ParallelTempering")
    return 2 if one_by_one or energy == "plain" else 1


def values(rows: Sequence[Row]) -> dict[str, Any]:
    """What the template needs."""
    devices = sorted({row["device"] for row in rows}, key=lambda d: not d.startswith("cpu"))
    measured = [Measured(rows, device) for device in devices]
    return {"devices": [_on_device(m) for m in measured], "says": _says(measured[0])}


def _on_device(m: Measured) -> OnDevice:
    unit = (
        "multiples of a step of RandomWalk on the lattice, one chain"
        if m.on_cpu
        else "microseconds"
    )
    above = [
        f"{kernel} on {energy} ({last:.2f} for {least}; one chain {alone})"
        for kernel, energy, last, least in m.above()
        for alone in [_last(m.exponent(kernel, energy, "dim", batch=1))]
    ]
    return OnDevice(m.device, unit, _costs(m), _growth(m), above, _left_out(m))


def _costs(m: Measured) -> str:
    lines = []
    for pair in all_pairs():
        one, many = m.find(*pair, batch=1), m.find(*pair)
        if one is None and many is None:
            continue
        alone = one["seconds"] / m.unit() if one else None
        each = many["seconds"] / BATCH / m.unit() if many else None
        gain = alone / each if alone and each else None
        memory = many["bytes"] / BATCH / 1000 if many else None
        evaluations = (many or one or {}).get("evaluations", "–")
        lines.append((*pair, evaluations, *map(_number, (alone, each, gain, memory))))
    return markdown(COST, lines)


def _growth(m: Measured) -> str:
    lines = []
    for pair in all_pairs():
        along_d = m.exponent(*pair, "dim")
        lines.append(
            (
                *pair,
                _shown(m.exponent(*pair, "dim", batch=1)),
                _shown(along_d),
                demanded(*pair),
                _last(along_d),
                _shown(m.exponent(*pair, "batch", dim=DIM_OF_BATCHES)),
                _shown(m.exponent(*pair, "num_values", dim=DIM_OF_VALUES)),
                _shown(m.exponent(*pair, "dim", "bytes")),
            )
        )
    return markdown((*GROWTH, "memory, d"), lines)


def _left_out(m: Measured) -> list[str]:
    """For each size, and what there was too little of, the kernels that were left out."""
    found: dict[str, list[str]] = {}
    for row in m.rows:
        if "left_out" in row:
            size = f"d = {row['dim']:,}, K = {row['num_values']}, batch {row['batch']}"
            named = f"{row['kernel']} on {row['energy']}"
            found.setdefault(f"{size}, for {row['left_out']}", []).append(named)
    return [f"{size}: {', '.join(names)}" for size, names in found.items()]


def _says(m: Measured) -> dict[str, str]:
    """Comparisons at `AT` sites in a batch."""
    langevin = ("DiscreteLangevin", "lattice")
    ratio = lambda *of: _number(m.times(*of))
    growth = m.compile_growth()
    return {
        "device": m.device,
        "sweep": ratio(("Gibbs", "lattice"), ("ColouredGibbs", "lattice"), 1),
        "plain": ratio(("DiscreteLangevin", "plain"), langevin),
        "sorting": ratio(("PathAuxiliary", "lattice"), langevin),
        "sorting_16": ratio((PATHS_OF_16, "lattice"), langevin),
        "compile": f"{statistics.median(growth):.1f}",
        "compile_most": f"{max(growth):.1f}",
        "sites": f"{DIMS[0]} to {DIMS[-1]:,}",
        "kernels": str(len(KERNELS)),
    }


def _shown(found: Exponent | None) -> str:
    return "–" if found is None else str(found)


def _last(found: Exponent | None) -> str:
    return "–" if found is None else f"{found.last:.2f}"


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:,.0f}" if value >= 100 else f"{value:.2g}" if value < 10 else f"{value:.0f}"
