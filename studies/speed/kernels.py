"""Seconds, memory and evaluations of a step of each kernel, with growing d, K and batch.

Small sizes come first: a size whose step would take too long, by the times of smaller ones, is left
out, and a row says so. Rows are saved as they are made, so that a command that was cut short goes
on where it ended.
"""

import os
import statistics
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby, product
from pathlib import Path
from typing import Any

import jax

from studies.results import read, save
from studies.speed.cases import ALOE, ENERGIES, KERNELS, PATHS_OF_16, Case, Program, program
from studies.speed.growth import exponent

Row = dict[str, Any]
KEYS = (*Case._fields, "device")
DIMS, BATCH = (32, 256, 1024, 4096), 256
VALUES, DIM_OF_VALUES = (4, 16, 64), 32
BATCHES, DIM_OF_BATCHES = (1, 16, 256), 256
MAX_SECONDS = 1.0  # of a step
MAX_BYTES = 4e9  # of a CPU
BLOCKS, BLOCK_SECONDS = 3, 0.05  # timed


def pairs() -> list[tuple[str, str]]:
    """Kernels and the energies on which they are measured."""
    # All sites of a network interact; to the others it does not matter what an energy offers.
    none = {("ColouredGibbs", "mlp")}
    none |= set(product(("SearchMetropolis", PATHS_OF_16), ("mlp", "plain")))
    return [pair for pair in product(KERNELS, ENERGIES) if pair not in none]


def cases() -> list[Case]:
    """All, the small ones first."""
    grow = lambda *sizes: [Case(*pair, *sizes) for pair in pairs()]
    found = [case for d in DIMS for b in (1, BATCH) for case in grow(d, 2, b)]
    found += [case for b in BATCHES for case in grow(DIM_OF_BATCHES, 2, b)]
    found += [case for k in VALUES for case in grow(DIM_OF_VALUES, k, BATCH)]
    found += [Case(ALOE, "mlp", d, 2, BATCH) for d in DIMS]
    return sorted(dict.fromkeys(found), key=_size)


def measure(
    out: Path,
    *,
    names: Sequence[str] = (),
    within: float | None = None,
    threads: int = 1,
    max_seconds: float = MAX_SECONDS,
) -> None:
    """Rows of all cases that have none yet, into kernels.json.

    Args:
        out: the folder of the file.
        names: kernels and energies; of each kind all, unless some of it are named.
        within: seconds after which no case is begun.
        threads: of a CPU; with one, the time of the processor counts.
        max_seconds: of a step; sizes that would take longer are left out.
    """
    path, ends = out / "kernels.json", time.monotonic() + (within or float("inf"))
    device = _device(threads)
    rows = [row for row in (read(path) if path.exists() else []) if row["device"] == device]
    done = {_case(row) for row in rows}
    todo = [case for case in cases() if case not in done and _is_named(case, names)]
    with ThreadPoolExecutor(_workers()) as pool:
        for some in _batches(todo):
            made = _rows(pool, some, rows, max_seconds, ends)
            new = [{**case._asdict(), "device": device, **row} for case, row in made]
            if new:
                print(*new, sep="\n", flush=True)
                save(path, new, KEYS, quiet=True)
                rows += new
    left = len(set(todo) - {_case(row) for row in rows})
    print(f"{len(rows)} rows of {device} in {path}, {left} to go")


def _workers() -> int:
    """How many programs are compiled at once: on a CPU that would disturb the times."""
    return 1 if jax.default_backend() == "cpu" else os.cpu_count() or 1


def _batches(todo: Sequence[Case]) -> Iterable[list[Case]]:
    """Cases of one size, as many as are compiled at once."""
    for _, same in groupby(todo, key=_size):
        listed = list(same)
        for i in range(0, len(listed), _workers()):
            yield listed[i : i + _workers()]


def _rows(
    pool: ThreadPoolExecutor, some: list[Case], rows: list[Row], most: float, ends: float
) -> list[tuple[Case, Row]]:
    """What there is to say about each case, as long as there is time: compiled first, then run."""
    too_slow = [case for case in some if seconds_expected(case, rows) > most]
    others = [case for case in some if case not in too_slow]
    made = list(pool.map(lambda case: _compile(case, ends), others))
    found: list[tuple[Case, Row]] = [(case, {"left_out": "time"}) for case in too_slow]
    for case, compiled in zip(others, made, strict=True):
        if compiled is not None and time.monotonic() < ends:
            found.append((case, _run(*compiled)))
    return found


