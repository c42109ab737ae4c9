"""Rows per second of processor time, and memory, beside scripts that do the same by hand.

All that is measured runs in a process of its own, from its start to its end: what Python takes to
start and what the search takes count as well.
"""

import csv
import os
import subprocess
import sys
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from aloex.base.errors import InputError
from studies.fill.speed_jobs import JOBS, write_table

NUM_EXAMPLES = 5
NUM_LEARNT_FROM = 200  # rows of the table that the program for `apply` is found from
ALOEX = (sys.executable, "-m", "aloex", "fill")
PEER = (sys.executable, "-m", "studies.fill.speed_jobs")


class Used(NamedTuple):
    """What a process used."""

    seconds: float  # of the processor
    megabytes: float  # of memory, at most


def run(*words: str) -> Used:
    """Run a program; what it prints is shown only if it fails."""
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        assert process.stdout is not None
        said = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise InputError(f"{' '.join(words)} failed: {said.decode(errors='replace')[-2000:]}")
    return Used(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def measure(folder: Path, name: str, num_rows: int, seed: int) -> list[dict[str, Any]]:
    """A row for `apply` and one for `fill`."""
    path = lambda stem: str(folder / f"{stem}.csv")
    program = str(folder / "program.json")
    write_table(path("few"), name, NUM_LEARNT_FROM, NUM_EXAMPLES, seed + 1)
    run(*ALOEX, path("few"), "--save-program", program)
    measured = []
    for how, given in (("apply", 0), ("fill", NUM_EXAMPLES)):
        write_table(path("table"), name, num_rows, given, seed)
        words = ("apply", program, path("table")) if how == "apply" else (path("table"),)
        ours = run(*ALOEX, *words, "--out", path("ours"))
        peer = run(*PEER, name, path("table"), path("peer"))
        measured.append(_row(how, name, num_rows, ours, peer, _same(path("ours"), path("peer"))))
    return measured


def _same(one: str, other: str) -> bool:
    """Whether two tables have the same cells; one may have them in quotes."""
    with (
        open(one, encoding="utf-8", newline="") as a,
        open(other, encoding="utf-8", newline="") as b,
    ):
        pairs = zip_longest(csv.reader(a), csv.reader(b))
        return all(ours == theirs for ours, theirs in pairs)


def _row(how: str, name: str, num_rows: int, ours: Used, peer: Used, same: bool) -> dict[str, Any]:
    return {
        "how": how,
        "program": name,
        "rows": num_rows,
        "same_cells": same,
        "rows_per_cpu_second": round(num_rows / ours.seconds),
        "peer_rows_per_cpu_second": round(num_rows / peer.seconds),
        "times_the_peer": round(peer.seconds / ours.seconds, 3),
        "megabytes": round(ours.megabytes),
        "peer_megabytes": round(peer.megabytes),
    }


def names(told: str) -> list[str]:
    """Jobs by their names; all of them if none are given."""
    chosen = [name.strip() for name in told.split(",") if name.strip()] or list(JOBS)
    unknown = [name for name in chosen if name not in JOBS]
    if unknown:
        raise InputError(f"there is no program {unknown[0]!r}; there are: {', '.join(JOBS)}")
    return chosen
