"""How the time of a step grows with each size, all others as in the paper."""

import statistics
from pathlib import Path

import jax

from aloex import spaces
from studies.results import save
from studies.speed.growth import exponent
from studies.speed.ours import BATCH, DIM, Ours

SIZES = {  # what grows, the values, and the exponent that the arithmetic demands
    "dim": ([16, 32, 64, 128], 1),
    "num_values": ([4, 8, 16, 32], 1),
    "batch": ([64, 128, 256, 512], 1),
    "num_trajectories": ([10, 20, 40, 80], 1),
    "max_edits": ([4, 8, 16, 32], 0),
}


def scaling(out: Path) -> None:
    """Step time against each size, with the fitted exponent, into scaling.json."""
    rows = []
    for what, (values, demanded) in SIZES.items():
        times = [milliseconds(what, value) for value in values]
        row = {
            "what": what,
            "device": jax.devices()[0].device_kind,
            "values": values,
            "ms": [round(t, 2) for t in times],
            "exponent": round(exponent(values, times).value, 2),
            "demanded": demanded,
        }
        print(row, flush=True)
        rows.append(row)
    save(out / "scaling.json", rows, keys=("what", "device"))


def milliseconds(what: str, value: int) -> float:
    """A step in which one size has this value."""
    space = spaces.Bits(value if what == "dim" else DIM)
    if what == "num_values":
        space = spaces.Categorical(8, value)
    ours = Ours(
        space=space,
        q0="factorized",
        batch=value if what == "batch" else BATCH,
        n=value if what == "num_trajectories" else 10,
        max_edits=value if what == "max_edits" else min(16, space.dim),
    )
    ours.run(2)
    return statistics.median(ours.run(4) for _ in range(7))