def seconds_expected(case: Case, rows: Sequence[Row]) -> float:
    """Seconds of a step by those of fewer sites, or of fewer values; 0 if there are none yet."""
    return max(_continued(case, rows, name) for name in ("dim", "num_values"))


def _continued(case: Case, rows: Sequence[Row], name: str) -> float:
    """The same, along one size."""
    size = lambda row: row[name]
    same = lambda row: _case(row)._replace(**{name: 0}) == case._replace(**{name: 0})
    here = getattr(case, name)
    curve = sorted((row for row in rows if same(row) and size(row) < here), key=size)
    if not curve:
        return 0.0
    if any("left_out" in row for row in curve):
        return float("inf")
    sizes, times = [size(row) for row in curve], [row["seconds"] for row in curve]
    growth = max(1.0, exponent(sizes, times).last) if len(curve) > 1 else 1.0
    return times[-1] * (here / sizes[-1]) ** growth


def _compile(case: Case, ends: float) -> tuple[Program, Any, float] | None:
    """The program, compiled, and in how many seconds; None if time is up."""
    if time.monotonic() > ends:
        return None
    begin = time.perf_counter()
    made = program(case)
    lowered = made.step.lower(made.given, made.state)
    return made, lowered.compile(), time.perf_counter() - begin


def _run(made: Program, compiled: Any, compile_seconds: float) -> Row:
    """Seconds of a step, bytes of its arguments, results and all between, evaluations of f."""
    used = compiled.memory_analysis()
    size = used.temp_size_in_bytes + used.argument_size_in_bytes
    size += used.output_size_in_bytes - used.alias_size_in_bytes
    row = {"bytes": size, "compile_seconds": round(compile_seconds, 2)}
    if size > _memory():
        return {**row, "left_out": "memory"}
    state, info, _ = _timed(compiled, made.given, made.state, 1)  # the first call loads it
    state, info, seconds = _timed(compiled, made.given, state, 1)
    number = max(1, int(BLOCK_SECONDS / seconds))
    times = []
    for _ in range(BLOCKS if seconds < 10 * BLOCK_SECONDS else 1):
        state, info, seconds = _timed(compiled, made.given, state, number)
        times.append(seconds)
    if hasattr(info, "num_evaluations"):
        row["evaluations"] = round(float(info.num_evaluations.mean()))
    return {"seconds": float(f"{statistics.median(times):.4g}"), **row}


def _timed(step: Any, given: Any, state: Any, number: int) -> tuple[Any, Any, float]:
    """The state after some steps, the last info, and the seconds of a step."""
    # Other programs on the machine disturb the time of the processor little.
    alone = jax.default_backend() == "cpu" and len(os.sched_getaffinity(0)) == 1
    clock = time.process_time if alone else time.perf_counter
    info, begin = None, clock()
    for _ in range(number):
        state, info = step(given, state)
    jax.block_until_ready((state, info))
    return state, info, (clock() - begin) / number


def _device(threads: int) -> str:
    if jax.default_backend() != "cpu":
        return jax.devices()[0].device_kind
    return f"cpu, {threads} thread{'s' * (threads > 1)}"


def _memory() -> float:
    """Bytes that a step may take."""
    found = jax.devices()[0].memory_stats() or {}
    return 0.9 * found["bytes_limit"] if "bytes_limit" in found else MAX_BYTES


def _case(row: Row) -> Case:
    return Case(*(row[name] for name in Case._fields))


def _size(case: Case) -> int:
    return case.dim * case.num_values * case.batch


def _is_named(case: Case, names: Sequence[str]) -> bool:
    of_kind = lambda kind: {name for name in names if name in kind}
    kernels, energies = of_kind((*KERNELS, ALOE)), of_kind(ENERGIES)
    return (not kernels or case.kernel in kernels) and (not energies or case.energy in energies)
