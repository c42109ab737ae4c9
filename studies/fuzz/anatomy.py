"""What one fuzzer reaches and another does not: the edges of each, function by function.

Each runs once for so many seconds, as in `seconds.py`. What it kept is replayed after the seeds.
"""

import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from aloex.apps.fuzz.execute import Executor
from aloex.apps.fuzz.target import Target, edge_addresses
from aloex.apps.fuzz.tools import find_llvm, run_tool
from aloex.base.errors import require
from studies.fuzz.jobs import Job, Row, measure
from studies.fuzz.seconds import OURS, run_fuzzer

KEYS = ("target", "seconds", "trial")
RIVAL = "libfuzzer"
AT_ONCE = 5000  # addresses on a command line

Edges = NDArray[np.bool_]


def make(
    targets: Iterable[str],
    *,
    seconds: float,
    trial: int,
    cores: Sequence[int],
    save: Callable[[list[Row]], None],
) -> None:
    """A row for each target; `save` gets it."""
    jobs = [Job(target, "", seconds, trial) for target in targets]
    measure(jobs, run_job, cores, save, takes=seconds)


def run_job(job: Job) -> list[Row]:
    """The row of a target."""
    target = Target.load(job.target)
    ours, theirs = (seen_by(job._replace(fuzzer=name), target) for name in (OURS, RIVAL))
    row: Row = {"target": target.name, "seconds": job.seconds, "trial": job.trial}
    row |= {"both": int((ours & theirs).sum())}
    row |= {"ours": int((ours & ~theirs).sum()), "theirs": int((theirs & ~ours).sum())}
    return [row | {"functions": by_function(functions_of(target.library), ours, theirs)}]


def seen_by(job: Job, target: Target) -> Edges:
    """The edges that a fuzzer covers, with the seeds."""
    with tempfile.TemporaryDirectory(prefix="aloex-") as folder:
        done = run_fuzzer(job, target, Path(folder), [])
        with Executor(target, workers=1) as executor:
            executor.run(target.read_seeds())
            executor.run([found.path.read_bytes() for found in done.kept])
            return executor.seen > 0


def functions_of(library: Path) -> list[str]:
    """The function of each edge; an inlined one by its own name."""
    tool, addresses = find_llvm("llvm-symbolizer"), edge_addresses(library)
    require(len(addresses) > 0, f"{library} does not say where its edges are; build it again")
    command = [tool, "--output-style=GNU", "--functions=short", "--no-inlines", f"--obj={library}"]
    names = list[str]()
    for i in range(0, len(addresses), AT_ONCE):
        said = run_tool([*command, *map(hex, addresses[i : i + AT_ONCE])]).stdout
        names += [line for line in said.splitlines() if line][::2]
    return names


def by_function(names: Sequence[str], ours: Edges, theirs: Edges) -> list[Row]:
    """The functions in which they differ: how many edges each has, and each fuzzer covers."""
    count = lambda seen: Counter(np.array(names)[seen].tolist())
    total, of_ours, of_theirs = Counter(names), count(ours), count(theirs)
    return [
        {"name": name, "edges": total[name], "ours": of_ours[name], "theirs": of_theirs[name]}
        for name in sorted(count(ours != theirs))
    ]
