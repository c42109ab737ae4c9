"""How fast mutants of the libpng seeds are made and run, 100 edits each, against simple peers.

`exact` draws edits one after the other, each given all around it; its peer does the same for one
file at a time. `table` draws them from tables computed once; its peer draws them uniformly. Ours
and the peer take turns, and the ratio is that of the medians. On a machine without a GPU the
executor is timed too, against a loop of processes that take one input each.
"""

import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import jax

from aloex.apps.fuzz.execute import Executor
from aloex.apps.fuzz.model import load_model
from aloex.apps.fuzz.target import Target
from aloex.base.errors import require
from aloex.nets import on_cpu
from studies.fuzz.mutators import Uniform
from studies.fuzz.mutators.resample import BATCH, Resample
from studies.fuzz.mutators.sampler import learned
from studies.results import save

EDITS = (100,)
BLOCKS = 5


class Sizes(NamedTuple):
    """Mutants of a block."""

    exact: int = 2048  # on a CPU
    one_at_a_time: int = 8
    table: int = 8192
    warm: int = 20_000  # to compute most tables that will be asked for
    executor: int = 20_000
    processes: int = 20


SIZES = Sizes()


def rate(work: Callable[[int, int], object], n: int) -> Callable[[int], float]:
    """n mutants of block i, as a rate."""

    def of_block(i: int) -> float:
        begin = time.perf_counter()
        work(i * n, n)
        return n / (time.perf_counter() - begin)

    return of_block


def alternate(ours: Callable[[int], float], peer: Callable[[int], float]) -> dict[str, Any]:
    """Medians of the rates, run in turns."""
    for each in (ours, peer):
        each(0)  # compile, warm up
    pairs = [(ours(i), peer(i)) for i in range(1, BLOCKS + 1)]
    mine, other = (statistics.median(column) for column in zip(*pairs, strict=True))
    return {"ours": round(mine), "peer": round(other, 1), "ratio": float(f"{mine / other:.3g}")}


def makers(model_path: Path, seeds: list[bytes]) -> list[dict[str, Any]]:
    """`exact` and `table`."""
    model = load_model(model_path)
    exact, singly = (
        Resample(model, edits=EDITS),
        Resample(model, edits=EDITS, side_by_side=1),
    )
    uniform, table = Uniform(edits=EDITS), learned(model, edits=EDITS)
    table.mutate(seeds, 0, SIZES.warm)
    of = lambda mutator: lambda start, n: mutator.mutate(seeds, start, n)
    n = SIZES.exact if on_cpu() else 4 * BATCH
    one_by_one = rate(of(singly), SIZES.one_at_a_time)
    rows = [
        {"case": "exact", **alternate(rate(of(exact), n), one_by_one)},
        {
            "case": "table",
            **alternate(rate(of(table), SIZES.table), rate(of(uniform), SIZES.table)),
        },
    ]
    return [{**row, "method": model.settings.method} for row in rows]


def require_binary(target: Target) -> Path:
    """libFuzzer's."""
    require(target.fuzzer is not None, "libpng has no libFuzzer binary; build it with clang")
    return target.fuzzer or Path()


def executor(target: Target, seeds: list[bytes]) -> dict[str, Any]:
    """Mutants run by the executor, and by libFuzzer's binary for each."""
    mutator = Uniform(edits=EDITS)
    binary = require_binary(target)

    def singly(start: int, n: int) -> None:
        mutants = mutator.mutate(seeds, start, n)
        with tempfile.TemporaryDirectory() as folder:
            for i in range(n):
                path = Path(folder) / str(i)
                path.write_bytes(mutants.input(i))
                subprocess.run([binary, path], capture_output=True, check=False)

    n = SIZES.executor
    with Executor(target) as running:
        made = {i * n: mutator.mutate(seeds, i * n, n) for i in range(BLOCKS + 1)}
        run = lambda start, n: running.run(made[start].inputs)
        return {"case": "executor", **alternate(rate(run, n), rate(singly, SIZES.processes))}


def compare(model: Path, out: Path) -> None:
    """All cases of this machine, into fuzz.json."""
    target = Target.load("libpng")
    seeds = target.read_seeds()
    rows = makers(model, seeds)
    if on_cpu():
        rows.append(executor(target, seeds))
    device = "cpu, 2 cores" if on_cpu() else jax.devices()[0].device_kind
    rows = [{**row, "device": device, "seed": 0} for row in rows]
    print(*rows, sep="\n")
    save(out / "fuzz.json", rows, keys=("case", "device", "method"))
