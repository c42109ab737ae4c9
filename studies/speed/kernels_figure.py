"""The figure of `kernels`: time of a step over the number of sites, a panel for each energy."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from studies.speed.cases import ENERGIES, KERNELS
from studies.speed.kernels import BATCH, DIMS, pairs
from studies.speed.kernels_page import Measured

# Okabe and Ito's colours, which the colour-blind can tell apart; a marker each, for those in grey.
COLOURS = ("#000000", "#E69F00", "#56B4E9", "#009E73", "#D55E00", "#0072B2", "#CC79A7", "#999999")
MARKERS = "os^DvPX*<>h"


def draw(rows: Sequence[dict[str, Any]], path: Path) -> None:
    """Into a file: of a batch, divided by the number of its chains, on the last device."""
    import matplotlib.pyplot as plt

    m = Measured(rows, max((row["device"] for row in rows), key=lambda d: not d.startswith("cpu")))
    figure, panels = plt.subplots(
        1, len(ENERGIES), figsize=(9.6, 4.6), sharey=True, layout="constrained"
    )
    for axes, energy in zip(panels, ENERGIES, strict=True):
        for number, kernel in enumerate(KERNELS):
            if (kernel, energy) not in pairs():
                continue
            curve = [row for row in m.curve(kernel, energy, "dim") if "seconds" in row]
            axes.plot(
                [row["dim"] for row in curve],
                [row["seconds"] / BATCH / m.unit() for row in curve],
                color=COLOURS[number % len(COLOURS)],
                marker=MARKERS[number],
                **{"ms": 4.5, "lw": 1.3, "ls": "-" if number < len(COLOURS) else "--"},
                label=kernel,
            )
        axes.set(xscale="log", yscale="log", title=energy, xlabel="sites d", xticks=DIMS)
        axes.set_xticklabels([f"{d:,}" for d in DIMS])
        axes.minorticks_off()
        axes.grid(color="0.92")
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel(f"step of a chain, {'relative' if m.on_cpu else 'microseconds'}")
    figure.legend(
        *panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize=9
    )
    figure.suptitle(f"{m.device}, {BATCH} chains at once", fontsize=10)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130, metadata={"Software": None})
    plt.close(figure)
