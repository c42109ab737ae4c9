"""The sampling study: every method on every problem, errors against draws and seconds.

All seeds of a method on a problem run one after the other in one process. `first` marks the row
that had to compile; methods that build new programs each time, as learning does, compile in all.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import jax

from aloex.base.errors import AloexError
from studies import results
from studies.samplers.errors import errors
from studies.samplers.methods import METHODS, Settings, names
from studies.samplers.problems import PROBLEMS, problem

KEYS = ("problem", "method", "seed", "num_draws", "device", "settings")


def sampling(
    out: Path,
    problems: Sequence[str],
    methods: Sequence[str] | None,
    settings: Settings,
    *,
    num_seeds: int,
    within: float,
) -> None:
    """Run what `out` does not have yet, until `within` seconds are over."""
    end = time.monotonic() + within
    for name in problems or PROBLEMS:
        for method in names(problem(name), methods):
            todo = missing(out, name, method, settings, num_seeds)
            for i, seed in enumerate(todo):
                if time.monotonic() > end:
                    print("the time is over; the same command goes on")
                    return
                rows = list(job(name, method, seed, settings, first=i == 0))
                results.save(out, rows, KEYS, quiet=True)
                print(f"{name} {method} seed {seed}: {said(rows)}", flush=True)


def missing(out: Path, name: str, method: str, settings: Settings, num_seeds: int) -> list[int]:
    """Seeds without rows."""
    rows = results.read(out) if out.exists() else []
    here = (name, method, device(), in_words(settings))
    done = {
        row["seed"]
        for row in rows
        if (row["problem"], row["method"], row["device"], row["settings"]) == here
    }
    return [seed for seed in range(num_seeds) if seed not in done]


def job(
    name: str, method: str, seed: int, settings: Settings, *, first: bool
) -> Iterator[dict[str, Any]]:
    """A row for each number of draws; one that says so where the method fails."""
    about = {"problem": name, "method": method, "seed": seed, "device": device()}
    about |= {"settings": in_words(settings), "first": first}
    given, found = problem(name), None
    try:
        run = METHODS[method].run(jax.random.key(seed), given, settings)
        for number, found in zip(settings.num_draws, run, strict=True):
            yield {**about, "num_draws": number, **errors(given, found)}
    except (AloexError, ImportError) as error:
        yield {**about, "num_draws": 0, "failed": str(error)}


def in_words(settings: Any) -> str:
    """Settings as a row has them: name=value, separated by blanks."""
    value = lambda v: ",".join(map(str, v)) if isinstance(v, tuple) else str(v)
    return " ".join(f"{name}={value(v)}" for name, v in asdict(settings).items())


def device() -> str:
    """What the programs run on."""
    return jax.devices()[0].device_kind


def said(rows: Sequence[dict[str, Any]]) -> str:
    """The last row in a line."""
    row = rows[-1]
    if "failed" in row:
        return f"failed: {row['failed']}"
    shown = {name: row[name] for name in ("log_z", "marginals", "modes", "effective")}
    numbers = ", ".join(f"{name} {v:.4g}" for name, v in shown.items() if v is not None)
    return f"{numbers}, {row['seconds']:.1f} s for {row['num_draws']} draws"
